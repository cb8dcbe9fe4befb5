"""A characterisation: what was measured of one program, ordered by what the thesis's section 4 asks."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from numapredict.collect.campaign.characterisation.plan import Asked, CharacterisationPlan
from numapredict.collect.mapping import CHOICES, Mapping, ThreadPolicy
from numapredict.collect.measurement import Measurement, NodeCounters
from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placing.exit_code import exit_code_of
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology

Choice = Literal["threads", "thread nodes", "thread policy", "threads a core", "pages"]
Clock = Literal["regions", "process"]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One mapping that was run, by its label.

    ``time_s`` is the median by the characterisation's clock, ``process_time_s`` that of the whole process and
    ``region_time_s`` that in parallel regions; ``slowdown`` is ``time_s`` over that of the fastest mapping, ``spread``
    (max - min) / median of the process's times. ``local_share`` is the part of the accesses that is local, by the
    counters of its ``nodes`` or, where there are none, sampled. A failed run has a status, a message and no times.
    """

    mapping: str
    status: str
    message: str = ""
    time_s: float | None = None
    process_time_s: float | None = None
    region_time_s: float | None = None
    spread: float | None = None
    slowdown: float | None = None
    local_share: float | None = None
    nodes: tuple[NodeCounters, ...] = ()


class TimeTable(msgspec.Struct, frozen=True):
    """Times over threads (rows) and thread nodes (columns) for one thread policy, page policy and threads a core.

    ``mappings`` has the label that was run for each cell, None where so many threads do not fit; ``times_s`` its time,
    None also where it failed or could not be run.
    """

    thread_policy: ThreadPolicy
    page_policy: PagePolicy
    threads: tuple[int, ...]
    thread_nodes: tuple[int, ...]
    mappings: tuple[tuple[str | None, ...], ...]
    times_s: tuple[tuple[float | None, ...], ...]
    threads_per_core: int = 1


class Place(msgspec.Struct, frozen=True):
    """One bar or group of a figure: the requested mapping by its parts, the label that was run, and its time."""

    threads: int
    thread_nodes: int
    thread_policy: ThreadPolicy
    page_nodes: int
    page_policy: PagePolicy
    threads_per_core: int
    thread_l3s: int
    mapping: str
    time_s: float | None

    @property
    def asked(self) -> Mapping:
        """Return the requested mapping."""
        return Mapping(*(getattr(self, name) for name in CHOICES))


class Effect(msgspec.Struct, frozen=True):
    """The most that one choice changes with all others equal: ``ratio`` is the slower mapping's time over the other."""

    choice: Choice
    faster: str
    slower: str
    ratio: float


class Characterisation(msgspec.Struct, frozen=True, kw_only=True):
    """What threads, nodes and policies do to one program on one machine.

    ``clock`` says which times are compared: those of the parallel regions if every run reports them, else those of the
    whole process. ``runs`` are fastest first, failed ones last. ``default``, ``fastest`` and ``slowest`` are labels,
    None where that mapping has no time; ``speedup`` is the default's time over the fastest one's. ``not_possible`` are
    mappings that the machine cannot apply. ``counted`` says whether any run has counters of memory accesses, and
    ``controllers_GBps`` what each node's memory can be read at by the machine's description, empty without one.
    ``exit_code`` is what the program ends with, though its parallel regions ran.
    """

    program: str
    command: tuple[str, ...]
    machine: str
    modelled: bool
    clock: Clock
    node_count: int
    counted: bool
    default: str | None
    fastest: str | None
    slowest: str | None
    speedup: float | None
    tables: tuple[TimeTable, ...]
    whole: tuple[Place, ...]
    one_node: tuple[Place, ...]
    effects: tuple[Effect, ...]
    runs: tuple[Run, ...]
    not_possible: tuple[str, ...] = ()
    exit_code: int = 0
    controllers_GBps: tuple[float, ...] = ()

    def run(self, label: str) -> Run | None:
        """Return the run of a label, None where there was none."""
        return next((run for run in self.runs if run.mapping == label), None)


def characterisation_of(
    program: Program, topology: Topology, plan: CharacterisationPlan, measurements: Sequence[Measurement]
) -> Characterisation:
    """Return the characterisation; other programs and mappings are ignored. ValueError where nothing is left."""
    planned = {mapping.label for mapping in plan.mappings}
    own = [m for m in measurements if m.program == program.name and m.mapping.label in planned]
    if not own:
        raise ValueError(f"no measurement of {program.name!r} under the mappings of its characterisation")
    valid = [m for m in own if m.status == "ok"]
    clock: Clock = "regions" if valid and all(m.region_time_s for m in valid) else "process"
    times = {m.mapping.label: _time_s(m, clock) for m in valid}
    order = sorted(times, key=lambda label: (times[label], label))
    fastest, slowest = (order[0], order[-1]) if order else (None, None)
    default = plan.default.label if plan.default.label in times else None
    return Characterisation(
        program=program.name,
        command=program.command,
        machine=own[0].machine,
        modelled=own[0].modelled,
        clock=clock,
        node_count=len(topology.nodes),
        counted=any(m.counters is not None for m in valid),
        default=default,
        fastest=fastest,
        slowest=slowest,
        speedup=times[default] / times[fastest] if default and fastest else None,
        tables=_tables(plan.grid, times),
        whole=tuple(_place(asked, times) for asked in plan.whole),
        one_node=tuple(_place(asked, times) for asked in plan.one_node),
        effects=_effects(plan.places, times),
        runs=_runs(own, times, order),
        not_possible=tuple(m.label for m in plan.mappings if m.label not in {each.mapping.label for each in own}),
        exit_code=max(map(exit_code_of, valid), default=0),
    )


def _time_s(measurement: Measurement, clock: Clock) -> float:
    """Return the median time in seconds by a clock; a reported region time is always greater than 0."""
    return (measurement.region_time_s if clock == "regions" else None) or measurement.time_s


def _runs(own: Sequence[Measurement], times: dict[str, float], order: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs, fastest first, failed ones last."""
    by_label = {m.mapping.label: m for m in own}
    runs = []
    for label in (*order, *(label for label in by_label if label not in times)):
        m = by_label[label]
        if label not in times:
            runs.append(Run(mapping=label, status=m.status, message=m.message))
            continue
        runs.append(
            Run(
                mapping=label,
                status=m.status,
                time_s=times[label],
                process_time_s=m.time_s,
                region_time_s=m.region_time_s,
                spread=m.spread,
                slowdown=times[label] / times[order[0]],
                local_share=m.local_share,
                nodes=() if m.counters is None else m.counters.nodes,
            )
        )
    return tuple(runs)


def _tables(grid: Sequence[Asked], times: dict[str, float]) -> tuple[TimeTable, ...]:
    """Return a table for each thread policy, page policy and threads a core of the grid, in its order."""
    threads: defaultdict[int, set[int]] = defaultdict(set)
    columns = tuple(sorted({place.asked.thread_nodes for place in grid}))
    cells: defaultdict[tuple[ThreadPolicy, PagePolicy, int], dict[tuple[int, int], str]] = defaultdict(dict)
    for place in grid:
        asked, each = place.asked, place.asked.threads_per_core
        threads[each].add(asked.threads)
        cells[asked.thread_policy, asked.page_policy, each][asked.threads, asked.thread_nodes] = place.run.label
    tables = []
    for (thread_policy, page_policy, each), labels in cells.items():
        rows = tuple(sorted(threads[each]))
        mappings = tuple(tuple(labels.get((row, column)) for column in columns) for row in rows)
        found = tuple(tuple(times.get(label) if label else None for label in row) for row in mappings)
        tables.append(TimeTable(thread_policy, page_policy, rows, columns, mappings, found, each))
    return tuple(tables)


def _place(place: Asked, times: dict[str, float]) -> Place:
    label = place.run.label
    return Place(*place.asked.choices, label, times.get(label))


def _effects(places: Sequence[Asked], times: dict[str, float]) -> tuple[Effect, ...]:
    """Return for each choice the two mappings that differ in it alone and the most in time, where there are any."""
    effects = []
    known = [place for place in places if place.run.label in times]
    for choice in get_args(Choice):
        groups: defaultdict[object, dict[str, float]] = defaultdict(dict)
        for place in known:
            groups[_others(place.asked, choice)][place.run.label] = times[place.run.label]
        best: Effect | None = None
        for group in groups.values():
            faster, slower = min(group, key=group.__getitem__), max(group, key=group.__getitem__)
            ratio = group[slower] / group[faster]
            if len(group) > 1 and (best is None or ratio > best.ratio):
                best = Effect(choice, faster, slower, ratio)
        if best is not None:
            effects.append(best)
    return tuple(effects)


def _others(mapping: Mapping, choice: Choice) -> object:
    """Return all choices except one; page nodes count as page choice where they differ from the thread nodes."""
    pages = (mapping.page_policy, None if mapping.page_nodes == mapping.thread_nodes else mapping.page_nodes)
    whole = {
        "threads": mapping.threads,
        "thread nodes": mapping.thread_nodes,
        "thread policy": mapping.thread_policy,
        "threads a core": mapping.threads_per_core,
        "L3 caches": mapping.thread_l3s,
        "pages": pages,
    }
    return tuple(value for name, value in whole.items() if name != choice)
