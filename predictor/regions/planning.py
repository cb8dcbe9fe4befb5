"""Makes the plan of a run whose regions were replayed, and writes it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from numapredict.collect.capturing.order import Succession, order_of
from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.fixed_teams import team_facts
from numapredict.collect.placing.page_plan import PagePlan, joined, moving, of_regions, pages_of, plan_of
from numapredict.collect.placing.plan_file import Plan, PlannedRegion, builds_of, plan_text
from numapredict.collect.placing.profile_file import Profile, read_profile
from numapredict.collect.placing.run_file import put
from numapredict.collect.source.modules import Modules
from numapredict.collect.topology import Topology
from numapredict.predictor.regions.application_plan import AT_HOME, Uses, plan_of_application
from numapredict.predictor.regions.chosen_plan import ApplicationPlan
from numapredict.predictor.regions.conflict_text import conflict_in_words
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.planned_application import (
    PlannedApplication,
    PlannedArray,
    PlannedMove,
    PlannedPlace,
    PlannedTeam,
)
from numapredict.predictor.regions.region_arrays import numbers_in, placeable, uses_of
from numapredict.predictor.regions.region_order import OTHER, Order, renumbered
from numapredict.predictor.regions.regions_text import region_cells
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.grouping import Found, found_in

PLAN = "plan"
"""What messages call the file."""

WORTH = 1.02
"""A plan that should gain less is not written."""


class Wish(msgspec.Struct, frozen=True):
    """Where to write a plan, and what it may use: the profile of an earlier run, and smaller teams.

    ``smaller_teams``: also in a program that asks how many threads there are.
    """

    path: Path
    profile: Path | None = None
    smaller_teams: bool = False


class Made(NamedTuple):
    """The plan, None where none is worth it, remarks, and the answer's mappings for all regions that can be these.

    Where threads of other nodes touch an array in another region, no mapping has the pages that replays had.
    """

    plan: PlannedApplication | None
    notes: tuple[str, ...]
    one_mapping: tuple[OneMapping, ...]


class _Data(msgspec.Struct, frozen=True):
    """What a profile says of the program's arrays."""

    profile: Profile | None = None
    arrays: tuple[Found, ...] = ()
    uses: Uses = Uses()
    numbers: Mapping[int, int] = msgspec.field(default_factory=dict)  # the profile's of the answer's regions
    replayed: Set[int] = frozenset()  # of these

    def users(self, array: int) -> list[int]:
        """Return the replayed regions that use an array, of those of which that is known."""
        return [region for region, used in self.uses.of.items() if array in used and region in self.replayed]


@dataclass(frozen=True)
class _PlannedPages:
    """Plans of the pages of arrays, by number: those that stay ``alone`` elsewhere, and those that move.

    ``wants`` are the numbers of the places that each region wants.
    """

    alone: Mapping[int, PagePlan]
    moves: Mapping[int, PagePlan]
    wants: Mapping[int, Set[int]]

    @property
    def whole(self) -> PagePlan:
        return joined([*self.alone.values(), *self.moves.values()])


def planned(
    answer: ReplayedRegions,
    wish: Wish,
    executable: str,
    keys: Mapping[tuple[str, int], int],
    topology: Topology,
    told: Sequence[Succession] = (),
) -> Made:
    """Write the plan and return it.

    ``keys`` are those of the replayed regions, by module and offset, and ``told`` is what the run's processes told of
    the order of all. Raises the errors of run_file and of a profile that cannot be read.
    """
    files = [str(Path(executable).absolute()), *(region.module for region in answer.regions if region.gains)]
    known = team_facts(files)
    # That libgomp loses thread-local data is sure, and no wish changes it.
    facts = msgspec.structs.replace(known, asks="") if wish.smaller_teams else known
    data = _data(wish.profile, answer, resolve(parse_label(answer.baseline), topology))
    order = _order(answer, keys, told)
    one_mapping = tuple(
        one for one in answer.one_mapping if not data.uses.groups.owners or not _by_touches(one.mapping)
    )
    found = plan_of_application(answer.regions, answer.baseline, topology, facts, data.uses, order)
    notes = (*_few_samples(data, answer, wish), *_places_by_touches(data, answer))
    if found is None or found.speedup < WORTH:
        why = f": {facts.reason}, so that no team may become smaller" if facts.reason else ""
        return Made(None, (f"no plan is worth it, and {wish.path} was not written{why}", *notes), one_mapping)
    if order is None and (found.moved or found.conflicts) and data.arrays:
        notes = (*notes, "in which order regions come is not known: moves of pages are counted as often as may be")
    pages = _planned_pages(found, data, resolve(parse_label(found.mapping), topology))
    modules = builds_of([*files, *(each.range.module for each in pages.whole.ranges)])
    regions = _regions(found, answer, keys, pages)
    text = plan_text(Plan(topology.fingerprint, topology.name, found.mapping, modules, regions, pages.whole))
    put(wish.path, PLAN, text.encode("ascii"))
    return Made(_record(found, answer, wish.path, facts.reason, pages, data), notes, one_mapping)


def _order(answer: ReplayedRegions, keys: Mapping[tuple[str, int], int], told: Sequence[Succession]) -> Order:
    """Return the order of the answer's regions, by number; of those that were not replayed no key is known."""
    places = [(region.module, region.offset) for region in answer.regions]
    return renumbered(order_of(told), {keys[place]: n for n, place in enumerate(places) if place in keys}, OTHER)


def _planned_pages(found: ApplicationPlan, data: _Data, base: Placement) -> _PlannedPages:
    """Return the pages of each array that is not where the plan's mapping puts all memory, or not only there."""
    alone = {array: _plan_like((label, data.users(array)), array, data, base) for array, label in found.pages.items()}
    numbers: dict[tuple[object, int], int] = {}
    moves, wants = dict[int, PagePlan](), dict[int, set[int]]()
    for one in found.moved:
        # Arrays that all regions want in the same places have the same numbers: they move together.
        alike = one.places, tuple(one.of.items())
        own = [numbers.setdefault((alike, at), len(numbers)) for at in range(len(one.places))]
        plans = [
            _plan_like((label, [region for region, place in one.of.items() if place == at]), one.array, data, base)
            for at, label in enumerate(one.places)
        ]
        moves[one.array] = moving(list(zip(own, plans, strict=True)))
        for region, at in one.of.items():
            wants.setdefault(region, set()).add(own[at])
    return _PlannedPages(alone, moves, wants)


def _regions(
    found: ApplicationPlan, answer: ReplayedRegions, keys: Mapping[tuple[str, int], int], pages: _PlannedPages
) -> tuple[PlannedRegion, ...]:
    """Return the regions that have a team of their own or want an array that moves."""
    planned = []
    for one in found.regions:
        region, wants = answer.regions[one.number], tuple(sorted(pages.wants.get(one.number, ())))
        if one.team is not None or wants:
            key = keys[region.module, region.offset]
            planned.append(PlannedRegion(key, region.module, region.offset, one.slots, wants=wants))
    return tuple(planned)


def _data(path: Path | None, answer: ReplayedRegions, baseline: Placement) -> _Data:
    if path is None:
        return _Data()
    profile = read_profile(path)
    found = found_in(profile, Modules(path.stat().st_mtime, build_ids=profile.build_ids))
    arrays, numbers = placeable(found, profile), numbers_in(profile, answer.regions)
    replayed = frozenset(number for number, region in enumerate(answer.regions) if region.best is not None)
    return _Data(profile, arrays, uses_of(arrays, found, profile, numbers, baseline), numbers, replayed)


def _few_samples(data: _Data, answer: ReplayedRegions, wish: Wish) -> tuple[str, ...]:
    """Return a remark on the regions whose arrays the profile does not tell, if there are any."""
    if data.profile is None:
        return ()
    replayed = [number for number, region in enumerate(answer.regions) if region.gains]
    missing = sum(number not in data.uses.of for number in replayed)
    if not missing:
        return ()
    if not data.numbers:
        return (
            f"{wish.profile} knows none of the regions: it is of another program, or of another build; make it again",
        )
    return (
        f"{wish.profile} has too few samples of {missing} of {len(replayed)} regions to tell which arrays they use: "
        "the plan takes them to use all; a profile of a longer run tells more",
    )


def _places_by_touches(data: _Data, answer: ReplayedRegions) -> Iterator[str]:
    """Return a remark where no mapping has the pages that replays had, by the touches of each region."""
    owners = [min(group) for group in data.uses.groups.owners.values()]
    names = ", ".join(map(region_cells(answer), (answer.regions[number] for number in owners)))
    if owners:
        yield (
            f"threads of different nodes touch the same arrays in {names}: under locality, balance and mix each replay "
            "had these where its own region touches them, and one mapping for the whole program cannot"
        )


def _plan_like(wanted: tuple[str, Sequence[int]], array: int, data: _Data, base: Placement) -> PagePlan:
    """Return where the pages of an array go: as under a mapping, by its label, for these regions."""
    label, regions = wanted
    like, mapping = parse_label(label), base.mapping
    nodes = mapping.thread_nodes if like.page_policy in AT_HOME else like.page_nodes
    there = resolve(mapping.replaced(page_policy=like.page_policy, page_nodes=nodes), base.topology)
    if data.profile is None:
        raise ValueError("arrays are only known by a profile")
    profile, ranges = data.profile, data.arrays[array - 1].ranges
    groups = data.uses.groups
    if groups.owners and _by_touches(label):
        # The plan has these regions in one place, so that one group is common to all.
        common = Counter(group for region in regions for group in sorted(groups.of[region]))
        group = common.most_common(1)[0][0]
        profile, ranges = of_regions(profile, ranges, {data.numbers[region] for region in groups.owners[group]})
    return plan_of(profile, there, ranges)


def _by_touches(label: str) -> bool:
    return FACTS[parse_label(label).page_policy].needs_profile


def _moves(found: ApplicationPlan, data: _Data, pages: _PlannedPages, called: Sequence[str]) -> Iterator[PlannedMove]:
    for one in found.moved:
        places = tuple(
            PlannedPlace(label, tuple(called[number] for number, its in one.of.items() if its == at))
            for at, label in enumerate(one.places)
        )
        yield PlannedMove(data.uses.names[one.array - 1], pages_of(pages.moves[one.array]), one.times, places)


def _record(
    found: ApplicationPlan,
    answer: ReplayedRegions,
    path: Path,
    teams_stay: str,
    pages: _PlannedPages,
    data: _Data,
) -> PlannedApplication:
    plan_s = answer.region_time_s / found.speedup if found.speedup else 0.0
    called = [*map(region_cells(answer), answer.regions)]
    return PlannedApplication(
        path=str(path),
        mapping=found.mapping,
        speedup=found.speedup,
        one_mapping=found.one_mapping,
        one_speedup=found.one_speedup,
        bound=answer.speedup,
        change_share=found.change_s / plan_s if plan_s > 0 else 0.0,
        teams=tuple(
            PlannedTeam(called[one.number], len(one.team), one.mapping, one.speedup)
            for one in found.regions
            if one.team is not None
        ),
        arrays=tuple(
            PlannedArray(data.uses.names[array - 1], found.pages[array], pages_of(plan))
            for array, plan in pages.alone.items()
        ),
        conflicts=tuple(conflict_in_words(one, called, data.uses.names) for one in found.conflicts),
        teams_stay=teams_stay,
        moves=tuple(_moves(found, data, pages, called)),
        move_s=found.move_s,
        move_gain_s=found.move_gain_s,
    )
