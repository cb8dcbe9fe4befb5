"""Makes the plan of a run whose regions were replayed, and writes it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.fixed_teams import team_facts
from numapredict.collect.placing.page_plan import PagePlan, joined, plan_of
from numapredict.collect.placing.plan_file import Plan, RegionTeam, builds_of, plan_text
from numapredict.collect.placing.profile_file import Profile, ProfiledRange, read_profile
from numapredict.collect.placing.run_file import put
from numapredict.collect.source.modules import Modules
from numapredict.collect.topology import Topology
from numapredict.predictor.regions.application_plan import AT_HOME, ApplicationPlan, Uses, plan_of_application
from numapredict.predictor.regions.conflict_text import conflict_in_words
from numapredict.predictor.regions.planned_application import PlannedApplication, PlannedArray, PlannedTeam
from numapredict.predictor.regions.region_arrays import placeable, uses_of
from numapredict.predictor.regions.regions_text import region_name
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


class _Data(msgspec.Struct, frozen=True):
    """What a profile says of the program's arrays."""

    profile: Profile | None = None
    arrays: tuple[Found, ...] = ()
    uses: Uses = Uses()


def planned(
    answer: ReplayedRegions,
    wish: Wish,
    executable: str,
    keys: Mapping[tuple[str, int], int],
    topology: Topology,
) -> tuple[PlannedApplication | None, tuple[str, ...]]:
    """Write the plan and return it, None where none is worth it, and remarks.

    ``keys`` are those of the replayed regions, by module and offset. Raises the errors of run_file and of a profile
    that cannot be read.
    """
    files = [str(Path(executable).absolute()), *(region.module for region in answer.regions if region.gains)]
    known = team_facts(files)
    # That libgomp loses thread-local data is sure, and no wish changes it.
    facts = msgspec.structs.replace(known, asks="") if wish.smaller_teams else known
    data = _data(wish.profile, answer)
    found = plan_of_application(answer.regions, answer.baseline, topology, facts, data.uses)
    notes = _few_samples(data, answer, wish)
    if found is None or found.speedup < WORTH:
        why = f": {facts.reason}, so that no team may become smaller" if facts.reason else ""
        return None, (f"no plan is worth it, and {wish.path} was not written{why}", *notes)
    base = resolve(parse_label(found.mapping), topology)
    pages = _pages(found, data, base)
    modules = builds_of([*files, *(known.module for plan in pages.values() for known in _ranges(plan))])
    teams = []
    for one in found.regions:
        region = answer.regions[one.number]
        if one.team is not None:
            teams.append(RegionTeam(keys[region.module, region.offset], region.module, region.offset, one.slots))
    whole = joined(list(pages.values()))
    text = plan_text(Plan(topology.fingerprint, topology.name, found.mapping, modules, tuple(teams), whole))
    put(wish.path, PLAN, text.encode("ascii"))
    return _record(found, answer, wish.path, facts.reason, _placed(found, data, pages), data), notes


def _data(path: Path | None, answer: ReplayedRegions) -> _Data:
    if path is None:
        return _Data()
    profile = read_profile(path)
    found = found_in(profile, Modules(path.stat().st_mtime, build_ids=profile.build_ids))
    arrays = placeable(found, profile)
    return _Data(profile, arrays, uses_of(arrays, found, profile, answer.regions))


def _few_samples(data: _Data, answer: ReplayedRegions, wish: Wish) -> tuple[str, ...]:
    """Return a remark on the regions whose arrays the profile does not tell, if there are any."""
    if data.profile is None:
        return ()
    replayed = [number for number, region in enumerate(answer.regions) if region.gains]
    missing = sum(number not in data.uses.of for number in replayed)
    if not missing:
        return ()
    return (
        f"{wish.profile} has too few samples of {missing} of {len(replayed)} regions to tell which arrays they use: "
        "the plan takes them to use all; a profile of a longer run tells more",
    )


def _pages(found: ApplicationPlan, data: _Data, base: Placement) -> dict[int, PagePlan]:
    """Return where the pages of each array go that is not where the plan's mapping puts all memory."""
    plans = {}
    for array, label in found.pages.items():
        like, mapping = parse_label(label), base.mapping
        nodes = mapping.thread_nodes if like.page_policy in AT_HOME else like.page_nodes
        there = resolve(mapping.replaced(page_policy=like.page_policy, page_nodes=nodes), base.topology)
        if data.profile is not None:
            plans[array] = plan_of(data.profile, there, data.arrays[array - 1].ranges)
    return plans


def _ranges(plan: PagePlan) -> list[ProfiledRange]:
    return [each.range for each in plan.ranges]


def _pages_of(arrays: Sequence[int], data: _Data) -> int:
    return sum(known.pages for array in arrays for known in data.arrays[array - 1].ranges)


def _placed(found: ApplicationPlan, data: _Data, pages: Mapping[int, PagePlan]) -> tuple[PlannedArray, ...]:
    return tuple(
        PlannedArray(data.uses.names[array - 1], found.pages[array], sum(one.pages for one in _ranges(plan)))
        for array, plan in pages.items()
    )


def _record(
    found: ApplicationPlan,
    answer: ReplayedRegions,
    path: Path,
    teams_stay: str,
    arrays: tuple[PlannedArray, ...],
    data: _Data,
) -> PlannedApplication:
    plan_s = answer.region_time_s / found.speedup if found.speedup else 0.0
    called = [region_name(region) for region in answer.regions]
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
        arrays=arrays,
        conflicts=tuple(
            conflict_in_words(one, called, data.uses.names, _pages_of(one.arrays, data)) for one in found.conflicts
        ),
        teams_stay=teams_stay,
    )
