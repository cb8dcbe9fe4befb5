"""The page-access profile: which thread slot touches which page how often, as the preload library sampled it.

The file's contract is native/placement/profile/profile_file.h; this is its only reader. Reading never runs code, and
all values are checked before use.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numapredict.collect.host.bounded_file import open_regular
from numapredict.collect.placing.profile_checks import check_touches, owned_by_group
from numapredict.collect.source.module_file import build_id_of
from numapredict.native.errors import InvalidInputError

MAGIC = 0x31464F525050554E
VERSION = 5
MOST_RANGES = 1 << 20
MOST_BYTES = 1 << 30
MOST_SLOTS = 4096  # native/placement/process/settings.h
MOST_NUMBERED = 1 << 16  # stacks, regions and modules
FRAMES = 16
BLOCKS = 7
"""The kind of a range that is a group of blocks."""
READ, WRITE = 1, 2  # native/placement/protection/touch.h: enum access; 0 is not known
_HEADER = np.dtype(
    [
        ("magic", "<u8"),
        *((name, "<u4") for name in ("version", "slots", "page_bytes", "ranges", "stacks", "regions", "modules")),
        ("placed", "<u4"),
        *((name, "<u8") for name in ("samples", "firsts", "text_bytes", "armed", "touched", "dropped")),
        *((name, "<u8") for name in ("time_ns", "waits", "owners", "pid")),
    ]
)
_RANGE = np.dtype(
    [
        *((name, "<u8") for name in ("site", "offset", "bytes", "pages", "first_sample", "samples", "first_first")),
        *((name, "<u8") for name in ("firsts", "start", "since_ns", "until_ns")),
        *(
            (name, "<u4")
            for name in (
                "module",
                "stack",
                "slot",
                "order",
                "kind",
                "stands_for",
                "watched",
                "written",
                "blocks",
                "block_bytes",
            )
        ),
    ]
)
SAMPLE = np.dtype(
    [
        ("page", "<u4"),
        *((name, "<u2") for name in ("slot", "access")),
        *((name, "<u4") for name in ("region", "armed", "touches")),
        *((name, "<u2") for name in ("page_node", "thread_node")),
        ("rate", "<f8"),
    ]
)
FIRST = np.dtype(
    [
        *((name, "<u4") for name in ("page", "pages", "touched")),
        ("slot", "<i4"),
        *((name, "<u4") for name in ("stack", "region", "access")),
    ]
)
_PLACE = np.dtype([("offset", "<u8"), ("module", "<u4"), ("reserved", "<u4")])
_STACK = np.dtype([("depth", "<u4"), ("reserved", "<u4"), ("frame", _PLACE, FRAMES)])
_MODULE = np.dtype([("path", "<u4"), ("build_id_bytes", "<u4"), ("build_id", "u1", 32)])
OWNER = np.dtype([(name, "<u4") for name in ("range", "page", "pages", "group", "group_page", "reserved")])
_WAITS = np.dtype([("range", "<u4"), ("reserved", "<u4"), ("touches", "<u4", 64)])
WAIT_BINS = 64
WAIT_BEGINS_S = np.array([0.0, *(0.25e-6 * (4 + at % 4) * 2 ** (at // 4) for at in range(WAIT_BINS - 1))])
"""Where the bins of waits begin; the last one is open."""
_PARTS = (
    ("ranges", _RANGE), ("samples", SAMPLE), ("firsts", FIRST), ("stacks", _STACK), ("regions", _PLACE),
    ("waits", _WAITS), ("owners", OWNER), ("modules", _MODULE),
)  # fmt: skip


class CodePlace(NamedTuple):
    """A place in a module's code: its path, empty for code of no file, and an address before relocation."""

    module: str
    offset: int


_NO_WAITS = np.zeros(WAIT_BINS, np.int64)


@dataclass(frozen=True, eq=False)
class ProfiledRange:
    """One range of ranges.h, and its samples: ``first`` to ``first + count - 1`` of the profile's.

    ``module`` and ``offset`` are its origin: the allocating call's last byte, or the static object, before relocation.
    ``stack`` has the calls that led to the allocation, that one first. ``firsts`` are FIRST records: the first touches
    of its parts, in page order; a part's pages before the one that was ``touched`` count to the part before. Parts
    without one were not touched, or not awaited. ``watched`` pages were protected for writes alone, for a moment in a
    region, and ``written`` of them were written then. ``waits`` counts its touches by how long they were waited for, in
    bins that begin at WAIT_BEGINS_S. Of a site whose ranges are freed soon, each ``stands_for`` so many. It was at the
    address ``start`` from ``since_s`` to ``until_s`` of CLOCK_MONOTONIC, to the end where that is infinite.

    One of kind BLOCKS is a group of ``blocks`` of the main heap, of ``block_bytes`` each, 0 where they differ: its
    pages are theirs in the order of their allocation, and ``size_bytes`` is the most that they had together.
    ``owned`` are OWNER records: where in the profile's ranges of the heap its pages were last.
    """

    kind: int
    site: int
    slot: int
    order: int
    pages: int
    first: int
    count: int
    module: str
    offset: int
    size_bytes: int = 0
    stack: tuple[CodePlace, ...] = ()
    watched: int = 0
    written: int = 0
    stands_for: int = 1
    start: int = 0
    since_s: float = 0.0
    until_s: float = math.inf
    blocks: int = 0
    block_bytes: int = 0
    firsts: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, FIRST))
    owned: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, OWNER))
    waits: npt.NDArray[np.int64] = field(default_factory=_NO_WAITS.copy)

    @property
    def first_slot(self) -> int:
        """Return the slot that touched its first page first, -1 where that is not known."""
        return int(self.firsts["slot"][0]) if len(self.firsts) and int(self.firsts["page"][0]) == 0 else -1


@dataclass(frozen=True, eq=False)
class Profile:
    """The profile of one run with ``slots`` threads; ``samples`` are SAMPLE records, those of a range in page order.

    ``armed`` counts the pages that were watched, ``touched`` those of them that were touched, ``dropped`` the samples
    without room; ``time_s`` is the run's time inside parallel regions. ``stacks`` and ``regions`` (their functions) are
    numbered from 1 on; ``build_ids`` has those of the modules, in hexadecimal, by path. ``placed`` says whether pages
    went elsewhere than first touch puts them; ``pid`` is the process that was profiled.
    """

    slots: int
    page_bytes: int
    ranges: tuple[ProfiledRange, ...]
    samples: npt.NDArray[np.void]
    armed: int
    touched: int
    dropped: int
    time_s: float = 0.0
    stacks: tuple[tuple[CodePlace, ...], ...] = ()
    regions: tuple[CodePlace, ...] = ()
    build_ids: Mapping[str, str] = field(default_factory=dict)
    placed: bool = False
    pid: int = 0


def read_profile(path: Path) -> Profile:
    """Return the profile in a file; raise InvalidInputError, in one line, where there is none or it is damaged.

    Only regular files are read, and of one without the right header no more than that.
    """
    try:
        with open_regular(path) as file:
            data, has = file.read(_HEADER.itemsize), os.fstat(file.fileno()).st_size
            wants = _size_bytes(data) if len(data) == _HEADER.itemsize else 0
            if wants == has > len(data):
                data += file.read(min(wants, MOST_BYTES) - len(data))
    except OSError as error:
        raise InvalidInputError(
            f"profile {path} cannot be read: {error.strerror}; make one with numapredict run --profile {path}"
        ) from None
    try:
        if wants and wants != has:
            raise ValueError(f"it has {has} bytes and should have {wants}")
        return parse_profile(data)
    except ValueError as error:
        raise InvalidInputError(
            f"{path} is no whole page-access profile: {error}; make it again with numapredict run --profile"
        ) from None


def check_builds(profile: Profile, path: Path) -> None:
    """Raise InvalidInputError where a file that the profile knows was built again since: its arrays are others."""
    for module, build in profile.build_ids.items():
        try:
            now = build_id_of(Path(module))
        except OSError:
            continue
        if now and now != build:
            raise InvalidInputError(
                f"{path} is a profile of another build of {module}: make it again with numapredict run --profile {path}"
            )


def is_profile(path: Path) -> bool:
    """Return whether a file is a whole page-access profile."""
    try:
        read_profile(path)
    except InvalidInputError:
        return False
    return True


def _size_bytes(header: bytes) -> int:
    """Return how long the file is by its header's word; 0 where it does not begin like a profile."""
    fields = np.frombuffer(header, _HEADER, 1)[0]
    if int(fields["magic"]) != MAGIC or int(fields["version"]) != VERSION:
        return 0
    return (
        _HEADER.itemsize + sum(int(fields[name]) * kind.itemsize for name, kind in _PARTS) + int(fields["text_bytes"])
    )


def parse_profile(data: bytes) -> Profile:
    """Return the profile that bytes hold; raise ValueError for what is wrong with them."""
    if len(data) < _HEADER.itemsize:
        raise ValueError("it is shorter than a header")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if int(header["magic"]) != MAGIC:
        raise ValueError("it does not begin like a profile")
    if int(header["version"]) != VERSION:
        raise ValueError(f"it has version {int(header['version'])}, and {VERSION} is known")
    if _size_bytes(data[: _HEADER.itemsize]) != len(data):
        raise ValueError(f"it has {len(data)} bytes and should have {_size_bytes(data[: _HEADER.itemsize])}")
    slots, numbered = int(header["slots"]), max(int(header[name]) for name in ("stacks", "regions", "modules"))
    if not 1 <= slots <= MOST_SLOTS or int(header["ranges"]) > MOST_RANGES or numbered > MOST_NUMBERED:
        raise ValueError(f"it tells of {slots} threads and {int(header['ranges'])} ranges")
    parts, at = {}, _HEADER.itemsize
    for name, kind in _PARTS:
        parts[name] = np.frombuffer(data, kind, int(header[name]), at)
        at += int(header[name]) * kind.itemsize
    check_touches(parts, slots)
    waits = _waits(parts["waits"], int(header["ranges"]))
    owned = owned_by_group(parts["owners"], parts["ranges"], BLOCKS)
    paths = _paths(parts["modules"], data[at:])
    stacks = tuple(_stack(record, paths) for record in parts["stacks"])
    return Profile(
        slots=slots,
        page_bytes=int(header["page_bytes"]),
        ranges=tuple(
            replace(
                _range(record, parts, paths, stacks),
                waits=waits.get(number, _NO_WAITS),
                owned=owned.get(number, parts["owners"][:0]),
            )
            for number, record in enumerate(parts["ranges"])
        ),
        samples=parts["samples"],
        armed=int(header["armed"]),
        touched=int(header["touched"]),
        dropped=int(header["dropped"]),
        time_s=int(header["time_ns"]) * 1e-9,
        stacks=stacks,
        regions=tuple(_place(record, paths) for record in parts["regions"]),
        build_ids={
            path: bytes(record["build_id"])[: int(record["build_id_bytes"])].hex()
            for path, record in zip(paths, parts["modules"], strict=True)
            if path and record["build_id_bytes"]
        },
        placed=bool(header["placed"]),
        pid=int(header["pid"]),
    )


def _waits(records: npt.NDArray[np.void], ranges: int) -> dict[int, npt.NDArray[np.int64]]:
    """Return the waits for the touches of each range that had some, by its number."""
    if len(records) and int(records["range"].max()) >= ranges:
        raise ValueError("there are waits for a range that is missing")
    return {int(record["range"]): record["touches"].astype(np.int64) for record in records}


def _range(
    record: np.void,
    parts: Mapping[str, npt.NDArray[np.void]],
    paths: Sequence[str],
    stacks: Sequence[tuple[CodePlace, ...]],
) -> ProfiledRange:
    names = ("first_sample", "samples", "first_first", "firsts", "pages", "stack", "module")
    first, count, first_first, firsts, pages, stack, module = (int(record[name]) for name in names)
    if first + count > len(parts["samples"]) or first_first + firsts > len(parts["firsts"]):
        raise ValueError("a range has samples beyond the last one")
    page = parts["samples"]["page"][first : first + count]
    touched = parts["firsts"][first_first : first_first + firsts]
    ends = touched["page"].astype(np.int64) + touched["pages"]
    if not 1 <= pages <= 1 << 32:  # struct plan_run holds 32 bits
        raise ValueError(f"a range has {pages} pages")
    if count and (int(page[-1]) >= pages or bool((page[1:] < page[:-1]).any())):
        raise ValueError("the pages of a range are not in order, or beyond its end")
    if firsts and (int(ends[-1]) > pages or bool((touched["page"][1:] < ends[:-1]).any())):
        raise ValueError("the first touches of a range are not in order, or beyond its end")
    at = touched["touched"].astype(np.int64)
    if firsts and bool(((at < touched["page"]) | (at >= ends)).any()):
        raise ValueError("a first touch is of a page that is not its part's")
    if not 1 <= int(record["stands_for"]) <= MOST_RANGES:
        raise ValueError(f"a range stands for {int(record['stands_for'])}")
    if stack > len(stacks) or module >= len(paths):
        raise ValueError("a range has a call stack or a module that is missing")
    return ProfiledRange(
        kind=int(record["kind"]),
        site=int(record["site"]),
        slot=int(record["slot"]),
        order=int(record["order"]),
        pages=pages,
        first=first,
        count=count,
        module=paths[module],
        offset=int(record["offset"]),
        size_bytes=int(record["bytes"]),
        stack=stacks[stack - 1] if stack else (),
        firsts=_from_the_touch_on(touched),
        watched=int(record["watched"]),
        written=int(record["written"]),
        stands_for=int(record["stands_for"]),
        start=int(record["start"]),
        since_s=int(record["since_ns"]) * 1e-9,
        until_s=int(record["until_ns"]) * 1e-9 or math.inf,
        blocks=int(record["blocks"]),
        block_bytes=int(record["block_bytes"]),
    )


def _from_the_touch_on(firsts: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return the first touches with the pages before one, in its part, as whose the part before is.

    Threads that each begin their own block at once touch parts first that begin in the block before, whose thread comes
    there last.
    """
    before, after = firsts[:-1], firsts[1:].copy()
    ends = before["page"] + before["pages"]
    same = (ends == after["page"]) & (before["slot"] >= 0) & (before["region"] == after["region"])
    moved = np.where(same & (after["region"] > 0), after["touched"] - after["page"], 0).astype(np.uint32)
    found = firsts.copy()
    found["page"][1:] += moved
    found["pages"][1:] -= moved
    found["pages"][:-1] += moved
    return found


def _stack(record: np.void, paths: Sequence[str]) -> tuple[CodePlace, ...]:
    if int(record["depth"]) > FRAMES:
        raise ValueError("a call stack is too deep")
    return tuple(_place(frame, paths) for frame in record["frame"][: int(record["depth"])])


def _place(record: np.void, paths: Sequence[str]) -> CodePlace:
    if int(record["module"]) >= len(paths):
        raise ValueError("a module is missing")
    return CodePlace(paths[int(record["module"])], int(record["offset"]))


def _paths(modules: npt.NDArray[np.void], text: bytes) -> tuple[str, ...]:
    return tuple(_path(text, int(start)) for start in modules["path"])


def _path(text: bytes, start: int) -> str:
    end = text.find(b"\0", start)
    if start >= len(text) or end < 0:
        raise ValueError("a path is missing")
    return text[start:end].decode(errors="replace")
