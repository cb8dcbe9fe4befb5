"""The results of a placed run in words: the placement of threads and pages, the profile, a plan."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.index_list import index_list
from numapredict.collect.mapping import Mapping
from numapredict.collect.placing.page_plan import PagePlan, pages_of
from numapredict.collect.placing.placed_pages import PlacedPool, RangeTally
from numapredict.collect.placing.placed_run_record import (
    ForkedTally,
    MoveTally,
    ObservedPlacement,
    PageTally,
    RankTally,
    TeamTally,
    ThreadTally,
)
from numapredict.collect.placing.profile_file import Profile, read_profile
from numapredict.collect.source.short_names import short_name
from numapredict.collect.terminal.printable import counted, name_cell
from numapredict.native.errors import NumapredictError

_SHOWN_RANGES, _SHOWN_CHILDREN, _SHOWN_POOLS = 10, 16, 8


def placement_in_words(found: ObservedPlacement, mapping: Mapping) -> Iterator[str]:
    """Return lines on whether threads and pages were where the mapping puts them."""
    if found.unplaced:
        one = found.unplaced == 1
        yield (
            f"verify: {found.unplaced} {'process' if one else 'processes'} of the run found the mapping's PUs taken by"
            f" another one: {'it was' if one else 'they were'} left free on all of them, with pages by first touch, and"
            f" {'is' if one else 'are'} not counted here"
        )
    if found.free:
        yield (
            f"verify: {found.free} {'team or thread' if found.free == 1 else 'teams or threads'} found too few of the"
            " mapping's PUs free, and ran unbound on all of them"
        )
    if found.brief:
        yield (
            f"verify: {counted(found.brief, 'thread')} began where the creator ran: those before had ended within a"
            " millisecond, one after the other, and to begin on another PU would have cost more"
        )
    if found.threads.looked_at:
        yield _threads_in_words(found.threads, mapping)
    elif not found.unplaced or found.pages.looked_at:
        yield "verify: no threads were checked: the program did not end normally, or bound none"
    yield from map(_pool_in_words, found.pools[:_SHOWN_POOLS])
    if len(found.pools) > _SHOWN_POOLS:
        yield f"verify: and {len(found.pools) - _SHOWN_POOLS} more processes with threads of their own"
    if found.late:
        yield (
            "verify: the OpenMP runtime was loaded while the program ran: memory from before its first parallel region "
            "was left to the kernel, and is not counted here"
        )
    if found.left:
        yield (
            f"verify: {counted(found.left, 'range')} of memory went where the kernel puts new pages: placing more "
            "would have cost over half of the mappings that it allows a process (vm.max_map_count)"
        )
    if found.unasked:
        yield (
            f"verify: {counted(found.unasked, 'range')} of memory that the program freed could not be looked at, which"
            " would have taken over 2% of its time"
        )
    if found.pages.looked_at:
        yield from _pages_in_words(found.pages, mapping)
    elif not found.unplaced:
        yield "verify: no pages were checked"
    yield from _ranks_in_words(found.ranks)
    yield from _forked_in_words(found.forked)
    yield from map(_team_in_words, found.teams)
    yield from map(_moves_in_words, found.moves)
    yield from _unseen_in_words(found)


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
    pages = pages_of(plan)
    yield f"plan: {pages} pages of {len(plan.ranges)} of {len(profile.ranges)} ranges, in {runs} runs"
    if plan.rescaled_from is not None:
        yield (
            f"plan: the profile is of {plan.rescaled_from} threads and the mapping has {mapping.threads}: thread i of "
            f"the profile stands for i * {mapping.threads} // {plan.rescaled_from}"
        )
    if plan.block_pages > 1:
        yield f"plan: pages are placed {plan.block_pages} at a time, or the kernel would run out of mappings"


def _threads_in_words(found: ThreadTally, mapping: Mapping) -> str:
    text = f"verify: {found.right} of {found.looked_at} threads were bound to their PU at each check"
    if found.processes > 1:
        text += f", in {found.processes} processes"
    if found.slots < mapping.threads:
        text += f"; the program used {found.slots} of the mapping's {mapping.threads}"
    if found.misplaced:
        first = found.misplaced[0]
        text += f"; thread {first.slot} was off PU {first.pu} {first.wrong} times of {first.wrong + first.right}"
    return text


def _pool_in_words(found: PlacedPool) -> str:
    idle = found.threads - found.worked
    if not found.worked:
        return f"verify: {counted(idle, 'idle pool thread')} left free"
    which = f"{found.bound} of {found.worked} pool threads"
    bound = f"{which} {'was bound to' if found.bound == 1 else 'were bound each to'} its own PU"
    if not found.main_works:
        text = f"main thread only waits{'' if found.main_bound else ': left unbound'}; {bound}"
    elif found.main_bound:
        text = f"main thread and {which} were bound each to its own PU"
    else:
        text = f"main thread was left unbound; {bound}"
    return f"verify: {text}" + (f"; {counted(idle, 'idle one')} left free" if idle else "")


def _ranks_in_words(ranks: tuple[RankTally, ...]) -> Iterator[str]:
    if not ranks:
        return
    yield f"  {'rank':>6} {'threads':>8} {'bound':>6} {'pages':>10} {'right':>10}  nodes, PUs"
    for one in ranks:
        nodes, pus = index_list(one.pages.allowed), index_list(sorted(one.pus))
        yield (
            f"  {one.rank:>6} {one.threads.looked_at:>8} {one.threads.right:>6} {one.pages.looked_at:>10} "
            f"{one.pages.right:>10}  {nodes}, {pus or 'none'}"
        )


def _forked_in_words(children: tuple[ForkedTally, ...]) -> Iterator[str]:
    if not children:
        return
    yield f"  {'child':>8} {'of':>8} {'threads':>8} {'bound':>6} {'pages':>10} {'right':>10}  (forked)"
    for one in children[:_SHOWN_CHILDREN]:
        yield (
            f"  {one.process:>8} {one.forked_from:>8} {one.threads.looked_at:>8} {one.threads.right:>6} "
            f"{one.pages.looked_at:>10} {one.pages.right:>10}"
        )
    if len(children) > _SHOWN_CHILDREN:
        yield f"  and {len(children) - _SHOWN_CHILDREN} more children"
    unseen = sum(not (one.unplaced or one.threads.looked_at or one.pages.looked_at) for one in children)
    if unseen:
        yield (
            f"verify: of forked children, nothing was checked of {unseen} that a signal ended, or that had not ended "
            "with the run"
        )


def _team_in_words(found: TeamTally) -> str:
    team = f"verify: {name_cell(short_name(found.region))}, planned with {counted(found.threads, 'thread')}: "
    if not found.instances:
        return team + "it did not come often enough, or not in a program that ended normally"
    text = team + f"{found.applied} of {counted(found.instances, 'instance')} had so many"
    if found.applied < found.instances:
        text += " (the others kept the program's own: it says, or has just asked, how many there are)"
    return text + f"; {found.right} of {counted(found.looked_at, 'time')} a thread was bound to its PU"


def _moves_in_words(found: MoveTally) -> str:
    head = f"verify: {name_cell(short_name(found.region))}: "
    if not found.times:
        return head + "what it wants was there whenever it began, or it began in no program that ended normally"
    return head + f"arrays were moved for it {counted(found.times, 'time')}, {counted(found.pages, 'page')} in all"


def _pages_in_words(found: PageTally, mapping: Mapping) -> Iterator[str]:
    names = "the nodes of the threads" if mapping.page_policy == "first-touch" else "the mapping's page nodes"
    listed = ", ".join(str(node) for node in found.allowed)
    judged = f"any of {names} ({listed})" if len(found.allowed) > 1 else f"node {listed}"
    # By a plan pages may be decided for other nodes than the only one of the mapping.
    elsewhere = found.right > sum(count for node, count in found.nodes.items() if node in found.allowed)
    decided = found.undecided < found.looked_at and (len(found.allowed) > 1 or elsewhere)
    if decided:
        judged = f"the node decided for each, or where none was on {judged}"
    pages = found.looked_at
    yield f"verify: {found.right} of {pages} pages ({_percent(found.right, pages)}) were on {judged}"
    if decided and found.undecided:
        undecided = f"{found.undecided} of them ({_percent(found.undecided, pages)})"
        yield f"verify: for {undecided} no node was decided: any one is right"
    if len(found.nodes) > 1:
        shares = ", ".join(f"node {node} {_percent(count, pages)}" for node, count in found.nodes.items())
        yield f"verify: pages by node: {shares}"
    yield from _misplaced_in_words(found.misplaced)


def _unseen_in_words(found: ObservedPlacement) -> Iterator[str]:
    """Return lines on memory and processes that the library neither places nor checks."""
    what = {
        "shared": "shared memory",
        "private": "other memory (stacks, heaps of threads, what was reserved first, the library's own)",
    }
    parts = [f"{pages} pages of {what.get(kind, kind)}" for kind, pages in reversed(found.unseen.items()) if pages]
    if parts:
        yield f"verify: not placed and not checked: {', '.join(parts)}"


def _misplaced_in_words(misplaced: tuple[RangeTally, ...]) -> Iterator[str]:
    if not misplaced:
        return
    yield f"  {'pages':>10} {'misplaced':>10}  range (where they were)"
    for tallied in misplaced[:_SHOWN_RANGES]:
        where = ", ".join(f"node {node}: {count}" for node, count in tallied.elsewhere.items())
        yield f"  {tallied.pages:>10} {tallied.pages - tallied.right:>10}  {tallied.name} ({where})"
    if len(misplaced) > _SHOWN_RANGES:
        yield f"  and {len(misplaced) - _SHOWN_RANGES} more ranges"
    for tallied in misplaced:
        if tallied.others:
            yield (
                f"verify: other processes have {counted(tallied.others, 'page')} of {tallied.name} in use, too: the "
                "kernel moves none of these while they do"
            )


def _percent(part: int, whole: int) -> str:
    """Return a share in percent; rounding never gives 100 % for less."""
    share = 100 * part / whole
    return "100%" if part == whole else f"{min(share, 99.9):.1f}%"
