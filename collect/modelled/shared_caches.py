"""Shared caches: which private-cache misses of a trace reach memory, for one grouping of the threads on nodes.

The replay itself is native/replay/replay.h: set-associative, least recently used, coherent by MESI; one cache a node,
or several. A victim cache is replayed as one that is larger by the private caches of the cores in use: a line that it
takes in when they load it, not when they evict it, stays as much longer. The result does not depend on the pages'
nodes, so that one replay serves every page policy.
"""

import ctypes
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.phases import PhasedTrace
from numapredict.collect.modelled.thread_places import ThreadPlaces
from numapredict.native.errors import InvalidInputError
from numapredict.native.library import replay_library

# Kinds of accesses, by what the thread waits for.
STREAMED, INDEPENDENT, DEPENDENT, WRITTEN_BACK = 0, 1, 2, 3
KINDS = 4

_HIT, _MEMORY, _TRANSFER, _TRANSFER_WRITTEN = 0, 1, 2, 4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lines:
    """A phased trace's records, ready to be replayed on one machine with any grouping.

    L lines on P pages: ``line`` int32[R], ``page_of_line`` int32[L], ``set_of_line`` uint32[L], ``page`` int64[P] (page
    numbers, ascending).
    """

    phased: PhasedTrace
    line: npt.NDArray[np.int32]
    page_of_line: npt.NDArray[np.int32]
    set_of_line: npt.NDArray[np.uint32]
    page: npt.NDArray[np.int64]
    sets: int
    ways: int

    @cached_property
    def kind(self) -> npt.NDArray[np.int32]:
        """Return each record's kind, int32[R]."""
        flags = self.phased.flags
        kind = np.full(len(flags), INDEPENDENT, dtype=np.int32)
        kind[(flags & t.DEPENDENT) != 0] = DEPENDENT
        kind[(flags & t.STREAMING) != 0] = STREAMED
        kind[(flags & t.WRITEBACK) != 0] = WRITTEN_BACK
        return kind

    @cached_property
    def row(self) -> npt.NDArray[np.int32]:
        """Return each record's place in an array [phases, threads, KINDS], flattened, int32[R]."""
        phased = self.phased
        return (phased.phase * phased.threads + phased.thread) * np.int32(KINDS) + self.kind


@dataclass(frozen=True, eq=False)
class Demand:
    """The demand of one grouping, in records; M phases, T threads, N nodes.

    ``hits`` float64[M, T, KINDS]: in the thread's shared cache. ``transfers`` float64[M, T, KINDS, N]: modified lines
    from a cache of that node. E memory events: ``cell`` int32[E] in [M, T, KINDS] flattened, ``page`` int32[E].
    """

    hits: Floats
    transfers: Floats
    cell: npt.NDArray[np.int32]
    page: npt.NDArray[np.int32]
    nodes: int

    def by_memory_node(self, node_of_page: npt.NDArray[np.int32]) -> Floats:
        """Return the memory events by memory node, float64[M, T, KINDS, N], with the pages on these nodes, int32[P]."""
        sums = np.zeros((*self.hits.shape, self.nodes))
        placed = np.ascontiguousarray(node_of_page, dtype=np.int32)
        code = _library().replay_sum_by_node(
            len(self.cell),
            self.cell.ctypes.data,
            self.page.ctypes.data,
            placed.ctypes.data,
            len(placed),
            self.hits.size,
            self.nodes,
            sums.ctypes.data,
        )
        _check(code)
        return sums


def lines_of(phased: PhasedTrace, machine: MachineDescription, seed: int) -> Lines:
    """Return a trace's lines and pages by number, each line with its set in a shared cache of the machine."""
    address, line = np.unique(phased.line, return_inverse=True)
    page, page_of_line = np.unique(address >> np.uint64(t.PAGE_SHIFT - t.LINE_SHIFT), return_inverse=True)
    shift = phased.lines_per_record.bit_length() - 1
    shared = machine.shared_cache
    sets = max(shared.size_bytes // machine.line_bytes // shared.ways >> shift, 1)
    # The tracer kept lines whose hash has zero low bits; the next bits select among the remaining sets.
    chosen = (_hash(address, seed) >> np.uint64(shift)) % np.uint64(sets)
    return Lines(
        phased=phased,
        line=np.ascontiguousarray(line.ravel(), dtype=np.int32),
        page_of_line=page_of_line.ravel().astype(np.int32),
        set_of_line=chosen.astype(np.uint32),
        page=page.astype(np.int64),
        sets=sets,
        ways=shared.ways,
    )


def replay(lines: Lines, places: ThreadPlaces) -> Demand:
    """Replay a trace with each thread in its place and return the demand on the memory."""
    phased = lines.phased
    count = len(lines.line)
    flags = np.where(phased.flags & t.WRITEBACK, 2, phased.flags & t.STORE).astype(np.uint8)
    thread = phased.thread.astype(np.uint16)
    nodes = len(places.machine.nodes)
    cache_of = np.array(places.cache, dtype=np.int32)
    outcome = np.empty(count, dtype=np.uint8)
    supplier = np.empty(count, dtype=np.int8)
    evicted = np.empty(count, dtype=np.int32)
    given = _Input(
        count,
        lines.line.ctypes.data,
        flags.ctypes.data,
        thread.ctypes.data,
        len(lines.set_of_line),
        lines.set_of_line.ctypes.data,
        len(cache_of),
        cache_of.ctypes.data,
        len(places.cache_node),
        lines.sets,
        round(lines.ways * (1 + places.private_bytes / places.machine.shared_cache.size_bytes)),
    )
    _check(
        _library().replay_shared_caches(
            ctypes.byref(given), outcome.ctypes.data, supplier.ctypes.data, evicted.ctypes.data
        )
    )
    shape = (len(phased.weight), phased.threads, KINDS)
    hits = np.bincount(lines.row[outcome == _HIT], minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    handed = outcome == _TRANSFER_WRITTEN
    moved = (outcome == _TRANSFER) | handed
    source = places.cache_node[supplier[moved]]
    transfers = np.bincount(lines.row[moved] * nodes + source, minlength=int(np.prod(shape)) * nodes)
    missed, pushed = outcome == _MEMORY, evicted >= 0
    return Demand(
        hits=hits,
        transfers=transfers.reshape(*shape, nodes).astype(np.float64),
        cell=np.concatenate(
            [lines.row[missed], *(lines.row[by] // KINDS * KINDS + WRITTEN_BACK for by in (handed, pushed))]
        ).astype(np.int32),
        page=lines.page_of_line[np.concatenate([lines.line[missed], lines.line[handed], evicted[pushed]])],
        nodes=nodes,
    )


def _hash(line: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Return hash_line of native/tracer/private_cache.h for every line."""
    shift = np.uint64(33)
    h = line + np.uint64(seed)
    h = (h ^ (h >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> shift)


class _Input(ctypes.Structure):
    """struct replay_input of native/replay/replay.h."""

    _fields_ = (
        ("records", ctypes.c_int64),
        ("line", ctypes.c_void_p),
        ("flags", ctypes.c_void_p),
        ("thread", ctypes.c_void_p),
        ("lines", ctypes.c_int64),
        ("set", ctypes.c_void_p),
        ("threads", ctypes.c_int32),
        ("node", ctypes.c_void_p),
        ("nodes", ctypes.c_int32),
        ("sets", ctypes.c_int32),
        ("ways", ctypes.c_int32),
    )


@cache
def _library() -> ctypes.CDLL:
    """Return the replay library, loaded once a process."""
    library = ctypes.CDLL(str(replay_library()))
    library.replay_shared_caches.argtypes = (ctypes.POINTER(_Input), *[ctypes.c_void_p] * 3)
    library.replay_sum_by_node.argtypes = (
        ctypes.c_int64,
        *[ctypes.c_void_p] * 3,
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.c_int32,
        ctypes.c_void_p,
    )
    return library


def _check(code: int) -> None:
    if code:
        reason = {-1: "an index is out of range", -2: "no memory"}.get(code, f"error {code}")
        raise InvalidInputError(f"cannot replay the trace: {reason}; clear the trace cache and trace again")
