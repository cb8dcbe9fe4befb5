"""The figure of times over threads, nodes and thread policies (thesis figures 8, 9, 16 and 17)."""

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from numapredict.collect.campaign.characterisation.result import Characterisation
from numapredict.collect.terminal.printable import counted
from numapredict.reports import palette
from numapredict.reports.characterisation import look
from numapredict.reports.source import Origin, sign


class Curve(msgspec.Struct, frozen=True):
    """The times over threads on one number of nodes, without failed runs."""

    thread_nodes: int
    threads: tuple[int, ...]
    times_s: tuple[float, ...]


class Panel(msgspec.Struct, frozen=True):
    """The curves of one thread policy, page policy and threads a core; threads, nodes and time of the fastest."""

    title: str
    curves: tuple[Curve, ...]
    fastest: tuple[int, int, float] | None


class TimesData(msgspec.Struct, frozen=True):
    """What the figure shows: a row of panels per page policy and threads a core."""

    title: str
    clock: str
    rows: tuple[tuple[Panel, ...], ...]
    source: str


def times_data(found: Characterisation, origin: Origin | None = None) -> TimesData:
    """Return the curves; a thread policy equal to the previous one, as on one node, has no panel."""
    rows: dict[tuple[str, int], list[Panel]] = {}
    seen = set()
    for table in found.tables:
        if table.mappings in seen:
            continue
        seen.add(table.mappings)
        curves = []
        for column, nodes in enumerate(table.thread_nodes):
            points = [
                (count, time_s)
                for count, row in zip(table.threads, table.times_s, strict=True)
                if (time_s := row[column]) is not None
            ]
            if points:
                counts, times_s = zip(*points, strict=True)
                curves.append(Curve(nodes, counts, times_s))
        placed = [
            (time_s, curve.thread_nodes, threads)
            for curve in curves
            for threads, time_s in zip(curve.threads, curve.times_s, strict=True)
        ]
        fastest = min(placed)[::-1] if placed else None
        panel = Panel(look.table_in_words(table), tuple(curves), fastest)
        rows.setdefault((table.page_policy, table.threads_per_core), []).append(panel)
    return TimesData(
        look.subject(found),
        look.clock_in_words(found),
        tuple(tuple(row) for row in rows.values()),
        look.source(found, origin),
    )


def times_figure(data: TimesData) -> Figure:
    """Return the figure: a panel per thread policy and page policy, a curve per number of nodes."""
    columns = max(len(row) for row in data.rows)
    figure = Figure(figsize=(1.2 + 4.2 * columns, 1.2 + 3.4 * len(data.rows)), layout="constrained")
    grid = figure.subplots(len(data.rows), columns, squeeze=False, sharex=True, sharey=True)
    panels = [panel for row in data.rows for panel in row]
    values = [time_s for panel in panels for curve in panel.curves for time_s in curve.times_s]
    unit = look.unit_for(values)
    counts = sorted({threads for panel in panels for curve in panel.curves for threads in curve.threads})
    nodes = sorted({curve.thread_nodes for panel in panels for curve in panel.curves})
    styles = {
        n: (colour, look.MARKERS[number % len(look.MARKERS)])
        for number, (n, colour) in enumerate(zip(nodes, look.ordered_colours(len(nodes)), strict=True))
    }
    for row, line in zip(data.rows, grid, strict=True):
        for axes in line[len(row) :]:
            axes.set_visible(False)
        for panel, axes in zip(row, line, strict=False):
            _draw_panel(axes, panel, styles, unit)
        line[0].set_ylabel(f"{data.clock} in {unit.name}\n(log scale, lower is better)")
    for axes in grid[-1]:
        axes.set_xlabel("threads")
    first = grid[0][0]
    first.set_xscale("log", base=2)
    first.set_yscale("log")
    first.set_xticks(counts, [str(count) for count in counts])
    first.minorticks_off()
    wide = bool(values) and max(values) > 8 * min(values)
    first.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if wide else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
    first.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    first.yaxis.set_minor_formatter(NullFormatter())
    handles, labels = max((axes.get_legend_handles_labels() for axes in grid.flat), key=lambda pair: len(pair[1]))
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    look.head(figure, data.title)
    sign(figure, data.source)
    return figure


def _draw_panel(axes: Axes, panel: Panel, styles: dict[int, tuple[str, str]], unit: look.Unit) -> None:
    for number, curve in enumerate(panel.curves):
        colour, marker = styles[curve.thread_nodes]
        values = [unit.of(time_s) for time_s in curve.times_s]
        axes.plot(
            curve.threads,
            values,
            color=colour,
            marker=marker,
            markersize=max(9 - 2 * number, 4),  # coinciding curves hide less of each other
            label=counted(curve.thread_nodes, "node"),
        )
    if panel.fastest is not None:
        threads, nodes, time_s = panel.fastest
        axes.plot(
            [threads], [unit.of(time_s)], "o", markersize=12, fillstyle="none", color=look.HIGHLIGHT, label="fastest"
        )
        axes.set_title(
            f"{panel.title}\nfastest: {counted(threads, 'thread')} on {counted(nodes, 'node')}, "
            f"{look.figure_text(unit.of(time_s))} {unit.name}",
            fontsize=9,
        )
    palette.quieten(axes, "y")
