"""One plan for the whole application: the mapping that it starts under, a team for each region, pages for each array.

By the times of its regions under each mapping that they were replayed under (ICS'19, sec. 3.4 and 4.6). Threads are
free a region; pages are in one place, for all that a region uses. Pure.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.mapping import Mapping as ThreadsAndPages
from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import FACTS, PagePolicy
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.fixed_teams import TeamFacts
from numapredict.collect.space import canonical, placement_if_any
from numapredict.collect.topology import Topology
from numapredict.predictor.regions.joint_choice import Choices, Option, Problem, choose
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.team_changes import Team, change_seconds, follow_counts

WORTH = 1.02
"""Smaller differences between two ways to run a region are no conflict."""

AT_HOME = ("first-touch", "locality")
"""Under these the nodes of pages are those of threads."""

_REST = 0
"""The array that stands for all memory of which nothing else is known."""

Pages = tuple[PagePolicy, tuple[int, ...]]
"""A page policy and the nodes that it uses, by the operating system; under first touch the program's own."""


@dataclass(frozen=True)
class Uses:
    """Which arrays each region uses, by number from 1 on; 0 is all other memory.

    ``names`` are those of the arrays. A region that is not in ``of`` (by its number) uses all.
    """

    names: tuple[str, ...] = ()
    of: Mapping[int, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class ChosenRegion:
    """A region's way to run in a plan: as it was replayed under ``mapping``; ``team`` where it is not the plan's."""

    number: int
    mapping: str
    speedup: float
    team: Team | None
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Conflict:
    """A region that would be ``speedup`` times as fast as in the plan with its arrays on the pages of ``wanted``.

    ``arrays`` are those that are elsewhere, and ``others`` the regions that use these and want them there. That costs
    ``lost_s`` in the whole run. Each of the ``phases``, at most, in which only this region uses the arrays, they could
    go there and back.
    """

    number: int
    wanted: str
    speedup: float
    arrays: tuple[int, ...]
    others: tuple[int, ...]
    lost_s: float
    phases: int


@dataclass(frozen=True)
class ApplicationPlan:
    """What is chosen: the mapping by its label, each replayed region's way to run, the arrays that go elsewhere.

    ``speedup`` is that of all regions with ``change_s`` seconds for changes of teams; ``one_mapping`` is the best
    mapping for all regions, of the same times, with ``one_speedup``. ``pages`` has the label of a mapping that says
    where each array goes, for those that do not go where the plan's mapping puts all memory.
    """

    mapping: str
    regions: tuple[ChosenRegion, ...]
    pages: Mapping[int, str]
    speedup: float
    change_s: float
    one_mapping: str
    one_speedup: float
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class _Way:
    """A gain with what it is of: the PUs of its threads and its pages."""

    mapping: ThreadsAndPages
    team: Team
    pages: Pages
    speedup: float


@dataclass(frozen=True)
class _Known:
    """What is to be planned: each replayed region's number, record and ways, and how often all others came."""

    regions: tuple[tuple[int, ReplayedRegion, tuple[_Way, ...]], ...]
    rest_s: float
    rest_count: int
    facts: TeamFacts
    uses: Uses
    topology: Topology

    @property
    def whole_s(self) -> float:
        return self.rest_s + sum(region.time_s for _, region, _ in self.regions)


@dataclass(frozen=True)
class _Answer:
    base: Placement
    problem: Problem
    chosen: tuple[int, ...]
    ways: tuple[tuple[_Way, ...], ...]
    pages: tuple[Pages, ...]
    cost_s: float

    @property
    def rank(self) -> tuple[float, int]:
        """Return the time in steps of a thousandth, then how many regions have another team: the lower the better."""
        teams = [ways[n].team != self.base.pus for ways, n in zip(self.ways, self.chosen, strict=False)]
        return round(math.log(max(self.cost_s, 1e-12)) * 1000), sum(teams)


def plan_of_application(
    regions: Sequence[ReplayedRegion], baseline: str, topology: Topology, facts: TeamFacts, uses: Uses | None = None
) -> ApplicationPlan | None:
    """Return the best plan, None where no region was replayed; it is never worse than the best mapping for all.

    ``baseline`` is the label of the mapping of the run. No region gets more threads than the plan's mapping has, nor
    PUs that it has not; with a reason in ``facts`` none gets fewer, either.
    """
    known = _known(regions, baseline, topology, facts, uses or Uses())
    if not known.regions:
        return None
    best: _Answer | None = None
    one: tuple[float, str] | None = None
    for base, pages in _bases(known, parse_label(baseline)):
        found = _solved(known, base, pages)
        if found is None:
            continue
        answer, uniform_s = found
        if best is None or answer.rank < best.rank:
            best = answer
        if uniform_s is not None and (one is None or uniform_s < one[0] * (1 - 1e-9)):
            one = uniform_s, base.mapping.label
    if best is None or one is None:
        return None
    return _plan(known, best, one)


def believed(gain: Gain) -> float:
    """Return the speedup that is counted on: gains that did not come in every round are none."""
    speedup = gain.speedup or 1.0
    return speedup if speedup <= 1 or gain.is_sure else 1.0


def _known(
    regions: Sequence[ReplayedRegion], baseline: str, topology: Topology, facts: TeamFacts, uses: Uses
) -> _Known:
    threads = parse_label(baseline).threads
    replayed = [(n, region, _ways(region, baseline, threads, topology)) for n, region in enumerate(regions)]
    others = [region for _, region, ways in replayed if not ways]
    return _Known(
        tuple(each for each in replayed if each[2]),
        sum(region.time_s for region in others),
        sum(region.count for region in others),
        facts,
        uses,
        topology,
    )


def _ways(region: ReplayedRegion, baseline: str, threads: int, topology: Topology) -> tuple[_Way, ...]:
    """Return the ways that a region was replayed in, the baseline first; one with its own number keeps its team."""
    known = [gain for gain in region.gains if gain.speedup is not None]
    if not known or known[0].mapping != baseline:
        return ()
    team = resolve(parse_label(baseline), topology).pus
    ways: list[_Way] = []
    for gain in known:
        placement = resolve(parse_label(gain.mapping), topology)
        own = region.team == threads
        ways.append(
            _Way(placement.mapping, placement.pus if own else team, _pages(placement), believed(gain) if ways else 1.0)
        )
    return tuple(ways)


def _pages(placement: Placement) -> Pages:
    policy = placement.mapping.page_policy
    return policy, () if policy == "first-touch" else placement.os_page_nodes


def _bases(known: _Known, baseline: ThreadsAndPages) -> Iterator[tuple[Placement, Pages]]:
    """Return the mappings that a plan may have: the threads of the baseline or of a mapping that all regions had.

    Each with all pages that regions were replayed with, as far as a mapping has them.
    """
    common = set.intersection(*({way.mapping.label for way in ways} for *_, ways in known.regions))
    threads = [baseline, *(parse_label(label) for label in sorted(common - {baseline.label}))]
    pages = {way.pages: way.mapping for *_, ways in known.regions for way in ways}
    done = set()
    for mapping in threads:
        team = resolve(mapping, known.topology).pus
        for each, other in pages.items():
            placement = _with_pages(mapping, other, known.topology)
            if placement is not None and placement.pus == team and _pages(placement) == each:
                if placement.mapping.label not in done:
                    yield placement, each
                done.add(placement.mapping.label)


def _with_pages(threads: ThreadsAndPages, pages: ThreadsAndPages, topology: Topology) -> Placement | None:
    """Return the mapping with the threads of one and the pages of another, None where there is none."""
    if threads.label == pages.label:
        return resolve(threads, topology)
    many = threads.thread_nodes if pages.page_policy in AT_HOME else pages.page_nodes
    wanted = threads.replaced(page_policy=pages.page_policy, page_nodes=many)
    placement = placement_if_any(wanted, topology)
    return None if placement is None else resolve(canonical(wanted, topology), topology)


def _solved(known: _Known, base: Placement, rest: Pages) -> tuple[_Answer, float | None] | None:
    """Return the best answer with this mapping, and the time without any other team or pages, if that is known."""
    ways = tuple(tuple(way for way in each if _may(way, base, known.facts)) for *_, each in known.regions)
    if not all(ways):
        return None
    teams = list(dict.fromkeys([base.pus, *(way.team for each in ways for way in each)]))
    pages = tuple(dict.fromkeys([rest, *(way.pages for each in ways for way in each)]))
    # Where all pages are on one node the library has none to place: native/placement/policy/pages.c.
    free = frozenset(range(len(pages))) if known.uses.names and len(base.os_page_nodes) > 1 else frozenset({0})
    arrays = (frozenset({0}), *(free for _ in known.uses.names))
    every = frozenset(range(len(arrays)))
    choices = [
        Choices(
            known.uses.of.get(number, every),
            tuple(Option(teams.index(w.team), pages.index(w.pages), region.time_s / w.speedup) for w in each),
        )
        for (number, region, _), each in zip(known.regions, ways, strict=True)
    ]
    counts = [region.count for _, region, _ in known.regions]
    if known.rest_count:
        choices.append(Choices(frozenset(), (Option(0, 0, known.rest_s),)))
        counts.append(known.rest_count)
    change_s = change_seconds(teams, keeps_threads=known.facts.keeps_threads)
    problem = Problem(tuple(choices), arrays, change_s, follow_counts(counts))
    uniform = _uniform(problem)
    chosen = choose(problem, [] if uniform is None else [uniform])
    if chosen is None:
        return None
    answer = _Answer(base, problem, chosen, ways, pages, problem.cost_s(chosen))
    return answer, None if uniform is None else problem.cost_s(uniform)


def _may(way: _Way, base: Placement, facts: TeamFacts) -> bool:
    """Return whether a region can have this team under the plan's mapping, with these pages."""
    if FACTS[way.mapping.page_policy].needs_profile and way.team != base.pus:
        return False  # pages go by the touches of the plan's own threads
    if not set(way.team) <= set(base.pus) or len(way.team) > len(base.pus):
        return False
    return len(way.team) == len(base.pus) or not facts.reason


def _uniform(problem: Problem) -> tuple[int, ...] | None:
    """Return the options with team 0 and pages 0 everywhere, None where a region has none."""
    found = []
    for region in problem.regions:
        fits = [(option.time_s, n) for n, option in enumerate(region.options) if (option.team, option.pages) == (0, 0)]
        if not fits:
            return None
        found.append(min(fits)[1])
    return tuple(found)


def _plan(known: _Known, best: _Answer, one: tuple[float, str]) -> ApplicationPlan:
    picked = [ways[n] for ways, n in zip(best.ways, best.chosen, strict=False)]
    regions = []
    for (number, _, _), way in zip(known.regions, picked, strict=True):
        other = way.team != best.base.pus
        slots = tuple(best.base.pus.index(pu) for pu in way.team)
        regions.append(
            ChosenRegion(number, way.mapping.label, way.speedup, way.team if other else None, slots if other else ())
        )
    placed = best.problem.pages_of(best.chosen) or {}
    labels = {way.pages: way.mapping.label for ways in best.ways for way in ways}
    work_s = sum(region.time_s / way.speedup for (_, region, _), way in zip(known.regions, picked, strict=True))
    rest_s = known.rest_s if known.rest_count else 0.0
    return ApplicationPlan(
        mapping=best.base.mapping.label,
        regions=tuple(regions),
        pages={array: labels[best.pages[at]] for array, at in sorted(placed.items()) if array != _REST and at != 0},
        speedup=known.whole_s / best.cost_s if best.cost_s > 0 else 1.0,
        change_s=max(best.cost_s - work_s - rest_s, 0.0),
        one_mapping=one[1],
        one_speedup=known.whole_s / one[0] if one[0] > 0 else 1.0,
        conflicts=tuple(_conflicts(known, best, picked)),
    )


def _conflicts(known: _Known, best: _Answer, picked: Sequence[_Way]) -> Iterator[Conflict]:
    """Return the regions that would gain from other pages, and who keeps these where they are."""
    uses = [region.arrays for region in best.problem.regions]
    whole = sum(region.count for _, region, _ in known.regions) + known.rest_count
    for at, ((number, region, _), way) in enumerate(zip(known.regions, picked, strict=True)):
        wanted = max(best.ways[at], key=lambda each: each.speedup)
        if wanted.pages == way.pages or wanted.speedup < WORTH * way.speedup:
            continue
        others = tuple(
            known.regions[other][0]
            for other, its in enumerate(picked)
            if other != at and uses[other] & uses[at] and its.pages == way.pages
        )
        shared = frozenset().union(*(uses[other] for other in range(len(picked)) if other != at)) & uses[at]
        arrays = tuple(sorted(shared - {_REST}))
        lost_s = region.time_s / way.speedup - region.time_s / wanted.speedup
        phases = max(min(region.count, whole - region.count), 1)
        yield Conflict(number, wanted.mapping.label, wanted.speedup / way.speedup, arrays, others, lost_s, phases)
