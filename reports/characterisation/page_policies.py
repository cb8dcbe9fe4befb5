"""The figure of times by page policy, with the most threads on the most nodes (thesis figures 10 and 18)."""

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from numapredict.collect.campaign.characterisation.result import Characterisation, Place
from numapredict.reports import palette
from numapredict.reports.characterisation import look
from numapredict.reports.source import Origin, sign


class Bar(msgspec.Struct, frozen=True):
    """One mapping's bar; no time if it failed or could not be run."""

    series: str
    mapping: str
    time_s: float | None


class PolicyTimesData(msgspec.Struct, frozen=True):
    """What the figure shows: bars by page policy on the left and, by where its pages are, one node's on the right."""

    title: str
    clock: str
    whole_title: str
    whole: dict[str, tuple[Bar, ...]]
    one_node_title: str
    one_node: dict[str, tuple[Bar, ...]]
    default: str | None
    default_s: float | None
    source: str


def policy_times_data(found: Characterisation, origin: Origin | None = None) -> PolicyTimesData | None:
    """Return the bars, or None if all page policies are the same, as on a machine with one node."""
    if len({place.mapping for place in found.whole}) < 2:
        return None
    default = found.run(found.default) if found.default else None
    return PolicyTimesData(
        title=look.subject(found),
        clock=look.clock_in_words(found),
        whole_title=look.size_in_words(found.whole[0]),
        whole=_bars(found.whole),
        one_node_title=look.size_in_words(found.one_node[0]) if found.one_node else "",
        one_node=_bars(found.one_node),
        default=found.default,
        default_s=default.time_s if default else None,
        source=look.source(found, origin),
    )


def policy_times_figure(data: PolicyTimesData) -> Figure:
    """Return the figure: a group of bars per page policy, with the default's time as a line across."""
    bars = [bar for group in (*data.whole.values(), *data.one_node.values()) for bar in group]
    unit = look.unit_for(bar.time_s for bar in bars)
    widths = [max(len(data.whole), 1), len(data.one_node)] if data.one_node else [max(len(data.whole), 1)]
    figure = Figure(figsize=(1.6 + 1.05 * sum(widths), 4.6), layout="constrained")
    panels = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    _draw_groups(panels[0], data.whole, unit)
    panels[0].set_title(data.whole_title, fontsize=9)
    panels[0].set_ylabel(f"{data.clock} in {unit.name}\n(lower is better)")
    if data.one_node:
        _draw_groups(panels[1], data.one_node, unit)
        # One node alone may take many times as long as all of them, whose bars would be too low to distinguish.
        panels[1].set_title(f"{data.one_node_title}\n(a scale of its own)", fontsize=9)
    if data.default_s is not None:
        for axes in panels:
            axes.axhline(
                unit.of(data.default_s),
                color=look.HIGHLIGHT,
                linestyle="--",
                linewidth=1,
                zorder=3,
                label=f"default, {data.default}",
            )
    for axes in panels:
        axes.set_xlabel("page policy")
        palette.quieten(axes, "y")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    look.head(figure, data.title)
    sign(figure, data.source)
    return figure


def _bars(places: tuple[Place, ...]) -> dict[str, tuple[Bar, ...]]:
    """Return the bars of each page policy; on one node both thread policies are the same."""
    groups: dict[str, tuple[Bar, ...]] = {}
    for place in places:
        series = place.thread_policy if place.thread_nodes > 1 else "one node"
        bars = groups.get(look.page_name(place), ())
        groups[look.page_name(place)] = (*bars, Bar(series, place.mapping, place.time_s))
    return groups


def _draw_groups(axes: Axes, groups: dict[str, tuple[Bar, ...]], unit: look.Unit) -> None:
    """Draw a group of bars per page policy, each with its value above."""
    colours = {**look.POLICY_COLOURS, "one node": look.ONE_NODE_COLOUR}
    shown = set()
    for at, bars in enumerate(groups.values()):
        for number, bar in enumerate(bars):
            if bar.time_s is None:
                continue
            place = at + 0.4 * (number - (len(bars) - 1) / 2)
            label = None if bar.series in shown or bar.series == "one node" else f"{bar.series} threads"
            shown.add(bar.series)
            drawn = axes.bar(place, unit.of(bar.time_s), width=0.38, color=colours[bar.series], label=label)
            texts = axes.bar_label(drawn, [look.figure_text(unit.of(bar.time_s))], fontsize=8, padding=2, zorder=4)
            for text in texts:  # keeps the default's line behind it
                text.set_path_effects([withStroke(linewidth=3, foreground="white")])
    axes.set_xticks(range(len(groups)), list(groups), fontsize=9)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.margins(y=0.12)
