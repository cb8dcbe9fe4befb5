"""The figures of local and remote accesses and bandwidth per node (thesis figures 11 to 15 and 19 to 23)."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numapredict.collect.campaign.characterisation.result import Characterisation, Place, Run
from numapredict.reports import palette
from numapredict.reports.characterisation import look
from numapredict.reports.source import Origin, sign

Quantity = Literal["accesses", "bandwidth"]
UNITS: dict[Quantity, tuple[tuple[float, str], ...]] = {
    "accesses": ((1e6, "millions of cache lines"), (1e3, "thousands of cache lines"), (1.0, "cache lines")),
    "bandwidth": ((1.0, "GB/s"), (1e-3, "MB/s"), (1e-6, "kB/s")),
}
"""Units: the value in cache lines or GB/s, and the name, the largest first."""

FARTHEST_PEAK = 4.0
"""A peak this many times as high as the highest bar is told in words: its line would leave the bars too small."""

NARROW = 3
"""A panel of so few groups has no room for many words."""

ASKED_BY = "asked for by the cores of"
"""Accesses are counted by the node of the core, whichever node has the memory."""


class MappingBars(msgspec.Struct, frozen=True):
    """One mapping's bars: local and remote values per node, in the figure's unit, and the share of local accesses."""

    name: str
    mapping: str
    local: tuple[float, ...]
    remote: tuple[float, ...]
    local_share: float | None


class TrafficPanel(msgspec.Struct, frozen=True):
    """The groups of one thread policy, or of one node; ``nodes`` are those with any accesses under any of them.

    ``peak`` is the greatest bandwidth at which the description says one of their memories can be read, in the figure's
    unit; None if that is not known.
    """

    title: str
    nodes: tuple[int, ...]
    groups: tuple[MappingBars, ...]
    peak: float | None = None


class TrafficData(msgspec.Struct, frozen=True):
    """What a figure shows: panels side by side, each local above remote."""

    title: str
    quantity: Quantity
    unit: str
    panels: tuple[TrafficPanel, ...]
    source: str


def traffic_data(found: Characterisation, quantity: Quantity, origin: Origin | None = None) -> TrafficData | None:
    """Return each node's values under the mappings that have counters, None if none has.

    The unit is the largest in which the greatest value is at least 1.
    """
    shown = {place.mapping for place in (*found.whole, *found.one_node)}
    values = [value for run in found.runs if run.mapping in shown for kind in _values(run, quantity) for value in kind]
    units = UNITS[quantity]
    size, unit = next(
        (each for each in units if max(values, default=0.0) >= each[0]), units[0 if not any(values) else -1]
    )
    panels = []
    policies = dict.fromkeys(place.thread_policy for place in found.whole)
    parts: list[tuple[str, list[Place]]] = [
        (f"{policy}, " if len(policies) > 1 else "", [place for place in found.whole if place.thread_policy == policy])
        for policy in policies
    ]
    for prefix, places in (*parts, ("", list(found.one_node))):
        groups = tuple(group for place in places if (group := _group(found, place, quantity, size)) is not None)
        if groups:
            nodes = _busy(groups)
            peaks = [found.controllers_GBps[node] / size for node in nodes] if found.controllers_GBps else []
            peak = max(peaks) if peaks and quantity == "bandwidth" else None
            panels.append(TrafficPanel(prefix + look.size_in_words(places[0]), nodes, groups, peak))
    if not panels:
        return None
    title = f"{look.subject(found)}: memory {quantity} by node"
    return TrafficData(title, quantity, unit, tuple(panels), look.source(found, origin))


def _group(found: Characterisation, place: Place, quantity: Quantity, size: float) -> MappingBars | None:
    run = found.run(place.mapping)
    if run is None or not run.nodes:
        return None
    local, remote = (tuple(value / size for value in kind) for kind in _values(run, quantity))
    return MappingBars(look.page_name(place), place.mapping, local, remote, run.local_share)


def _values(run: Run, quantity: Quantity) -> tuple[list[float], list[float]]:
    """Return the nodes' local and remote values, in cache lines or GB/s."""
    if quantity == "accesses":
        return [node.local_accesses for node in run.nodes], [node.remote_accesses for node in run.nodes]
    return [node.local_bandwidth_GBps for node in run.nodes], [node.remote_bandwidth_GBps for node in run.nodes]


def _busy(groups: Sequence[MappingBars]) -> tuple[int, ...]:
    every = range(len(groups[0].local))
    return tuple(n for n in every if any(group.local[n] or group.remote[n] for group in groups)) or tuple(every)


def traffic_figure(data: TrafficData) -> Figure:
    """Return the figure: a column per panel, local values above remote ones."""
    nodes = sorted({node for panel in data.panels for node in panel.nodes})
    widths = [len(panel.groups) for panel in data.panels]
    inches = 0.75 * max(1.0, len(nodes) / 6)
    figure = Figure(figsize=(2.2 + inches * sum(widths), 6.2), layout="constrained")
    grid = figure.subplots(2, len(widths), squeeze=False, sharex="col", width_ratios=widths)
    colours = dict(zip(nodes, look.ordered_colours(len(nodes)), strict=True))
    for column, panel in enumerate(data.panels):
        local, remote = grid[0][column], grid[1][column]
        # One node's values would make the others' bars too small to read: it has its own scale.
        alone = len(panel.nodes) == 1 and column > 0
        remote.sharey(local)
        if column and not alone:
            local.sharey(grid[0][0])
        _draw_bars(local, panel, [group.local for group in panel.groups], colours)
        _draw_bars(remote, panel, [group.remote for group in panel.groups], colours)
        _draw_peak(local, panel, data.unit)
        local.set_title(f"{panel.title}\n(a scale of its own)" if alone else panel.title, fontsize=9)
        local.tick_params(labelbottom=False)
        shares = ["" if group.local_share is None else f"\n{group.local_share:.0%} local" for group in panel.groups]
        names = [group.name + share for group, share in zip(panel.groups, shares, strict=True)]
        remote.set_xticks(range(len(names)), names, fontsize=7)
        remote.set_xlim(-0.55, len(names) - 0.45)
        remote.set_xlabel("page policy")
    for name, axes in zip(("local", "remote"), grid[:, 0], strict=True):
        axes.set_ylabel(f"{name} {data.quantity}\nin {data.unit}")
    for axes in grid.flat:  # the unit's factor is only in the axis label
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    handles, labels = max((axes.get_legend_handles_labels() for axes in grid[0]), key=lambda pair: len(pair[1]))
    columns = min(len(labels), 8)
    figure.legend(
        handles, labels, title=ASKED_BY, title_fontsize=9, loc="outside lower center", ncols=columns, frameon=False
    )
    look.head(figure, data.title)
    sign(figure, data.source)
    return figure


def _draw_bars(axes: Axes, panel: TrafficPanel, groups: Sequence[Sequence[float]], colours: dict[int, str]) -> None:
    """Draw a group of bars per mapping, a bar per node with any accesses in the panel."""
    width = 0.8 / max(len(panel.nodes), 2)
    for number, node in enumerate(panel.nodes):
        places = [at + width * (number - (len(panel.nodes) - 1) / 2) for at in range(len(groups))]
        values = [group[node] for group in groups]
        axes.bar(places, values, width=width, color=colours[node], label=f"node {node}")
    palette.quieten(axes, "y")


def _draw_peak(axes: Axes, panel: TrafficPanel, unit: str) -> None:
    """Draw the line of a node's peak; of one that would leave the bars too small to read, only its words."""
    if panel.peak is None:
        return
    wide = len(panel.groups) > NARROW
    words = "described peak of a node (modelled)" if wide else "peak"
    text = f"{words}: {look.figure_text(panel.peak)} {unit}"
    if panel.peak > FARTHEST_PEAK * max(value for group in panel.groups for value in group.local):
        axes.text(0.01, 0.97, f"{text}, above", fontsize=7, color=palette.TEXT, va="top", transform=axes.transAxes)
        return
    axes.axhline(panel.peak, color=palette.VERMILION, linewidth=1.2, linestyle=(0, (5, 3)))
    where = ("axes fraction", "data")
    axes.annotate(text, (0.01, panel.peak), (0, 2), fontsize=7, va="bottom", xycoords=where, textcoords="offset points")
