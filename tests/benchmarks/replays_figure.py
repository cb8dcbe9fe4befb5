"""Draws replays against whole runs: a replay's time over the whole runs' mean instance, by region and mapping."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.figure_file import width_of, write_figure
from numapredict.reports.source import sign

BANDS = (0.15, 0.05)
"""What 90% of the pairs, and the median, are to be within (ICS'19, sec. 4.4: 94 to 99%)."""

ROW, NAME_POINTS = 0.19, 7.5
"""Inches of a region, and points of its name."""


class RatioRow(msgspec.Struct, frozen=True, kw_only=True):
    """A region of a program: by mapping, the replay's time over the whole runs'."""

    program: str
    region: str
    ratios: tuple[tuple[str, float], ...]


class ReplaysData(msgspec.Struct, frozen=True, kw_only=True):
    """All regions, those of a program together; ``within`` is the share of pairs in each of BANDS."""

    rows: tuple[RatioRow, ...]
    mappings: tuple[str, ...]
    within: tuple[float, ...]
    source: str


def replays_data(pairs: Sequence[tuple[str, str, str, float]], source: str) -> ReplaysData:
    """Return the rows of (program, region, mapping, ratio), at least one, in their order."""
    rows: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for program, region, mapping, ratio in pairs:
        rows.setdefault((program, region), []).append((mapping, ratio))
    return ReplaysData(
        rows=tuple(RatioRow(program=one, region=other, ratios=tuple(own)) for (one, other), own in rows.items()),
        mappings=tuple(dict.fromkeys(mapping for _, _, mapping, _ in pairs)),
        within=tuple(sum(abs(ratio - 1) <= band for *_, ratio in pairs) / len(pairs) for band in BANDS),
        source=source,
    )


def replays_figure(data: ReplaysData) -> Figure:
    """Return the figure: a row a region, a mark a mapping, and the bands."""
    width, height = 7.6, 1.25 + ROW * len(data.rows)
    names = [drawable(f"{row.program}, {row.region}", 40) for row in data.rows]
    left = 0.25 + max(width_of(name, NAME_POINTS) for name in names)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, 0.55 / height, (width - left - 0.2) / width, ROW * len(data.rows) / height))
    for band, colour in zip(BANDS, (palette.PALE, "#c6c6c6"), strict=True):
        axes.axvspan(1 - band, 1 + band, color=colour, linewidth=0)
    axes.axvline(1, color=palette.GREY, linewidth=0.8)
    marks = dict(zip(data.mappings, zip(palette.SERIES, palette.MARKERS, strict=False), strict=False))
    for mapping, (colour, marker) in marks.items():
        points = [(ratio, at) for at, row in enumerate(data.rows) for own, ratio in row.ratios if own == mapping]
        across, down = zip(*points, strict=True)
        axes.plot(across, down, marker, color=colour, markersize=5.5, linewidth=0, label=drawable(mapping), alpha=0.85)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelsize=NAME_POINTS, length=0)
    axes.set_ylim(len(data.rows) - 0.4, -0.6)
    ratios = [ratio for row in data.rows for _, ratio in row.ratios]
    axes.set_xscale("log")
    axes.set_xlim(min(0.7, *ratios) / 1.08, max(1.4, *ratios) * 1.08)
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10) if _shown(tick, axes.get_xlim())]
    axes.set_xticks(ticks)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("a replay's time over the mean instance of whole runs")
    palette.quieten(axes, "y")
    figure.legend(loc="upper right", ncols=len(marks), frameon=False, fontsize=8)
    said = ", ".join(
        f"{share:.0%} within {band:.0%}" for share, band in reversed(list(zip(data.within, BANDS, strict=True)))
    )
    axes.set_title(f"{len(ratios)} pairs of region and mapping: {said} (bands)", fontsize=10, loc="left")
    sign(figure, data.source)
    return figure


def _shown(tick: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= tick <= limits[1]


def draw_replays(pairs: Sequence[tuple[str, str, str, float]], source: str, path: Path) -> None:
    """Write the figure; the name's ending says the format."""
    write_figure(replays_figure(replays_data(pairs, source)), path)
