"""One plan for the whole application: the mapping that it starts under, a team for each region, pages for each array.

By the times of its regions under each mapping that they were replayed under (ICS'19, sec. 3.4 and 4.6). Threads are
free a region; pages are in one place for all that a region uses, and move between regions where that pays. Pure.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import Mapping as ThreadsAndPages
from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import FACTS, PagePolicy
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.fixed_teams import TeamFacts
from numapredict.collect.space import canonical, placement_if_any
from numapredict.collect.topology import Topology
from numapredict.predictor.regions.chosen_plan import ApplicationPlan, ChosenRegion, Conflict, Moved
from numapredict.predictor.regions.joint_choice import Choices, Option, Problem, choose
from numapredict.predictor.regions.page_moves import MARGIN, move_seconds
from numapredict.predictor.regions.region_order import Order, follows, renumbered
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.team_changes import Team, change_seconds
from numapredict.predictor.regions.touch_groups import TouchGroups

WORTH = 1.02
"""Smaller differences between two ways to run a region are no conflict."""

AT_HOME = ("first-touch", "locality")
"""Under these the nodes of pages are those of threads."""

_REST = 0
"""The array that stands for all memory of which nothing else is known."""

_Float = npt.NDArray[np.float64]

Pages = tuple[PagePolicy, tuple[int, ...], int]
"""A page policy and the nodes that it uses, by the operating system; under first touch the program's own.

Where touches decide, last comes the group of the regions whose touches do (touch_groups.py), 0 where it is all.
"""


@dataclass(frozen=True)
class Uses:
    """Which arrays each region uses, by number from 1 on; 0 is all other memory.

    ``names`` are those of the arrays, and ``pages`` how many pages each has. A region that is not in ``of`` (by its
    number) uses all. ``groups`` say which of those in it can have pages in the same places by their touches.
    """

    names: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    of: Mapping[int, frozenset[int]] = field(default_factory=dict)
    groups: TouchGroups = field(default_factory=TouchGroups)


@dataclass(frozen=True)
class _Way:
    """A gain with what it is of: the PUs of its threads and its pages."""

    mapping: ThreadsAndPages
    team: Team
    pages: Pages
    speedup: float


@dataclass(frozen=True)
class _Known:
    """What is to be planned: each replayed region's number, record and ways, and how often all others came.

    The ``order`` is that of replayed regions by their places in the tuple; the place after is that of all others.
    """

    regions: tuple[tuple[int, ReplayedRegion, tuple[_Way, ...]], ...]
    rest_s: float
    rest_count: int
    facts: TeamFacts
    uses: Uses
    topology: Topology
    order: Order = None
    may_move: bool = True

    @property
    def whole_s(self) -> float:
        return self.rest_s + sum(region.time_s for _, region, _ in self.regions)

    @property
    def counts(self) -> list[int]:
        """Return how often each region came, and last all that were not replayed, if any were not."""
        return [region.count for _, region, _ in self.regions] + [self.rest_count] * (self.rest_count > 0)


@dataclass(frozen=True)
class _Answer:
    """The options of all regions under a mapping, and those ``chosen``, which cost ``cost_s`` with moves by MARGIN.

    ``comes`` are of each array how often one region that uses it follows another one.
    """

    base: Placement
    problem: Problem
    chosen: tuple[int, ...]
    ways: tuple[tuple[_Way, ...], ...]
    pages: tuple[Pages, ...]
    comes: tuple[_Float, ...]

    @property
    def cost_s(self) -> float:
        return self.problem.cost_s(self.chosen)

    @property
    def time_s(self) -> float:
        """Return how long the regions take, each move counted once."""
        return self.cost_s - self.move_s * (MARGIN - 1)

    @property
    def move_s(self) -> float:
        return self.problem.moved_s(self.chosen) / MARGIN

    def times(self, array: int, chosen: Sequence[int]) -> float:
        """Return how often an array moves."""
        options = zip(self.problem.regions, chosen, strict=True)
        pages = np.array([region.options[number].pages for region, number in options])
        return float(self.comes[array][pages[:, None] != pages[None, :]].sum())

    @property
    def rank(self) -> tuple[float, int]:
        """Return the time in steps of a thousandth, then how many regions have another team: the lower the better."""
        teams = [ways[n].team != self.base.pus for ways, n in zip(self.ways, self.chosen, strict=False)]
        return round(math.log(max(self.cost_s, 1e-12)) * 1000), sum(teams)


def plan_of_application(
    regions: Sequence[ReplayedRegion],
    baseline: str,
    topology: Topology,
    facts: TeamFacts,
    uses: Uses | None = None,
    order: Order = None,
) -> ApplicationPlan | None:
    """Return the best plan, None where no region was replayed; it is never worse than the best mapping for all.

    ``baseline`` is the label of the mapping of the run, and ``order`` that of the regions, by number. No region gets
    more threads than the plan's mapping has, nor PUs that it has not; with a reason in ``facts`` none gets fewer,
    either.
    """
    known = _known(regions, baseline, topology, facts, uses or Uses())
    places = {number: place for place, (number, *_) in enumerate(known.regions)}
    known = replace(known, order=renumbered(order, places, len(known.regions)))
    if not known.regions:
        return None
    best, one = _best(known, parse_label(baseline))
    if best is None or one is None:
        return None
    plan = _plan(known, best, one)
    if not plan.moved:
        return plan
    still, _ = _best(replace(known, may_move=False), parse_label(baseline))
    return plan if still is None else replace(plan, move_gain_s=still.time_s - (best.time_s - best.move_s))


def _best(known: _Known, baseline: ThreadsAndPages) -> tuple[_Answer | None, tuple[float, str] | None]:
    """Return the best answer, and the best time without any other team or pages, with its mapping."""
    best: _Answer | None = None
    one: tuple[float, str] | None = None
    for base, pages in _bases(known, baseline):
        found = _solved(known, base, pages)
        if found is None:
            continue
        answer, uniform_s = found
        if best is None or answer.rank < best.rank:
            best = answer
        if uniform_s is not None and (one is None or uniform_s < one[0] * (1 - 1e-9)):
            one = uniform_s, base.mapping.label
    return best, one


def _known(
    regions: Sequence[ReplayedRegion], baseline: str, topology: Topology, facts: TeamFacts, uses: Uses
) -> _Known:
    threads = parse_label(baseline).threads
    found = ((n, region, _ways(region, baseline, threads, topology)) for n, region in enumerate(regions))
    replayed = [(n, region, _by_own_touches(n, ways, uses.groups)) for n, region, ways in found]
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
            _Way(placement.mapping, placement.pus if own else team, _pages(placement), gain.believed if ways else 1.0)
        )
    return tuple(ways)


def _by_own_touches(number: int, ways: Sequence[_Way], groups: TouchGroups) -> tuple[_Way, ...]:
    """Return a region's ways, those whose pages go by touches for each of its groups.

    Those are left out where groups want pages in different places and its own group is not known.
    """
    if not groups.owners:
        return tuple(ways)
    found = []
    for way in ways:
        policy, nodes, _ = way.pages
        if FACTS[policy].needs_profile:
            found += [replace(way, pages=(policy, nodes, each)) for each in sorted(groups.of.get(number, ()))]
        else:
            found.append(way)
    return tuple(found)


def _pages(placement: Placement) -> Pages:
    policy = placement.mapping.page_policy
    return policy, () if policy == "first-touch" else placement.os_page_nodes, 0


def _bases(known: _Known, baseline: ThreadsAndPages) -> Iterator[tuple[Placement, Pages]]:
    """Return the mappings that a plan may have: the threads of the baseline or of a mapping that all regions had.

    Each with all pages that regions were replayed with, as far as a mapping has them: none has those of a group.
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
    if known.rest_count:
        choices.append(Choices(frozenset(), (Option(0, 0, known.rest_s),)))
    uses = [each.arrays for each in choices]
    users = [frozenset(n for n, used in enumerate(uses) if array in used) for array in range(len(arrays))]
    by_users = {each: follows(known.order, known.counts, each) for each in set(users)}
    comes = tuple(by_users[each] for each in users)
    moves_s = MARGIN * move_seconds((0, *known.uses.pages), comes)
    if not known.may_move:
        together = np.array([[bool(one & other) for other in uses] for one in uses])
        moves_s = np.where(together, np.inf, 0.0)
    change_s = change_seconds(teams, keeps_threads=known.facts.keeps_threads)
    team_follows = follows(known.order, known.counts, range(len(choices)))
    problem = Problem(tuple(choices), arrays, change_s, team_follows, moves_s)
    uniform = _uniform(problem)
    chosen = choose(problem, [] if uniform is None else [uniform])
    if chosen is None:
        return None
    answer = _Answer(base, problem, chosen, ways, pages, comes)
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
    placed = best.problem.pages_of(best.chosen)
    labels = {way.pages: way.mapping.label for ways in best.ways for way in ways}
    names = [best.base.mapping.label, *(labels[pages] for pages in best.pages[1:])]
    work_s = sum(region.time_s / way.speedup for (_, region, _), way in zip(known.regions, picked, strict=True))
    rest_s = known.rest_s if known.rest_count else 0.0
    return ApplicationPlan(
        mapping=best.base.mapping.label,
        regions=tuple(regions),
        pages={array: names[at] for array, wanted in sorted(placed.items()) if len(wanted) == 1 for at in wanted if at},
        speedup=known.whole_s / best.time_s if best.time_s > 0 else 1.0,
        change_s=max(best.time_s - best.move_s - work_s - rest_s, 0.0),
        one_mapping=one[1],
        one_speedup=known.whole_s / one[0] if one[0] > 0 else 1.0,
        conflicts=tuple(_conflicts(known, best, picked)),
        moved=tuple(_moved(known, best, array, names) for array, wanted in sorted(placed.items()) if len(wanted) > 1),
        move_s=best.move_s,
    )


def _moved(known: _Known, best: _Answer, array: int, names: Sequence[str]) -> Moved:
    """Return where regions want an array; it starts where the first of them does, the one with most time."""
    wanted = {
        number: region.options[at].pages
        for (number, _, _), region, at in zip(known.regions, best.problem.regions, best.chosen, strict=False)
        if array in region.arrays
    }
    places = list(dict.fromkeys(wanted.values()))
    of = {number: places.index(pages) for number, pages in wanted.items()}
    return Moved(array, tuple(names[pages] for pages in places), of, best.times(array, best.chosen))


def _conflicts(known: _Known, best: _Answer, picked: Sequence[_Way]) -> Iterator[Conflict]:
    """Return the regions that would gain from other pages, and who keeps these where they are."""
    uses = [region.arrays for region in best.problem.regions]
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
        found = Conflict(number, wanted.mapping.label, wanted.speedup / way.speedup, arrays, others, lost_s)
        instead = (*best.chosen[:at], best.ways[at].index(wanted), *best.chosen[at + 1 :])
        if best.problem.is_possible(instead):
            more_s = best.problem.moved_s(instead) / MARGIN - best.move_s
            cost_s = best.problem.cost_s(instead) - best.cost_s + lost_s - (MARGIN - 1) * more_s
            times = max((best.times(array, instead) - best.times(array, best.chosen) for array in arrays), default=0.0)
            found = replace(found, times=times, cost_s=cost_s)
        yield found
