"""The answer on a program's variables as a page shows it: by lines of code, by data and by addresses.

Liu and Mellor-Crummey (PPoPP 2014, sec. 5 and 6) show a program's data in these three views.
"""

from pathlib import PurePath

import msgspec

from numapredict.collect.source.excerpt import Excerpt
from numapredict.collect.source.place import Place
from numapredict.predictor.variables.place_names import place_names
from numapredict.predictor.variables.variable import RegionTouches, Variable, Variables
from numapredict.predictor.variables.variables_text import (
    Names,
    accesses_in_words,
    name_of,
    pattern_in_words,
    requests_in_words,
)
from numapredict.reports.parts.quantity import size
from numapredict.reports.parts.touched_addresses import COLOURS, AddressesData, addresses_data
from numapredict.reports.parts.traffic_drawing import TrafficDrawing, traffic_drawing

MOST_DRAWN = 8
"""Variables worth fixing that the answer shows one by one."""


class NodeShare(msgspec.Struct, frozen=True):
    """A node, its colour's number, and its share of what is served."""

    node: int
    colour: int
    share: float


class MisplacedData(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: the variables that are ``worth`` fixing, each with its drawing, and how many ``more`` there are.

    Then which node serves how much, between which nodes touches go, and what to know of it. ``time_made`` says how
    times were found, in a word, ``together`` what all of them should save.
    """

    worth: tuple["VariableRow", ...]
    drawings: tuple[AddressesData | None, ...]
    more: int
    together: str
    traffic: TrafficDrawing | None
    served: str
    nodes: tuple[NodeShare, ...]
    time_made: str
    nothing: str
    notes: tuple[str, ...]


class VariableRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of variables; shares are of 0 to 1, -1 where they are not known.

    ``time`` is that of the parallel regions that its remedy takes off, ``in_time`` the same in words. ``far_share`` is,
    of the sampled accesses that left the node's caches, the part that went to another node; ``lpi_numa`` what these
    cost, in cycles an instruction.
    """

    name: str
    size_bytes: int
    size: str
    touch_share: float
    other_threads_share: float
    remote_share: float
    cost: float
    time: float | None
    in_time: str
    far_share: float
    lpi_numa: float
    served: str
    pattern: str
    allocated: str
    first_touch: str
    remedy: str
    worth: bool


class VariablesData(msgspec.Struct, frozen=True, kw_only=True):
    """The table of all variables; ``on_nodes``: any touch can be remote; ``in_time``: the time of any is known.

    ``sampled``: the processor sampled accesses.
    """

    rows: tuple[VariableRow, ...]
    on_nodes: bool
    in_time: bool
    sampled: bool


class SourceLine(msgspec.Struct, frozen=True):
    """A line of source; ``marked`` is the one that is meant."""

    number: int
    text: str
    marked: bool


class TouchingLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that touches ``variables`` first, which have these shares of all touches, with the source around it."""

    place: str
    in_region: bool
    variables: tuple[str, ...]
    touch_share: float
    cost: float
    source: tuple[SourceLine, ...]


class RegionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A parallel region: its share of all touches, and of these the part from elsewhere; -1 where it is not known."""

    place: str
    touch_share: float
    elsewhere_share: float
    cost: float


class LinesData(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that touch first, the costliest first, and the variables of which none is known; then the regions."""

    lines: tuple[TouchingLine, ...]
    unknown: tuple[str, ...]
    regions: tuple[RegionRow, ...]
    on_nodes: bool


class MapsData(msgspec.Struct, frozen=True, kw_only=True):
    """The drawings of the variables, and the colours of the ``nodes`` with threads; none where all share one."""

    drawings: tuple[AddressesData, ...]
    nodes: tuple[NodeShare, ...]
    left: int


def subject_of(answer: Variables) -> str:
    """Return the command or the profile's name, which the page is on."""
    return " ".join(answer.command) or PurePath(answer.profile or "").name


def misplaced_data(answer: Variables) -> MisplacedData:
    """Return the answer itself."""
    names, worth = place_names(answer), _worth(answer)
    timed = sum(one.time is not None for one in answer.variables)
    return MisplacedData(
        worth=tuple(_row(one, names) for one in worth[:MOST_DRAWN]),
        drawings=tuple(_drawing(one, answer) for one in worth[:MOST_DRAWN]),
        more=len(worth[MOST_DRAWN:]),
        together=answer.time.in_words if answer.time is not None and timed > 1 else "",
        traffic=traffic_drawing(answer.traffic),
        served=requests_in_words(answer.requests) if answer.requests is not None else "",
        nodes=_nodes(answer),
        time_made=answer.severity.partition(" ")[0],
        nothing=_nothing(answer),
        notes=answer.notes,
    )


def variables_data(answer: Variables) -> VariablesData:
    """Return the table of variables, in the answer's order: the costliest first."""
    names = place_names(answer)
    rows = tuple(_row(one, names) for one in answer.variables)
    return VariablesData(
        rows=rows,
        on_nodes=answer.nodes is not None,
        in_time=any(row.in_time for row in rows),
        sampled=answer.accesses is not None,
    )


def lines_data(answer: Variables) -> LinesData:
    """Return the lines that touch variables first, those of each together."""
    groups: dict[str, list[Variable]] = {}
    names = place_names(answer)
    for one in answer.variables:
        if one.first_touch is not None:
            groups.setdefault(names(one.first_touch), []).append(one)
    lines = (_line(place, found) for place, found in groups.items())
    return LinesData(
        lines=tuple(sorted(lines, key=lambda line: (-line.cost, -line.touch_share))),
        unknown=tuple(name_of(one) for one in answer.variables if one.first_touch is None),
        regions=tuple(_region(one, names) for one in answer.regions),
        on_nodes=answer.nodes is not None,
    )


def maps_data(answer: Variables) -> MapsData:
    """Return the drawings of the variables that have a table of touches, but for those that the answer shows."""
    others = [one for one in answer.variables if one not in _worth(answer)[:MOST_DRAWN]]
    drawn = [drawing for one in others if (drawing := _drawing(one, answer)) is not None]
    return MapsData(drawings=tuple(drawn), nodes=_nodes(answer), left=len(others) - len(drawn))


def _worth(answer: Variables) -> list[Variable]:
    return [one for one in answer.variables if one.remedy.action != "nothing"]


def _drawing(one: Variable, answer: Variables) -> AddressesData | None:
    return None if one.heat is None else addresses_data(name_of(one), one.heat, answer.nodes, answer.page_bytes)


def variables_about(answer: Variables) -> tuple[tuple[str, str], ...]:
    """Return the facts about the run, as pairs of name and text."""
    facts = [
        ("Program" if answer.command else "Profile", subject_of(answer)),
        ("Threads", str(answer.threads)),
        ("Touches", f"{answer.touches} sampled in {answer.region_time_s:.2f} s of parallel regions"),
        ("Severity", _severity(answer)),
    ]
    if answer.accesses is not None:
        facts.append(("Accesses", accesses_in_words(answer.accesses, answer.lpi_worth)))
    if answer.machine is not None:
        how = "modelled: which threads share a node" if answer.modelled else "nodes of pages and threads measured"
        facts.append(("Machine", f"{answer.machine} as {answer.mapping}, {how}"))
    if answer.exit_code:
        facts.append(("Exit code", str(answer.exit_code)))
    return tuple(facts)


def _severity(answer: Variables) -> str:
    if answer.severity == "share of touches":
        return f"{answer.severity}: a touch is one visit to a page, neither an access nor a time"
    what = "in parallel regions" if answer.severity == "modelled time" else "of whole runs in turn"
    return f"{answer.severity} {what}, with pages as they are and where they should be"


def _nothing(answer: Variables) -> str:
    rest = f"each causes less than {answer.worth:.0%} of all touches from elsewhere"
    timed = [f"{name_of(one)} {one.time.in_words}" for one in answer.variables if one.time is not None]
    if not timed:
        return rest
    others = f"; of the others {rest}" if len(timed) < len(answer.variables) else ""
    return f"a better place would save {', '.join(timed)}{others}"


def _nodes(answer: Variables) -> tuple[NodeShare, ...]:
    served = answer.requests
    total = sum(served.by_node) if served is not None else 0.0
    share = dict(zip(served.nodes, served.by_node, strict=True)) if served is not None else {}
    return tuple(
        NodeShare(node, node % COLOURS, share.get(node, 0.0) / total if total else 0.0)
        for node in sorted(set(answer.nodes or ()))
    )


def _row(one: Variable, names: Names) -> VariableRow:
    sampled = one.accesses
    left = sampled.requests.local + sampled.requests.remote if sampled is not None else 0.0
    return VariableRow(
        name=name_of(one),
        size_bytes=one.size_bytes,
        size=size(one.size_bytes),
        touch_share=one.touch_share,
        other_threads_share=_known(one.other_threads_share),
        remote_share=_known(one.remote_share),
        cost=one.cost,
        time=None if one.time is None else one.time.saved,
        in_time="" if one.time is None else one.time.in_words,
        far_share=sampled.requests.remote / left if sampled is not None and left > 0 else -1.0,
        lpi_numa=_known(sampled.lpi_numa if sampled is not None else None),
        served=requests_in_words(one.requests) if one.requests is not None else "",
        pattern=pattern_in_words(one.pattern),
        allocated=_text(one.allocated, names),
        first_touch=_text(one.first_touch, names),
        remedy=one.remedy.text,
        worth=one.remedy.action != "nothing",
    )


def _region(one: RegionTouches, names: Names) -> RegionRow:
    return RegionRow(
        place=_text(one.place, names) or "not known",
        touch_share=one.touch_share,
        elsewhere_share=_known(one.other_threads_share if one.remote_share is None else one.remote_share),
        cost=one.cost,
    )


def _known(value: float | None) -> float:
    return -1.0 if value is None else value


def _text(place: Place | None, names: Names) -> str:
    return "" if place is None else names(place)


def _line(place: str, found: list[Variable]) -> TouchingLine:
    first = found[0].first_touch
    source = next((one.source for one in found if one.source is not None), None)
    line = first.frame.line if first is not None else None
    return TouchingLine(
        place=place,
        in_region=first is not None and first.in_region,
        variables=tuple(dict.fromkeys(map(name_of, found))),
        touch_share=sum(one.touch_share for one in found),
        cost=sum(one.cost for one in found),
        source=_source(source, line) if source is not None else (),
    )


def _source(excerpt: Excerpt, line: int | None) -> tuple[SourceLine, ...]:
    return tuple(SourceLine(number, text, number == line) for number, text in enumerate(excerpt.lines, excerpt.first))
