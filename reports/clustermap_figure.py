"""Layout and colours of the clustermap."""

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

import matplotlib as mpl
import msgspec
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from numapredict.collect.mapping import CHOICES, THREAD_POLICIES
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.predictor.learning.clustering import Array
from numapredict.reports import palette
from numapredict.reports.clustermap import ClustermapData
from numapredict.reports.column_order import Column, columns_of, fastest
from numapredict.reports.drawable import drawable
from numapredict.reports.figure_file import width_of
from numapredict.reports.program_order import colour_limit
from numapredict.reports.source import sign

Value = TypeVar("Value")

MOST_LETTERS = 40
"""Most letters of a program's name next to its row; longer ones are shortened."""

NAME_POINTS = 7.0

FOLDED = "\nMappings of fewer cores share a column by threads: the fastest for each program."

TALL = 8.0
"""A heatmap higher than this, in inches, has the bars below it as well: those above are too far from its last rows."""

CLUSTER_COLOURS = palette.SERIES[:-1]
THREAD_COLOURS: dict[str, str] = dict(zip(THREAD_POLICIES, ("#d9d9d9", "#737373"), strict=True))
PAGE_COLOURS: dict[str, str] = dict(
    zip(
        PAGE_POLICIES,
        (
            palette.SKY,
            palette.GREEN,
            palette.ORANGE,
            palette.PURPLE,
            palette.YELLOW,
            palette.VERMILION,
            palette.BLUE,
            palette.BLACK,
            "#882255",  # wine (Tol, Colour Schemes, 2021)
        ),
        strict=False,
    )
)


def figure_of(data: ClustermapData) -> Figure:
    """Return the figure: colour scale and legend above dendrogram and heatmap, whose bars say what each mapping is.

    All sizes are in inches, so that text stays legible whatever the number of programs and mappings.
    """
    columns, programs = shown_columns(data), len(data.programs)
    width = max(5.5, len(columns) * 0.19)
    height = programs * max(0.125, min(0.32, 9.0 / programs))
    names = max(0.7, *(width_of(drawable(name, MOST_LETTERS), NAME_POINTS) for name in short_names(data)[0])) + 0.25
    tree, bars, keys = 2.0, 0.19 * len(choices_of(data, columns)), 0.95
    below = 0.25 + 0.059 * max(len(column.label) for column in columns)
    total_width = 0.25 + tree + 0.28 + width + names + 0.1
    again = bars + 0.08 if height > TALL else 0.0
    total_height = 1.06 + keys + bars + 0.2 + height + again + below
    figure = Figure(figsize=(total_width, total_height))

    def place(left: float, bottom: float, across: float, up: float) -> Axes:
        return figure.add_axes((left / total_width, bottom / total_height, across / total_width, up / total_height))

    left, bottom, top = 0.25 + tree + 0.28, again + below, total_height - 1.06
    _draw_tree(place(0.25, bottom, tree, height), data)
    _draw_clusters(place(0.25 + tree + 0.05, bottom, 0.14, height), data)
    heat = place(left, bottom, width, height)
    _draw_heat(heat, place(0.35, top - 0.13, 5.2, 0.13), data, columns)
    _name_rows_and_columns(heat, data, columns, again)
    _draw_bars(place(left, bottom + height + 0.06, width, bars), data, columns, width)
    if again:
        _draw_bars(place(left, bottom - again + 0.02, width, bars), data, columns, width, again=True)
    figure.text(0.25 / total_width, 1 - 0.22 / total_height, data.title, fontsize=13, weight="bold", va="top")
    folded = any(len(column.mappings) > 1 for column in columns)
    subtitle = (
        f"Colour: run time over that of the default, {data.default.label} (triangle). Dot: fastest mapping.\n"
        f"{data.method}{short_names(data)[1]}"
        f"{FOLDED * folded}"
    )
    figure.text(0.25 / total_width, 1 - 0.48 / total_height, subtitle, fontsize=9, va="top", color="#404040")
    _draw_legend(figure, data, 0.25 / total_width, (top - 0.4) / total_height)
    sign(figure, data.source)
    return figure


def shown_columns(data: ClustermapData) -> tuple[Column, ...]:
    """Return the columns from left to right."""
    return columns_of(
        [each.label for each in data.mappings],
        [msgspec.structs.astuple(each) for each in data.mappings],
        np.array(data.log2_times),
        data.mappings.index(data.default) if data.default in data.mappings else -1,
    )


def short_names(data: ClustermapData) -> tuple[tuple[str, ...], str]:
    """Return the programs' names without a part that all have in the middle, and a sentence that says so."""
    parts = [name.split(".") for name in data.programs]
    middles = {each[1] if len(each) == 3 else "" for each in parts}
    if len(middles) != 1 or middles == {""}:
        return data.programs, ""
    return tuple(f"{each[0]}.{each[2]}" for each in parts), f" All programs are .{drawable(middles.pop())}."


def _draw_tree(axes: Axes, data: ClustermapData) -> None:
    """Draw the dendrogram with its leaves at the right; merges inside one cluster have its colour."""
    for bracket in data.brackets:
        colour = "#404040" if bracket.cluster is None else _colour(bracket.cluster)
        axes.plot(bracket.distances, bracket.rows, color=colour, linewidth=1.2, solid_capstyle="round")
    # On a linear scale the last merge, many times farther than the first, would hide the merges inside clusters.
    axes.set_xscale("function", functions=(_signed_root, _signed_square))
    axes.set_xlim(max(max(bracket.distances) for bracket in data.brackets) * 1.04 or 1.0, 0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_ylim(len(data.programs), 0)
    axes.set_yticks([])
    axes.tick_params(labelsize=7)
    axes.set_xlabel("distance (Ward, root scale)", fontsize=8)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _colour(cluster: int) -> str:
    """Return the colour of a cluster by its number."""
    return CLUSTER_COLOURS[(cluster - 1) % len(CLUSTER_COLOURS)]


def _draw_clusters(axes: Axes, data: ClustermapData) -> None:
    for cluster, start, stop in _runs(data.clusters):
        colour = _colour(cluster)
        axes.axhspan(start, stop, color=colour, linewidth=0)
        axes.text(
            0.5, (start + stop) / 2, str(cluster), ha="center", va="center", fontsize=7, color=palette.ink_on(colour)
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(len(data.programs), 0)
    axes.set_axis_off()


def _draw_heat(axes: Axes, scale: Axes, data: ClustermapData, columns: Sequence[Column]) -> None:
    """Draw the heatmap, white for the default's time, with a dot per row and the colour scale in factors.

    Not by seaborn's clustermap, which draws no numbers on bars and clusters, no branch in its cluster's colour and no
    scale of distances, lays out by shares of the figure, so that names overlap the scale, and leaves names out.
    """
    values = fastest(np.array(data.log2_times), columns)
    limit = colour_limit(np.array(data.log2_times))
    ticks = [tick for tick in range(-3, 4) if abs(tick) <= limit]
    beyond = (values.min() < -limit, values.max() > limit)
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[beyond]
    sns.heatmap(
        values,
        ax=axes,
        cmap="RdBu_r",
        vmin=-limit,
        vmax=limit,
        rasterized=True,
        xticklabels=False,
        yticklabels=False,
        cbar_ax=scale,
        cbar_kws={"extend": extend, "orientation": "horizontal"},
    )
    scale.set_xticks(ticks, [_factor(tick) for tick in ticks], fontsize=8)
    # A light rim, since the fastest cells are the darkest; whole also at the edge.
    axes.plot(
        values.argmin(axis=1) + 0.5,
        np.arange(len(values)) + 0.5,
        "o",
        color="black",
        markersize=3.6,
        markeredgecolor="white",
        markeredgewidth=0.7,
        linewidth=0,
        clip_on=False,
        zorder=3,
    )
    for _, _, stop in itertools.islice(_runs(data.clusters), len(set(data.clusters)) - 1):
        axes.axhline(stop, color="black", linewidth=0.8)
    for _, start, _ in itertools.islice(_runs([column.group for column in columns]), 1, None):
        axes.axvline(start, color="black", linewidth=0.5)


def _name_rows_and_columns(axes: Axes, data: ClustermapData, columns: Sequence[Column], below: float) -> None:
    """Write the programs at the right, and the columns ``below`` inches under the heatmap."""
    rows = len(data.programs)
    axes.yaxis.tick_right()
    axes.set_yticks(
        np.arange(rows) + 0.5, [drawable(name, MOST_LETTERS) for name in short_names(data)[0]], fontsize=NAME_POINTS
    )
    axes.set_xticks(np.arange(len(columns)) + 0.5, [each.label for each in columns], rotation=90, fontsize=7.5)
    axes.tick_params(length=2, pad=2)
    axes.tick_params(axis="x", length=0 if below else 2, pad=2 + 72 * below)


def _draw_bars(axes: Axes, data: ClustermapData, columns: Sequence[Column], width: float, again: bool = False) -> None:
    """Draw the choices of every column, a bar per choice, and a triangle over the default; ``width`` is in inches.

    ``again``: below the heatmap, with names at the right, since the tree's scale is at the left.
    """
    blues = mpl.colormaps["Blues"]
    choices, column_width = choices_of(data, columns), width / len(columns)
    for row, (name, values) in enumerate(choices):
        steps = sorted({value for value in values if isinstance(value, int)})
        for value, start, stop in _runs(values):
            if value is None:
                continue
            if isinstance(value, int):
                share = 0.12 + 0.75 * steps.index(value) / max(1, len(steps) - 1)
                colour, dark = mpl.colors.to_hex(blues(share)), share > 0.55
            else:
                colour, dark = (THREAD_COLOURS | PAGE_COLOURS)[value], False
            axes.barh(row + 0.5, stop - start, left=start, height=0.86, color=colour, edgecolor="white", linewidth=0.3)
            if isinstance(value, int) and (stop - start) * column_width > 0.065 * len(str(value)):
                axes.text(
                    (start + stop) / 2,
                    row + 0.52,
                    str(value),
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if dark else "black",
                )
        name_x = len(columns) + 0.06 / column_width if again else -0.06 / column_width
        axes.text(name_x, row + 0.5, name, ha="left" if again else "right", va="center", fontsize=8)
    if data.default in data.mappings and not again:
        default = data.mappings.index(data.default)
        at = next(at for at, column in enumerate(columns) if default in column.mappings) + 0.5
        axes.plot([at], [-0.32], "v", color="black", markersize=6, clip_on=False)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(choices), 0)
    axes.set_axis_off()


def choices_of(data: ClustermapData, columns: Sequence[Column]) -> list[tuple[str, list[int | str | None]]]:
    """Return the name of each bar and its value for every column, None where its mappings differ in it.

    SMT and L3 caches have a bar where they are used.
    """
    smt, l3s = any(m.threads_per_core > 1 for m in data.mappings), any(m.thread_l3s for m in data.mappings)
    names = (*CHOICES[:5], *CHOICES[5:6] * smt, *CHOICES[6:] * l3s)
    words = {"threads_per_core": "threads a core", "thread_l3s": "thread L3s"}

    def value(column: Column, name: str) -> int | str | None:
        values = {getattr(data.mappings[at], name) for at in column.mappings}
        return values.pop() if len(values) == 1 else None

    return [(words.get(name, name.replace("_", " ")), [value(each, name) for each in columns]) for name in names]


def _signed_root(values: Array) -> Array:
    """Return the square root of the size, with the sign: Matplotlib also asks for a little below zero."""
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values: Array) -> Array:
    """Return the inverse of ``_signed_root``."""
    return np.sign(values) * np.square(values)


def _factor(log2: int) -> str:
    return "default" if log2 == 0 else f"{2 ** abs(log2)}x {'slower' if log2 > 0 else 'faster'}"


def _draw_legend(figure: Figure, data: ClustermapData, left: float, top: float) -> None:
    """Draw the colours of the policies that occur, thread policies first, down from ``top``."""
    drawn = {each for _, values in choices_of(data, shown_columns(data)) for each in values}
    threads = [policy for policy in THREAD_POLICIES if policy in drawn]
    pages = [policy for policy in PAGE_POLICIES if policy in drawn]
    patches = [Patch(color=THREAD_COLOURS[policy], label=policy) for policy in threads]
    patches += [Patch(color=PAGE_COLOURS[policy], label=policy) for policy in pages]
    figure.legend(handles=patches, loc="upper left", bbox_to_anchor=(left, top), ncols=5, frameon=False, fontsize=8)


def _runs(values: Sequence[Value]) -> Iterator[tuple[Value, int, int]]:
    """Yield each run of equal values with its start and stop."""
    start = 0
    for value, run in itertools.groupby(values):
        stop = start + len(list(run))
        yield value, start, stop
        start = stop
