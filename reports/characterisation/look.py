"""Units, titles and colours of the figures and tables of a characterisation."""

import shlex
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import msgspec
from matplotlib.figure import Figure

from numapredict.collect.campaign.characterisation.result import Characterisation, Place, TimeTable
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.advising.mapping_text import on_each_core
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import Origin, source_line

POLICY_COLOURS = {"contiguous": palette.BLUE, "scatter": palette.ORANGE}
ONE_NODE_COLOUR = "#999999"
HIGHLIGHT = palette.VERMILION
MARKERS = palette.MARKERS
MOST_LETTERS = 70
_LETTERS_PER_INCH = 9.5  # of a title


class Unit(msgspec.Struct, frozen=True):
    """A unit of time and how many of it make a second."""

    name: str
    per_s: float

    def of(self, time_s: float) -> float:
        """Return a time in this unit."""
        return time_s * self.per_s


def unit_for(times_s: Iterable[float | None]) -> Unit:
    """Return the largest unit in which the shortest of the times is at least 1, seconds without times."""
    known = [time_s for time_s in times_s if time_s is not None]
    for unit in (Unit("s", 1.0), Unit("ms", 1e3)):
        if not known or unit.of(min(known)) >= 1:
            return unit
    return Unit("us", 1e6)


def figure_text(value: float) -> str:
    """Return a number with three digits, or all those before the point: ``<0.01``, ``0.0123``, ``63.3``, ``1842``."""
    if abs(value) < 0.01:
        return "<0.01" if value else "0"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def subject(found: Characterisation) -> str:
    """Return the program with its arguments, the machine, and whether figures are modelled or measured."""
    words = shlex.join((PurePath(found.command[0]).name, *found.command[1:]))
    made = palette.made_in_words(found.modelled)
    return f"{drawable(words, MOST_LETTERS)} on {drawable(found.machine)} ({made})"


def source(found: Characterisation, origin: Origin | None) -> str:
    """Return the line below a figure, from the characterisation alone if the runs' origin is not known."""
    return source_line([origin or Origin(machine=found.machine, modelled=found.modelled)])


def clock_in_words(found: Characterisation) -> str:
    """Return in words which clock the times are by."""
    return "time in parallel regions" if found.clock == "regions" else "run time"


def table_in_words(table: TimeTable) -> str:
    """Return what all mappings of a table have in common."""
    return f"{table.thread_policy} threads, {table.page_policy} pages{on_each_core(table.threads_per_core)}"


def size_in_words(place: Place) -> str:
    """Return the threads and thread nodes of a place."""
    size = f"{counted(place.threads, 'thread')} on {counted(place.thread_nodes, 'node')}"
    return size + on_each_core(place.threads_per_core)


def page_name(place: Place) -> str:
    """Return the page policy of a place as in its label, with the page nodes if these are a free choice."""
    on_one_node = FACTS[place.page_policy].page_nodes == "one node"
    return place.page_policy if on_one_node else place.asked.pages


def ordered_colours(count: int) -> Sequence[str]:
    """Return colours from dark to light for values that have an order; the palette suits colour-blind people."""
    return [palette.shade(index / max(count - 1, 1), light=0.88) for index in range(count)]


def head(figure: Figure, text: str) -> None:
    """Put a title over a figure, wrapped to its width."""
    figure.suptitle(textwrap.fill(text, int(_LETTERS_PER_INCH * figure.get_figwidth())), fontsize=12)
