"""Where the kernel's page cache has a file: on which node each of its pages is in memory, and putting them back there.

Only what is in memory is asked for and moved: nothing is read in. The kernel says which pages are of files that the
process owns or may write (mincore(2)), and moves none that another process maps.
"""

import contextlib
import ctypes
import mmap
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# linux: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h
_MOVE_PAGES = {"x86_64": 279, "aarch64": 239, "riscv64": 239}
_MOVE_OWN = 2  # MPOL_MF_MOVE: pages of this process alone
_POPULATE_READ = 22  # MADV_POPULATE_READ, since Linux 5.14: unlike an access, it raises no SIGBUS
_AT_ONCE = 4096  # pages
ABSENT = -1

Nodes = NDArray[np.int16]


def nodes_of(path: Path) -> Nodes | None:
    """Return the node of each page of a file, int16[N], ABSENT for one that is not in memory; None where not known."""
    with _mapped(path) as start:
        return None if start is None else _nodes_at(*start)


def put_back(path: Path, nodes: Nodes) -> None:
    """Move the pages of a file that are in memory to these nodes, as far as the kernel moves them; ABSENT: to none."""
    with _mapped(path) as start:
        now = None if start is None else _nodes_at(*start)
        if start is None or now is None or len(now) != len(nodes):
            return
        astray = np.flatnonzero((now != nodes) & (now != ABSENT) & (nodes != ABSENT))
        for first in range(0, len(astray), _AT_ONCE):
            part = astray[first : first + _AT_ONCE]
            _moved(start[0], part, nodes[part])


def _nodes_at(address: int, pages: int) -> Nodes | None:
    """Return the node of each page of a mapped file, None where the kernel does not say."""
    found = np.full(pages, ABSENT, dtype=np.int16)
    for first in range(0, pages, _AT_ONCE):
        status = _moved(address, np.arange(first, min(first + _AT_ONCE, pages)), None)
        if status is None:
            return None
        found[first : first + len(status)] = np.where(status < 0, ABSENT, status)
    return found


@contextlib.contextmanager
def _mapped(path: Path) -> Iterator[tuple[int, int] | None]:
    """Map a file, with what is in memory of it in the page table; yield its address and pages, None where it cannot."""
    try:
        with path.open("rb") as opened:
            about = os.fstat(opened.fileno())
            if not (about.st_size and (about.st_uid == os.geteuid() or os.access(path, os.W_OK))):
                yield None
                return
            memory = mmap.mmap(opened.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
    except (OSError, ValueError):
        yield None
        return
    bytes_ = np.frombuffer(memory, dtype=np.uint8)
    address, pages = bytes_.ctypes.data, -(-len(memory) // mmap.PAGESIZE)
    try:
        yield (address, pages) if _found(address, pages) else None
    finally:
        del bytes_
        memory.close()


def _found(address: int, pages: int) -> bool:
    """Put what is in memory in the page table; return whether the kernel lets us."""
    library = ctypes.CDLL(None, use_errno=True)
    there = np.zeros(pages, dtype=np.uint8)
    if library.mincore(
        ctypes.c_void_p(address), ctypes.c_size_t(pages * mmap.PAGESIZE), ctypes.c_void_p(there.ctypes.data)
    ):
        return False
    borders = np.flatnonzero(np.diff(np.concatenate(([0], there & 1, [0])).astype(np.int8)))
    for first, end in borders.reshape(-1, 2).tolist():
        at, size = address + first * mmap.PAGESIZE, (end - first) * mmap.PAGESIZE
        if library.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), _POPULATE_READ):
            return False
    return True


def _moved(address: int, pages: NDArray[np.int64], nodes: Nodes | None) -> NDArray[np.int32] | None:
    """Move pages, or only ask without nodes; return what the kernel says of each, None where it refuses all."""
    number = _MOVE_PAGES.get(platform.machine())
    if number is None:
        return None
    at = (address + pages * mmap.PAGESIZE).astype(np.uint64)
    wanted = None if nodes is None else np.ascontiguousarray(nodes, dtype=np.int32)
    status = np.full(len(pages), ABSENT, dtype=np.int32)
    library = ctypes.CDLL(None, use_errno=True)
    code = library.syscall(
        ctypes.c_long(number),
        ctypes.c_int(0),
        ctypes.c_ulong(len(at)),
        ctypes.c_void_p(at.ctypes.data),
        None if wanted is None else ctypes.c_void_p(wanted.ctypes.data),
        ctypes.c_void_p(status.ctypes.data),
        ctypes.c_int(0 if nodes is None else _MOVE_OWN),
    )
    return status if code >= 0 else None
