"""What served a sampled load, by the number that the kernel gives with it: perf_mem_data_src of linux/perf_event.h.

perf prints this number before its own words for it, which change from version to version; the number is the kernel's
interface. Who sets it: arch/x86/events/intel/ds.c (PEBS) and arch/x86/events/amd/ibs.c (IBS) of the Linux kernel.
"""

import functools
from typing import Final

UNKNOWN: Final = 0
CACHE: Final = 1
LOCAL: Final = 2
REMOTE: Final = 3

_LOAD, _ACCESS = 0x02, 0x06  # PERF_MEM_OP_LOAD; or _STORE
_MISS = 0x04  # PERF_MEM_LVL_*, of which there may be several
_CACHES = 0x08 | 0x10 | 0x20 | 0x40  # L1, the line fill buffer, L2, L3
_LOCAL_RAM = 0x80
_REMOTE_RAM = 0x100 | 0x200
_CACHE_ONE_HOP, _CACHE_TWO_HOPS = 0x400, 0x800
_SAME_NODE = 1  # PERF_MEM_HOPS_0
_CXL, _RAM, _PMEM = 0x9, 0xD, 0xE  # PERF_MEM_LVLNUM_*
_CACHE_NUMBERS = frozenset({0x1, 0x2, 0x3, 0x4, 0xB, 0xC})


@functools.lru_cache(4096)
def served_by(data_src: int) -> int:
    """Return CACHE of the node itself, LOCAL memory, REMOTE memory or cache, or UNKNOWN, as for all but loads.

    AMD's other caches of the same node have one hop and no mark as remote, or hop level 0; Intel's remote caches are
    marked as remote (Linux 4.14 and later). Memory behind CXL has a node of its own, without threads.
    """
    level, number = data_src >> 5 & 0x3FFF, data_src >> 33 & 0xF
    remote, hops = data_src >> 37 & 1, data_src >> 43 & 0x7
    if data_src & _ACCESS != _LOAD or level & _MISS:
        return UNKNOWN
    if remote and hops == _SAME_NODE:
        return CACHE
    if remote or level & (_REMOTE_RAM | _CACHE_TWO_HOPS) or number == _CXL:
        return REMOTE
    if level & _LOCAL_RAM or number in (_RAM, _PMEM):
        return LOCAL
    return CACHE if level & (_CACHES | _CACHE_ONE_HOP) or number in _CACHE_NUMBERS else UNKNOWN
