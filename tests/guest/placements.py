"""Programs under mappings with the preload library in a guest, and what the kernel says of each."""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import PlacedRange, parse_map
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.space import full_space
from tests.guest.batch import HUGE, JOINING_PAUSE, Batch, Said, Setting

NOWHERE = -1
REST = 4  # native/placement/policy/verify.h: what no range covers
ARRAY = 0  # what a program tells of itself; the library's kinds begin with 1
ARRAY_SLACK = 2  # pages: an array lies within a range, and has fewer whole pages
HUGE_PAGES = 512
HUGE_RANGE_PAGES = 1024  # native/placement/memory/huge.h: smaller ranges are placed page by page
REPORTED = re.compile(rb" (threads|seconds)=\S+")  # what a codelet says of its run, beside its result


class Subject(msgspec.Struct, frozen=True):
    """A program to run; `{threads}` in its arguments stands for the mapping's.

    ``owned``: page p of P of each of its ranges is used by thread p * threads / P alone; ``touched_by_owner``: and that
    thread touched it first, where otherwise the main thread did. ``tells``: it asks the kernel itself where the pages
    of its arrays are and writes that down (programs/arrays.h).
    """

    name: str
    command: tuple[str, ...]
    owned: bool = False
    touched_by_owner: bool = False
    tells: bool = False


class Request(msgspec.Struct, frozen=True):
    """What to run; all mappings of the guest where no labels are given. Every ``of``-th mapping, from ``part`` on.

    Each mapping runs with every subject, or by ``lock`` with one. ``huge``: the kernel gives huge pages meanwhile.
    ``weighing``: the kernel has the weights of each mapping.
    """

    subjects: tuple[Subject, ...]
    labels: tuple[str, ...] = ()
    part: int = 0
    of: int = 1
    lock: bool = False
    huge: bool = False
    weighing: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """One program under one mapping: its behaviour against a run without the library, and where everything stood.

    ``placed`` of ``pages`` pages are on a node where the mapping may have them, by what this module works out itself;
    ``kept`` of ``decided`` pages are on the node that the library had decided on. ``loads`` are the ranges' pages by
    node, ``rest`` the judged pages outside of ranges, and ``huge`` the blocks of 2 MB that are judged as one page.
    ``reported_right`` of ``reported`` pages of its arrays are where they may be, as the kernel reports to the program;
    ``reported_loads`` by node, without the library. ``silent``: it should have reported and did not.
    """

    subject: str
    label: str
    same: bool
    message: str
    threads: tuple[int, ...]
    threads_right: int
    threads_wrong: int
    pages: int
    placed: int
    decided: int
    kept: int
    loads: dict[int, int]
    rest: int
    huge: int
    reported: int
    reported_right: int
    reported_loads: dict[int, int]
    silent: bool


class Range(msgspec.Struct):
    """One range of a map: its first page's number, and page by page its node and the one that the library wanted."""

    kind: int
    start: int
    nodes: list[int]
    wanted: list[int]


class Planned(msgspec.Struct, frozen=True):
    """A run that is in a batch: what names it there, the same without the library, and the files that it writes."""

    subject: Subject
    mapping: Mapping
    plain: Path
    placed: Path
    map: Path
    nodes: Path


def prepared(request: Request, batch: Batch) -> Generator[None, None, list[Outcome]]:
    """Add the runs of a request to a batch, and when they have run return what came of them."""
    mappings = [parse_label(label) for label in request.labels] or list(full_space(batch.topology))
    plain: dict[tuple[str, ...], Path] = {}
    runs: list[Planned] = []
    with contextlib.ExitStack() as settings:
        if request.huge:
            # Before huge pages are allowed: khugepaged would join the pages of two ranges, where a run takes long.
            settings.enter_context(batch.setting(JOINING_PAUSE, "3600000"))
            settings.enter_context(batch.setting(HUGE, "always"))
        for turn, mapping in enumerate(mappings[request.part :: request.of]):
            at = turn % len(request.subjects)
            subjects = request.subjects[at : at + 1] if request.lock else request.subjects
            with contextlib.ExitStack() as weights:
                for setting, weight in kernel_weights(batch.placement(mapping.label)) if request.weighing else ():
                    weights.enter_context(batch.setting(setting, weight))
                runs += [_planned(subject, mapping, batch, plain) for subject in subjects]
    yield
    return [_outcome(run, batch, huge=request.huge) for run in runs]


def kernel_weights(placement: Placement) -> list[tuple[Setting, str]]:
    """Return the settings by which the kernel has the weights of a placement; 1 is usual there."""
    weights = Counter(placement.os_indices(placement.chunks))
    folder = Path("/sys/kernel/mm/mempolicy/weighted_interleave")
    return [(Setting(folder / f"node{node}", "1"), str(weight)) for node, weight in weights.items()]


def _planned(subject: Subject, mapping: Mapping, batch: Batch, plain: dict[tuple[str, ...], Path]) -> Planned:
    command = tuple(word.replace("{threads}", str(mapping.threads)) for word in subject.command)
    if command not in plain:
        plain[command] = batch.add(command, {"OMP_NUM_THREADS": str(min(mapping.threads, 4))})
    map_file, nodes = batch.new_file("map"), batch.new_file("nodes")
    environment = batch.placed(mapping.label, PlacementFiles(map=str(map_file)), {"NODES": str(nodes)})
    return Planned(subject, mapping, plain[command], batch.add(command, environment), map_file, nodes)


def _outcome(run: Planned, batch: Batch, *, huge: bool) -> Outcome:
    subject, plain, placed = run.subject, _compared(batch.said(run.plain)), _compared(batch.said(run.placed))
    placement = batch.placement(run.mapping.label)
    found = parse_map(run.map.read_text() if run.map.exists() else "")
    threads, ranges = found.threads, [paged(placed) for placed in found.ranges]
    judge = Judge(placement, subject, huge=huge)
    judged = [judge.count(placed_range) for placed_range in ranges]
    arrays = reported_arrays(run.nodes)
    by_itself = Judge(placement, subject, huge=huge, slack=ARRAY_SLACK)
    reported_right = sum(by_itself.count(array)[1] for array in arrays)
    loads = Counter(node for one in ranges if one.kind != REST for node in one.nodes if node != NOWHERE)
    return Outcome(
        subject=subject.name,
        label=run.mapping.label,
        same=placed == plain,
        message="" if placed == plain else f"{plain} without, {placed} with",
        threads=tuple(sorted(thread.slot for thread in threads)),
        threads_right=sum(thread.right for thread in threads),
        threads_wrong=sum(thread.wrong for thread in threads),
        pages=sum(pages for pages, _ in judged),
        placed=sum(right for _, right in judged),
        decided=sum(sum(NOWHERE not in (w, n) for n, w in zip(r.nodes, r.wanted, strict=True)) for r in ranges),
        kept=kept_pages(ranges, huge=huge),
        loads=dict(loads),
        rest=sum(pages for one, (pages, _) in zip(ranges, judged, strict=True) if one.kind == REST),
        huge=sum(len(judge.huge_blocks(one)) for one in ranges),
        reported=sum(len(array.nodes) for array in arrays),
        reported_right=reported_right,
        reported_loads=dict(Counter(node for array in arrays for node in array.nodes)),
        silent=subject.tells and not arrays,
    )


def _compared(said: Said) -> tuple[int, bytes]:
    return said.code, REPORTED.sub(b"", said.stdout) + b"|" + said.stderr


def reported_arrays(file: Path) -> list[Range]:
    """Return what a program has found out about its arrays, each as a range."""
    lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    arrays = [(int(start), [int(node) for node in nodes]) for _, start, *nodes in lines]
    return [Range(ARRAY, start, nodes, [NOWHERE] * len(nodes)) for start, nodes in arrays]


def paged(placed: PlacedRange) -> Range:
    nodes, wanted = [NOWHERE] * placed.pages, [NOWHERE] * placed.pages
    for run in placed.runs:
        nodes[run.first : run.first + run.count] = [run.node] * run.count
        wanted[run.first : run.first + run.count] = [run.wanted] * run.count
    return Range(placed.kind, placed.start, nodes, wanted)


def kept_pages(ranges: Sequence[Range], *, huge: bool) -> int:
    """Return how many pages are on the node that the library had decided on.

    Two ranges may have parts of one huge page: the kernel joins the pages at their border when it finds the time
    (khugepaged), and then they move as one. Such a page stands where it was decided for either range.
    """
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for number, one in enumerate(ranges):
        for page, (node, wanted) in enumerate(zip(one.nodes, one.wanted, strict=True)):
            if NOWHERE not in (node, wanted):
                parts.setdefault((one.start + page) // HUGE_PAGES, []).append((number, node, wanted))
    kept = 0
    for pages in parts.values():
        numbers, nodes, wanted_nodes = (set(column) for column in zip(*pages, strict=True))
        joined = huge and len(numbers) > 1 and len(nodes) == 1 and nodes <= wanted_nodes
        kept += len(pages) if joined else sum(node == wanted for _, node, wanted in pages)
    return kept


class Judge:
    """Works out where pages may be, from the mapping and what is known of the program; nothing from the library.

    By so much ``slack`` in pages the range may have other borders than what is judged.
    """

    def __init__(self, placement: Placement, subject: Subject, *, huge: bool, slack: int = 0) -> None:
        self.slack = slack
        self.policy = placement.mapping.page_policy
        self.threads = placement.mapping.threads
        self.home = placement.os_indices(placement.homes)
        self.nodes = placement.os_page_nodes
        self.chunks = placement.os_indices(placement.chunks)
        self.subject = subject
        self.huge = huge

    def count(self, placed: Range) -> tuple[int, int]:
        """Return the pages of a range that anybody touched, and those of them that are where they may be."""
        if len(self.nodes) > 1 and placed.kind == REST and self.policy not in {"interleave", "first-touch"}:
            return 0, 0  # what no range covers is left to the fallback
        huge = self.huge_blocks(placed)
        inside = {page for block in huge for page in block}
        there = [(page, node) for page, node in enumerate(placed.nodes) if node != NOWHERE and page not in inside]
        total = len(placed.nodes)
        if self.policy == "interleave" and len(self.nodes) > 1:
            row, many = sorted(self.nodes), len(self.nodes)
            right = self._dealt_out(there) + max(
                sum(
                    len(block)
                    for block in huge
                    if row[((placed.start + block[0]) // HUGE_PAGES + turn) % many] == placed.nodes[block[0]]
                )
                for turn in range(many)
            )
        else:
            right = sum(node in self._allowed(page, total, placed.kind) for page, node in there)
            for block in huge:
                # A huge page goes where any of its pages may go: the first one, or the one touched first.
                allowed = set().union(*(self._allowed(page, total, placed.kind) for page in block))
                right += len(block) * (placed.nodes[block[0]] in allowed)
        return len(there) + len(inside), right

    def huge_blocks(self, placed: Range) -> list[range]:
        """Return the blocks of 2 MB of addresses that can be huge pages, or parts of them: all there, on one node."""
        if not self.huge or len(placed.nodes) < HUGE_RANGE_PAGES or placed.kind == REST:
            return []
        total = len(placed.nodes)
        first = -placed.start % HUGE_PAGES
        borders = [0, *range(first, total, HUGE_PAGES), total]
        blocks = [range(start, end) for start, end in itertools.pairwise(borders) if end - start > 1]
        return [
            block
            for block in blocks
            if placed.nodes[block[0]] != NOWHERE and len({placed.nodes[page] for page in block}) == 1
        ]

    def _dealt_out(self, there: list[tuple[int, int]]) -> int:
        """Return how many pages follow the round robin, wherever it begins."""
        row, many = sorted(self.nodes), len(self.nodes)
        return max(sum(row[(page + turn) % many] == node for page, node in there) for turn in range(many))

    def _allowed(self, page: int, total: int, kind: int) -> set[int]:
        if len(self.nodes) == 1:
            return set(self.nodes)
        if self.policy == "weighted":
            return set(self.chunks)
        if self.policy == "dataset":
            return {self.chunks[other * self.threads // total] for other in self._near(page, total, self.slack)}
        if self.policy == "locality" and self.subject.owned and kind != REST:
            return self._owners(page, total)
        at_home = set(self.home) <= set(self.nodes)
        if self.policy == "mix" and at_home and self.subject.owned and kind == ARRAY:  # each page has a dominant node
            return self._owners(page, total)
        if self.policy == "first-touch" and kind != REST and self.subject.owned:
            return self._owners(page, total) if self.subject.touched_by_owner else {self.home[0]}
        if self.policy in {"first-touch", "locality"}:
            return set(self.home)
        return set(self.nodes)

    def _owners(self, page: int, total: int) -> set[int]:
        """Return the homes of the threads that use a page: two where the page lies on a border of two."""
        return {self.home[other * self.threads // total] for other in self._near(page, total, 1 + self.slack)}

    def _near(self, page: int, total: int, steps: int) -> range:
        return range(max(page - steps, 0), min(page + steps, total - 1) + 1)
