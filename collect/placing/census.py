"""The census: a program's parallel regions, with the count and time of each, from one native run.

The file's contract is native/regions/region_file.h; this is its only reader. A region is identified by its module and
the offset of its outlined function, so that the census of one run applies to the trace of another.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.host.bounded_file import open_regular, read_bounded
from numapredict.collect.placing.exit_code import exit_code_in

MOST_BYTES = 64 << 20  # native/regions/region_file.h has room for far less
MAGIC = 0x374F49474552554E  # NUREGIO7
MOST_PROCESSES = 64  # of a run that have a file: REGION_FILES
CENSUS_THREADS = 2  # are requested in the run that counts
_ENTRIES = 4096  # there is room for; the text begins behind it
_TEXT_BYTES = 256 << 10
_WORKS = 40960  # there is room for, behind the text
_KINDS = 1500  # there is room for, behind the works
_HEADER = np.dtype(
    [
        *(
            (name, "<u8")
            for name in (
                "magic",
                "pid",
                "start_ns",
                "first_region_ns",
                "last_ns",
                "regions",
                "dropped",
                "exited",
                "forked_from",
            )
        ),
        ("rank", "<u4"),
        ("ranks", "<u4"),
        ("program", "<u8"),
    ]
)
_PASSED_UNIT_S = 1e-5
_LAST_NS = 4 * 8  # where the header has it
_ENTRY = np.dtype(
    [
        ("key", "<u8"),
        ("count", "<u8"),
        ("time_ns", "<u8"),
        ("offset", "<u8"),
        ("team", "<u4"),
        ("path", "<u4"),
        ("module", "S88"),
        ("count_of_others", "<u8"),
        ("time_ns_of_others", "<u8"),
        ("running_ns", "<u8"),
        ("running_of_others", "<u8"),
        ("began_ns_of_others", "<u8"),
        ("barriers", "<u8"),
        ("passed_at", "<u4", (32,)),
    ]
)
_WORK = np.dtype([("entry", "<u4"), ("time_ns", "<u4"), ("longest_ns", "<u4")])
_WORKS_AT = _HEADER.itemsize + _ENTRIES * _ENTRY.itemsize + _TEXT_BYTES
_KIND = np.dtype(
    [
        ("time_ns", "<u8"),
        ("work_ns", "<u8"),
        *((name, "<u4") for name in ("count", "depth", "entry", "team", "length", "work")),
        ("number", "<u4", (6,)),
    ]
)
_KINDS_AT = _WORKS_AT + 8 + _WORKS * _WORK.itemsize
FILE_BYTES = _KINDS_AT + _KINDS * _KIND.itemsize


class InstanceKind(msgspec.Struct, frozen=True):
    """``count`` instances of a region that took ``time_s`` together, each about as long, with ``team`` threads.

    ``work_s`` is the processor time of these in all, about the same in each; 0 where it is little or not known. All
    began as deep in the stack: ``depth`` is the same for these and another one for other callers. ``numbers`` are some
    of them, from 0, ascending.
    """

    depth: int
    team: int
    count: int
    time_s: float
    numbers: tuple[int, ...]
    work_s: float = 0.0

    @property
    def mean_s(self) -> float:
        """Return how long one of them took."""
        return self.time_s / self.count

    @property
    def mean_work_s(self) -> float:
        """Return the work of one of them."""
        return self.work_s / self.count


class CensusRegion(msgspec.Struct, frozen=True):
    """One parallel region: ``count`` instances that took ``time_s`` together, with ``team`` threads.

    ``module`` is a file name and ``path`` the whole one, empty where it is not known. The last ``unfinished`` instances
    had not ended when the run did; their time is that until then. ``barriers`` were passed inside by each thread, in
    all instances together; 0 where not counted. ``passed_s``: the first instance's seconds until 1, 2, 4, 8, ... of
    them. ``work_s``: the processor seconds of all threads' shares together, in each of the first instances in
    their order, and ``longest_s`` those of the thread that had most; none where several threads start the region.
    ``kinds`` are those of its instances that ended, where they are listed.
    """

    key: int
    count: int
    time_s: float
    offset: int
    team: int
    module: str
    path: str = ""
    unfinished: int = 0
    barriers: int = 0
    passed_s: tuple[float, ...] = ()
    work_s: tuple[float, ...] = ()
    longest_s: tuple[float, ...] = ()
    kinds: tuple[InstanceKind, ...] = ()

    @property
    def name(self) -> str:
        """Return the region's name in messages: its module and offset."""
        return f"{self.module}+{self.offset:#x}"


@dataclass(frozen=True)
class Census:
    """The regions of one run, in the order in which they first began.

    ``time_s`` is the run's time until its end or until it was stopped; ``complete`` says which of the two.
    ``exit_code`` is the run's, 0 where it was stopped. ``process`` is its number, and ``forked_from`` that of the
    process whose forked child it is, 0 where it began as a program. It is rank ``rank`` of ``ranks``, 0 of 0 if of
    none. ``program`` is the path of its program, empty where it is not known.
    """

    regions: tuple[CensusRegion, ...]
    time_s: float
    before_first_region_s: float
    complete: bool
    exit_code: int = 0
    process: int = 0
    forked_from: int = 0
    rank: int = 0
    ranks: int = 0
    program: str = ""

    @property
    def region_time_s(self) -> float:
        """Return the time spent in parallel regions."""
        return sum(region.time_s for region in self.regions)


def parse_census(data: bytes) -> Census | None:
    """Return the census that a file holds, or None when no region had begun by then."""
    if len(data) < _HEADER.itemsize:
        return None
    header = np.frombuffer(data, _HEADER, 1)[0]
    if int(header["magic"]) != MAGIC:
        return None
    room = (len(data) - _HEADER.itemsize) // _ENTRY.itemsize
    entries = np.frombuffer(data, _ENTRY, min(int(header["regions"]), room), _HEADER.itemsize)
    text = data[_HEADER.itemsize + _ENTRIES * _ENTRY.itemsize : _WORKS_AT]
    works, kinds = _works(data), _kinds(data)
    start, last = int(header["start_ns"]), int(header["last_ns"])
    found = (
        msgspec.structs.replace(
            _region(entry, text, works[works["entry"] == n], (start, last)),
            kinds=tuple(map(_kind, kinds[kinds["entry"] == n])),
        )
        for n, entry in enumerate(entries)
    )
    regions = tuple(region for region in found if region.count)
    if not regions:
        return None
    return Census(
        regions=regions,
        time_s=(last - start) * 1e-9,
        before_first_region_s=(int(header["first_region_ns"]) - start) * 1e-9,
        complete=bool(header["exited"]),
        exit_code=exit_code_in(data),
        process=int(header["pid"]),
        forked_from=int(header["forked_from"]),
        rank=int(header["rank"]),
        ranks=int(header["ranks"]),
        program=_path_in(text, int(header["program"])),
    )


def reserve_file(path: Path) -> None:
    """Make an empty census file with its disk space allocated, for the preload library to fill; raise OSError.

    The library cannot report a full disk, and other programs may fill the disk at any time.
    """
    with path.open("xb") as file:
        os.posix_fallocate(file.fileno(), 0, FILE_BYTES)


def stopped(data: bytes, at_ns: int) -> bytes:
    """Return a census file's bytes with the stop time (CLOCK_MONOTONIC) of its process, unless that had ended.

    Regions still running in the file count until then.
    """
    header = np.frombuffer(data, _HEADER, 1)[0] if len(data) >= _HEADER.itemsize else None
    if header is None or int(header["exited"]) or int(header["magic"]) != MAGIC:
        return data
    return data[:_LAST_NS] + at_ns.to_bytes(8, "little") + data[_LAST_NS + 8 :]


def _region(entry: np.void, text: bytes, works: npt.NDArray[np.void], time_ns: tuple[int, int]) -> CensusRegion:
    """Return the region of an entry; ``time_ns``: when the file begins, and its last time, until which regions run."""
    start_ns, last_ns = time_ns
    several = entry["count_of_others"] or entry["running_of_others"]
    running, began_ns = int(entry["running_of_others"]), int(entry["began_ns_of_others"])
    so_far_ns = min(max(running * last_ns - began_ns, 0), running * max(last_ns - start_ns, 0))
    if entry["running_ns"]:
        running += 1
        so_far_ns += max(last_ns - max(int(entry["running_ns"]), start_ns), 0)
    return CensusRegion(
        key=int(entry["key"]),
        count=int(entry["count"]) + int(entry["count_of_others"]) + running,
        time_s=(int(entry["time_ns"]) + int(entry["time_ns_of_others"]) + so_far_ns) * 1e-9,
        offset=int(entry["offset"]),
        team=int(entry["team"]),
        module=bytes(entry["module"]).decode(errors="replace"),
        path=_path_in(text, int(entry["path"])),
        unfinished=running,
        barriers=int(entry["barriers"]),
        passed_s=_passed_s(entry["passed_at"]),
        work_s=() if several else tuple((works["time_ns"] * 1e-9).tolist()),
        longest_s=() if several else tuple((works["longest_ns"] * 1e-9).tolist()),
    )


def _works(data: bytes) -> npt.NDArray[np.void]:
    """Return the listed work of instances, none in a file that ends before."""
    if len(data) < _WORKS_AT + 8:
        return np.empty(0, _WORK)
    used = int.from_bytes(data[_WORKS_AT : _WORKS_AT + 8], "little")
    room = (len(data) - _WORKS_AT - 8) // _WORK.itemsize
    return np.frombuffer(data, _WORK, min(used, room, _WORKS), _WORKS_AT + 8)


def _kinds(data: bytes) -> npt.NDArray[np.void]:
    """Return the kinds of instances that are listed, none in a file that ends before."""
    room = max(len(data) - _KINDS_AT, 0) // _KIND.itemsize
    kinds = np.frombuffer(data, _KIND, min(room, _KINDS), _KINDS_AT if room else 0)
    return kinds[kinds["count"] > 0]


def _kind(kind: np.void) -> InstanceKind:
    count = int(kind["count"])
    numbers = kind["number"][: min(count.bit_length(), len(kind["number"]))]
    return InstanceKind(
        int(kind["depth"]),
        int(kind["team"]),
        count,
        int(kind["time_ns"]) * 1e-9,
        tuple(sorted(map(int, numbers))),
        int(kind["work_ns"]) * 1e-9,
    )


def _passed_s(units: npt.NDArray[np.uint32]) -> tuple[float, ...]:
    """Return the times up to the first that is missing; none is earlier than the one before."""
    known = units[: int((units != 0).cumprod().sum())]
    return tuple(float(at) * _PASSED_UNIT_S for at in np.maximum.accumulate(known))


def _path_in(text: bytes, start: int) -> str:
    """Return the path that begins there and ends with a zero byte; 0 means none."""
    return os.fsdecode(text[start : text.find(b"\0", start)]) if start else ""


def region_time_so_far(path: Path, at_ns: int) -> float | None:
    """Return the seconds in parallel regions of the program that writes a file, by a time (CLOCK_MONOTONIC).

    None where no region had begun. At most the time since the program began, where threads run regions side by side.
    """
    found = census_so_far(path, at_ns)
    return None if found is None else min(found.region_time_s, found.time_s)


def census_so_far(path: Path, at_ns: int) -> Census | None:
    """Return the census of a program that is writing it, by a time (CLOCK_MONOTONIC); None before its first region."""
    try:
        with open_regular(path) as file:
            header = file.read(_HEADER.itemsize)
            used = int(np.frombuffer(header, _HEADER, 1)[0]["regions"]) if len(header) == _HEADER.itemsize else 0
            return parse_census(stopped(header + file.read(min(used, _ENTRIES) * _ENTRY.itemsize), at_ns))
    except OSError:
        return None


def read_census(path: Path) -> Census | None:
    """Return the census in a file, or None when there is none."""
    try:
        return parse_census(read_bounded(path, MOST_BYTES))
    except OSError:
        return None
