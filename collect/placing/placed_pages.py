"""The actual placement of a program's threads and pages, which the preload library read from the kernel.

The file's contract is native/placement/policy/verify.h; this is its only reader.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from numapredict.native.errors import InvalidInputError

FIRST_LINE = "numaplace-map 1"
KINDS = {1: "heap", 2: "static", 3: "mapped", 4: "rest", 5: "small blocks in", 6: "file"}
NOWHERE = -1
PAGE_BYTES = 4096  # native/placement/memory/range.h
_HEADS = {"rank": 2, "forked": 1, "file": 2}  # what a process is, or its next range, by so many numbers


class PlacedThread(msgspec.Struct, frozen=True):
    """How often the threads of one slot ended their share of a region on its PU, and elsewhere."""

    process: int
    slot: int
    pu: int
    right: int
    wrong: int


class PlacedPool(msgspec.Struct, frozen=True):
    """The threads that a process started itself, outside regions: how many there were, worked, and had a PU each then.

    ``main_works``: the main thread works beside them or has parallel regions, rather than waiting; ``main_bound``: it
    has a PU of its own.
    """

    process: int
    main_works: bool
    main_bound: bool
    threads: int
    worked: int
    bound: int


class PlannedTeam(msgspec.Struct, frozen=True):
    """What became of a planned region's team of ``threads``: the plan's regions by key (native/regions/region_file.h).

    Of ``instances`` that should have had it, ``applied`` had it; its threads began their shares ``right`` times on
    their PU alone; ``wrong`` times not, or did not end them so.
    """

    process: int
    key: int
    threads: int
    instances: int
    applied: int
    right: int
    wrong: int


class RegionMoves(msgspec.Struct, frozen=True):
    """What was moved for a planned region, by its key: before ``times`` instances; ``pages`` were there then."""

    process: int
    key: int
    times: int
    pages: int


class PageRun(msgspec.Struct, frozen=True):
    """Neighbouring pages of a range on the same node (OS index, -1: never touched).

    ``wanted`` is the node that the library had decided on last, -1 where the policy left it to the kernel.
    """

    first: int
    count: int
    node: int
    wanted: int


class PlacedRange(msgspec.Struct, frozen=True):
    """The pages of one range, ``pages`` of them from page number ``start`` of the address space, as runs of equals.

    ``key`` identifies the range in a page-access profile: its kind, site, slot and order. Of a file's pages that are
    elsewhere, so many ``others`` are other processes', too, and the kernel does not move them. ``file``: its device and
    inode, empty where the range is no mapping of a file.
    """

    process: int
    key: tuple[int, int, int, int]
    module: str
    offset: int
    pages: int
    start: int
    runs: tuple[PageRun, ...]
    others: int = 0
    file: tuple[int, ...] = ()

    @property
    def kind(self) -> int:
        """Return the range's kind, a key of KINDS."""
        return self.key[0]

    @property
    def name(self) -> str:
        """Return the range's name in messages: its kind, and the module and offset that made it."""
        kind = KINDS.get(self.kind, "?")
        return f"{kind} {Path(self.module).name}" + (f"+{self.offset:#x}" if self.offset else "")


class Rank(msgspec.Struct, frozen=True):
    """A process is rank ``number`` of ``count`` that share the mapping."""

    process: int
    number: int
    count: int


class ForkedChild(msgspec.Struct, frozen=True):
    """A process is a forked child of ``parent``; ``unplaced``: it found the PUs taken by others."""

    process: int
    parent: int
    unplaced: bool = False


class PlacementMap(msgspec.Struct, frozen=True):
    """Threads and ranges of all processes of a run.

    ``late``: an OpenMP runtime was loaded while a program ran, so that memory from before its first region is missing.
    ``left``: ranges that were left to the kernel, which would have run out of mappings
    (native/placement/memory/mapping_budget.h).
    ``unplaced``: the number of processes that found the PUs taken by others, and ``free`` how often a team, or a thread
    that a program started itself, of another process did, and was not bound. ``brief``: threads that began where
    their creator ran, as all before them had ended at once. ``unasked``: ranges that were freed and not looked at,
    which would have slowed the program. ``unseen``: pages by kind of memory that the library does
    not place. ``ranks``: the processes of a parallel job that are ranks. ``forked``: forked
    children with regions, in the order of their first ones.
    """

    threads: tuple[PlacedThread, ...]
    ranges: tuple[PlacedRange, ...]
    late: bool = False
    left: int = 0
    unplaced: int = 0
    free: int = 0
    brief: int = 0
    unasked: int = 0
    unseen: tuple[tuple[str, int], ...] = ()
    teams: tuple[PlannedTeam, ...] = ()
    moves: tuple[RegionMoves, ...] = ()
    pools: tuple[PlacedPool, ...] = ()
    ranks: tuple[Rank, ...] = ()
    forked: tuple[ForkedChild, ...] = ()

    def of_rank(self, number: int) -> "PlacementMap":
        """Return the threads and ranges of one rank's processes."""
        return self.of({rank.process for rank in self.ranks if rank.number == number})

    def of(self, processes: set[int]) -> "PlacementMap":
        """Return the threads and ranges of some processes."""
        return PlacementMap(
            tuple(thread for thread in self.threads if thread.process in processes),
            tuple(placed for placed in self.ranges if placed.process in processes),
        )


def parse_map(text: str) -> PlacementMap:
    """Return the map that a file's text holds; raise InvalidInputError, with the line, for another text."""
    threads: list[PlacedThread] = []
    ranges: list[PlacedRange] = []
    counted: list[PlannedTeam | RegionMoves | PlacedPool] = []
    process = -1
    said: dict[str, set[int]] = {"late": set(), "unplaced": set()}
    counts: Counter[str] = Counter()
    heads: dict[str, dict[int, tuple[int, ...]]] = {word: {} for word in _HEADS}
    head: tuple[tuple[int, int, int, int], str, int, int, int] | None = None
    runs: list[PageRun] = []

    def end_range() -> None:
        if head is not None:
            file = heads["file"].pop(process, ())
            ranges.append(PlacedRange(process, *head, tuple(runs), counts.pop("others", 0), file))

    for number, line in enumerate(text.splitlines(), 1):
        try:
            word, *rest = line.split(" ")
            if line.startswith(f"{FIRST_LINE} "):
                end_range()
                head, process = None, int(line.removeprefix(FIRST_LINE))
            elif process < 0:
                raise ValueError("the first line must name the version")
            elif line in said:
                said[line].add(process)
            elif word in {"left", "free", "brief", "unasked", "unseen", "others"}:
                kind = rest.pop(0) if word == "unseen" else word
                counts[kind] += _numbers(rest, 1)[0]
            elif word in heads:
                heads[word][process] = _numbers(rest, _HEADS[word])
            elif word == "thread":
                threads.append(PlacedThread(process, *_numbers(rest, 4)))
            elif word in {"team", "moves", "pool"}:
                counted.append(_counted(word, process, rest))
            elif word == "range":
                end_range()
                key = (int(rest[0]), int(rest[1], 16), int(rest[2]), int(rest[3]))
                head = (key, " ".join(rest[7:]), int(rest[6], 16), int(rest[4]), int(rest[5], 16))
                runs = []
            elif word == "at" and head is not None:
                runs.append(PageRun(*_numbers(rest, 4)))
            else:
                raise ValueError("no such line")
        except (ValueError, IndexError, TypeError) as error:
            raise InvalidInputError(
                f"line {number} of the map is {line[:60]!r}, which cannot be read: {error}"
            ) from None
    end_range()
    left, free, brief, unasked = (counts.pop(word, 0) for word in ("left", "free", "brief", "unasked"))
    return PlacementMap(
        threads=tuple(threads),
        ranges=tuple(ranges),
        late=bool(said["late"]),
        left=left,
        unplaced=len(said["unplaced"]),
        free=free,
        brief=brief,
        unasked=unasked,
        unseen=tuple(sorted(counts.items())),
        teams=tuple(one for one in counted if isinstance(one, PlannedTeam)),
        moves=tuple(one for one in counted if isinstance(one, RegionMoves)),
        pools=tuple(one for one in counted if isinstance(one, PlacedPool)),
        ranks=tuple(Rank(process, *numbers) for process, numbers in heads["rank"].items()),
        forked=tuple(ForkedChild(child, of[0], child in said["unplaced"]) for child, of in heads["forked"].items()),
    )


def read_map(path: Path) -> PlacementMap | None:
    """Return the map in a file, or None when there is none; raise InvalidInputError for another file."""
    try:
        return parse_map(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


class RangeTally(msgspec.Struct, frozen=True):
    """The pages of all ranges of one name: in all, on a node that the mapping names, and on which others.

    So many ``others`` of a file's are not there because other processes have them in use, too.
    """

    name: str
    pages: int
    right: int
    elsewhere: dict[int, int]
    others: int = 0


def pages_once(ranges: tuple[PlacedRange, ...]) -> tuple[PlacedRange, ...]:
    """Return the ranges with each page of a file in the last one alone that has it in memory."""
    seen: defaultdict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    return tuple(
        replace(placed, runs=tuple(_unseen(placed, seen[placed.file]))) if placed.file else placed
        for placed in reversed(ranges)
    )[::-1]


def _unseen(placed: PlacedRange, seen: list[tuple[int, int]]) -> Iterator[PageRun]:
    """Yield the runs of a file's range whose pages are not in ``seen``, and add them there, as first page and end."""
    before = placed.offset // PAGE_BYTES
    for run in placed.runs:
        if run.node == NOWHERE:
            continue
        at, end = before + run.first, before + run.first + run.count
        low, high = bisect_left(seen, at, key=lambda part: part[1]), bisect_right(seen, end, key=lambda part: part[0])
        near = seen[low:high]
        seen[low:high] = [(min([at, *(part[0] for part in near)]), max([end, *(part[1] for part in near)]))]
        for first, after in [*near, (end, end)]:
            if first > at:
                yield replace(run, first=at - before, count=first - at)
            at = max(at, after)


def tally(
    ranges: tuple[PlacedRange, ...],
    allowed: frozenset[int],
    of_process: Mapping[int, frozenset[int]] = MappingProxyType({}),
) -> tuple[RangeTally, ...]:
    """Return how many pages of the ranges were on the right node, by range name, the worst first.

    That is the node that the library had decided on, and where it decided on none, any of ``allowed``, or of those
    ``of_process``.
    """
    names: dict[str, Counter[tuple[bool, int]]] = {}
    others: Counter[str] = Counter()
    for placed in ranges:
        others[placed.name] += placed.others
    for name, node, right, count in _judged(ranges, allowed, of_process):
        names.setdefault(name, Counter())[right, node] += count
    tallies = [
        RangeTally(
            name,
            pages=sum(found.values()),
            right=sum(count for (right, _), count in found.items() if right),
            elsewhere={node: count for (right, node), count in sorted(found.items()) if not right},
            others=min(others[name], sum(count for (right, _), count in found.items() if not right)),
        )
        for name, found in names.items()
    ]
    return tuple(sorted(tallies, key=lambda tallied: (tallied.right - tallied.pages, tallied.name)))


def _judged(
    ranges: tuple[PlacedRange, ...], allowed: frozenset[int], of_process: Mapping[int, frozenset[int]]
) -> Iterator[tuple[str, int, bool, int]]:
    for placed in ranges:
        nodes = of_process.get(placed.process, allowed)
        for run in placed.runs:
            if run.node != NOWHERE:
                right = run.node in nodes if run.wanted == NOWHERE else run.node == run.wanted
                yield placed.name, run.node, right, run.count


def _counted(word: str, process: int, rest: list[str]) -> PlannedTeam | RegionMoves | PlacedPool:
    if word == "pool":
        main_works, main_bound, *threads = _numbers(rest, 5)
        return PlacedPool(process, bool(main_works), bool(main_bound), *threads)
    key = int(rest[0], 16)
    if word == "team":
        return PlannedTeam(process, key, *_numbers(rest[1:], 5))
    return RegionMoves(process, key, *_numbers(rest[1:], 2))


def _numbers(words: list[str], count: int) -> tuple[int, ...]:
    if len(words) != count:
        raise ValueError(f"{count} numbers are missing")
    return tuple(int(word) for word in words)
