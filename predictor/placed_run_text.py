"""What a placed run found out, in words: where threads and pages stood, how long its regions took, what was sampled."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.machines.placed_pages import NOWHERE, PlacementMap, RangeTally, read_map, tally
from numapredict.collect.machines.preload import processes_files
from numapredict.collect.machines.region_times import RegionTimes, read_region_times
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_plan import PagePlan
from numapredict.collect.placement import permitted_nodes
from numapredict.collect.profile_file import Profile, read_profile
from numapredict.collect.topology import Topology
from numapredict.native.errors import NumapredictError

_SHOWN_RANGES = 10


def placement_in_words(path: Path, mapping: Mapping, topology: Topology) -> Iterator[str]:
    """Return whether threads and pages stood where the mapping says, a line each."""
    try:
        found = read_map(path)
    except NumapredictError as error:
        yield f"verify: {error}"
        return
    if found is None:
        yield "verify: nothing was written: the program was killed, or never ran to its end under the library"
        return
    if found.unplaced:
        one = found.unplaced == 1
        yield (
            f"verify: {found.unplaced} {'process' if one else 'processes'} of the run found the mapping's PUs taken by"
            f" another one: {'it was' if one else 'they were'} left free on all of them, with pages by first touch, and"
            f" {'is' if one else 'are'} not counted here"
        )
    if found.threads:
        yield _threads_in_words(found, mapping)
    elif not found.unplaced or found.ranges:
        yield "verify: no threads were looked at: the program did not come to its end, or bound none"
    if found.late:
        yield (
            "verify: the OpenMP runtime was loaded while the program ran: memory from before its first parallel region "
            "was left to the kernel, and is not counted here"
        )
    if found.left:
        ranges = f"{found.left} range{'' if found.left == 1 else 's'} of memory"
        yield (
            f"verify: {ranges} went where the kernel puts new pages: placing more would have cost over half of the "
            "mappings that it allows a process (vm.max_map_count)"
        )
    allowed = permitted_nodes(mapping, topology)
    yield from _pages_in_words(tally(found.ranges, allowed), found, mapping, allowed)
    yield from _unseen_in_words(found)


def regions_in_words(path: Path) -> Iterator[str]:
    """Return the time of every parallel region, a line each, the longest first; of each process by itself."""
    processes = [times for times in map(read_region_times, processes_files(path)) if times is not None]
    if not processes:
        yield "regions: no OpenMP parallel region ended"
    if len(processes) > 1:
        yield f"regions: {len(processes)} programs had parallel regions: each by itself, the first to have one first"
    for times in processes:
        yield from _process_in_words(times)


def _process_in_words(found: RegionTimes) -> Iterator[str]:
    cut = "" if found.complete else ", until the program was ended"
    count = len(found.regions)
    yield (
        f"regions: {found.region_time_s:.6f} s of {found.wall_s:.6f} s in {count} parallel region"
        f"{'' if count == 1 else 's'}{cut}"
    )
    yield f"  {'instances':>12} {'total s':>12} {'each us':>12} {'threads':>8}  region"
    for region in sorted(found.regions, key=lambda region: -region.time_s):
        place = f"{Path(region.module).name}+{region.offset:#x}"
        name = place if region.name == place else f"{region.name} ({place})"
        each_us = region.time_s / region.count * 1e6
        yield f"  {region.count:>12} {region.time_s:>12.6f} {each_us:>12.2f} {region.team:>8}  {name}"


def profile_in_words(path: Path) -> str:
    """Return what the profile holds, in a line."""
    try:
        profile = read_profile(path)
    except NumapredictError as error:
        return f"profile: {error}"
    sampled = sum(1 for known in profile.ranges if known.count)
    lost = f"; no room for {profile.dropped} more" if profile.dropped else ""
    return (
        f"profile: {path}: {len(profile.samples)} samples of {profile.touched} touched pages in {sampled} of "
        f"{len(profile.ranges)} ranges, {profile.slots} threads{lost}"
    )


def plan_in_words(plan: PagePlan, profile: Profile, mapping: Mapping) -> Iterator[str]:
    """Return what the plan does, and where it departs from the profile."""
    runs = sum(len(planned.runs) for planned in plan.ranges)
    pages = sum(planned.range.pages for planned in plan.ranges)
    yield f"plan: {pages} pages of {len(plan.ranges)} of {len(profile.ranges)} ranges, in {runs} runs"
    if plan.rescaled_from is not None:
        yield (
            f"plan: the profile is of {plan.rescaled_from} threads and the mapping has {mapping.threads}: thread i of "
            f"the profile stands for i * {mapping.threads} // {plan.rescaled_from}"
        )
    if plan.block_pages > 1:
        yield f"plan: pages are placed {plan.block_pages} at a time, or the kernel would run out of mappings"


def _threads_in_words(found: PlacementMap, mapping: Mapping) -> str:
    right = sum(1 for thread in found.threads if not thread.wrong)
    ran = len({thread.slot for thread in found.threads})
    text = f"verify: {right} of {len(found.threads)} threads were bound to their PU each time they were looked at"
    if ran < mapping.threads:
        text += f"; the program used {ran} of the mapping's {mapping.threads}"
    wrong = [thread for thread in found.threads if thread.wrong]
    if wrong:
        first = wrong[0]
        text += f"; thread {first.slot} was off PU {first.pu} {first.wrong} times of {first.wrong + first.right}"
    return text


def _pages_in_words(
    tallies: tuple[RangeTally, ...], found: PlacementMap, mapping: Mapping, allowed: frozenset[int]
) -> Iterator[str]:
    pages, right = sum(tallied.pages for tallied in tallies), sum(tallied.right for tallied in tallies)
    if not pages:
        if not found.unplaced:
            yield "verify: no pages were looked at"
        return
    runs = [run for placed in found.ranges for run in placed.runs if run.node != NOWHERE]
    decided = any(run.wanted != NOWHERE for run in runs)
    names = "the nodes of the threads" if mapping.page_policy == "first-touch" else "the mapping's page nodes"
    listed = ", ".join(str(node) for node in sorted(allowed))
    judged = f"any of {names} ({listed})" if len(allowed) > 1 else f"node {listed}"
    if decided and len(allowed) > 1:
        judged = f"the node decided for each, or where none was on {judged}"
    yield f"verify: {right} of {pages} pages ({_percent(right, pages)}) stood on {judged}"
    undecided = sum(run.count for run in runs if run.wanted == NOWHERE)
    if decided and undecided and len(allowed) > 1:
        yield f"verify: for {undecided} of them ({_percent(undecided, pages)}) no node was decided: any one is right"
    nodes: dict[int, int] = {}
    for run in runs:
        nodes[run.node] = nodes.get(run.node, 0) + run.count
    if len(nodes) > 1:
        shares = ", ".join(f"node {node} {_percent(count, pages)}" for node, count in sorted(nodes.items()))
        yield f"verify: pages by node: {shares}"
    yield from _astray_in_words([tallied for tallied in tallies if tallied.right < tallied.pages])


def _unseen_in_words(found: PlacementMap) -> Iterator[str]:
    """Return what there is besides, which the library neither places nor looks at."""
    what = {
        "shared": "shared memory",
        "private": "other memory (stacks, heaps of threads, what was reserved first, the library's own)",
    }
    parts = [f"{pages} pages of {what.get(kind, kind)}" for kind, pages in reversed(found.unseen) if pages]
    if parts:
        yield f"verify: not placed and not looked at: {', '.join(parts)}"


def _astray_in_words(astray: list[RangeTally]) -> Iterator[str]:
    if not astray:
        return
    yield f"  {'pages':>10} {'astray':>10}  range (where they stood)"
    for tallied in astray[:_SHOWN_RANGES]:
        where = ", ".join(f"node {node}: {count}" for node, count in tallied.elsewhere)
        yield f"  {tallied.pages:>10} {tallied.pages - tallied.right:>10}  {tallied.name} ({where})"
    if len(astray) > _SHOWN_RANGES:
        yield f"  and {len(astray) - _SHOWN_RANGES} more ranges"


def _percent(part: int, whole: int) -> str:
    """Return a share; rounding never makes a whole of what is not."""
    share = 100 * part / whole
    return "100%" if part == whole else f"{min(share, 99.9):.1f}%"
