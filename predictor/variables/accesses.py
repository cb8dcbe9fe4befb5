"""The accesses that perf sampled: to which variable, what served them, and what remote ones cost an instruction. Pure.

The same figures as those of touches (requests.py), counted by the processor: Liu and Mellor-Crummey (PPoPP 2014), M_l
and M_r of sec. 4.1, and lpi_NUMA of equations 2 and 3, sec. 4.2. Here M_l and M_r are the loads that memory served, or
another node's cache: what a cache of the own node serves is neither.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numapredict.collect.measuring.samples.perf_script import Accesses
from numapredict.collect.measuring.samples.served import LOCAL, REMOTE
from numapredict.collect.placing.profile_file import BLOCKS, Profile
from numapredict.collect.topology import Topology
from numapredict.predictor.variables.grouping import KINDS, Found
from numapredict.predictor.variables.memory_accesses import MemoryAccesses
from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.requests import requests
from numapredict.predictor.variables.touches import Numbers


class _Rows(NamedTuple):
    """The samples of the process by address, with the number of the variable and the nodes of thread and memory."""

    rows: npt.NDArray[np.void]
    owner: Numbers
    thread: Numbers
    memory: Numbers


def accesses_of(
    found: Sequence[Found], profile: Profile, samples: Accesses, topology: Topology, nodes: PageNodes | None
) -> tuple[list[MemoryAccesses | None], MemoryAccesses]:
    """Return the accesses of each variable, None without a sample, and those of the program, also to anything else."""
    rows = np.sort(samples.rows[samples.rows["pid"] == profile.pid], order="address")
    owner, page = _owners(rows, found, profile)
    thread = _homes_of_cpus(rows["cpu"], topology)
    memory = np.where(rows["served"] == LOCAL, thread, -1)
    for number, one in enumerate(found):
        away = (owner == number) & (rows["served"] == REMOTE)
        memory[away] = _homes_of_pages(one, page[away], nodes)
    names = sorted({*thread.tolist(), *(nodes.all if nodes is not None else ())} - {-1})
    known = _Rows(rows, owner, thread, memory)
    instructions = samples.instructions.get(profile.pid, 0.0)
    each = [_accesses(known, owner == number, names, instructions) for number in range(len(found))]
    every = _accesses(known, np.ones(len(rows), np.bool_), names, instructions)
    return [one if one.samples else None for one in each], every


def _owners(rows: npt.NDArray[np.void], found: Sequence[Found], profile: Profile) -> tuple[Numbers, Numbers]:
    """Return the number of the variable of each sample, -1 for none, and the page within all its ranges."""
    page_bytes = profile.page_bytes
    address, time_s = rows["address"].astype(np.int64), rows["time_s"]
    owner, page = np.full(len(rows), -1, np.int64), np.zeros(len(rows), np.int64)
    for number, one in enumerate(found):
        before = 0
        for part in one.ranges:
            if part.kind == BLOCKS:
                continue
            low, high = np.searchsorted(address, (part.start, part.start + part.pages * page_bytes)).tolist()
            since_s = 0.0 if KINDS.get(part.kind) == "static" else part.since_s
            inside = low + np.flatnonzero((time_s[low:high] >= since_s) & (time_s[low:high] < part.until_s))
            owner[inside] = number
            page[inside] = before + (address[inside] - part.start) // page_bytes
            before += part.pages
    for number, one in enumerate(found):  # of the pages that are the heap's, some are a group's
        before = 0
        for part in one.ranges:
            for run in part.owned:
                heap = profile.ranges[run["range"]]
                start = heap.start + int(run["page"]) * page_bytes
                low, high = np.searchsorted(address, (start, start + int(run["pages"]) * page_bytes)).tolist()
                inside = low + np.flatnonzero((time_s[low:high] >= heap.since_s) & (time_s[low:high] < heap.until_s))
                owner[inside] = number
                page[inside] = before + int(run["group_page"]) + (address[inside] - start) // page_bytes
            before += part.pages
    return owner, page


def _homes_of_cpus(cpus: npt.NDArray[np.int32], topology: Topology) -> Numbers:
    """Return the node whose memory is local to each CPU; -1 for one that the topology lacks."""
    home = {pu: topology.home(node.index) for node in topology.cpu_nodes for core in node.cores for pu in core.pus}
    numbers, at = np.unique(cpus, return_inverse=True)
    return np.array([home.get(cpu, -1) for cpu in numbers.tolist()], np.int64)[at]


def _homes_of_pages(found: Found, page: Numbers, nodes: PageNodes | None) -> Numbers:
    """Return the node of each of a variable's pages: that of the touched page before it; -1 where it is not known."""
    if nodes is None or not len(found.touches.page):
        return np.full(len(page), -1, np.int64)
    touched = found.touches.page
    at = np.maximum(np.searchsorted(touched, page, side="right") - 1, 0)
    return nodes.homes(found.touches, found.touches.first)[at]


def _accesses(known: _Rows, chosen: npt.NDArray[np.bool_], names: Sequence[int], instructions: float) -> MemoryAccesses:
    rows = known.rows[chosen]
    served, period = rows["served"], rows["period"]
    near, far = served == LOCAL, served == REMOTE
    left = near | far
    total = float(period[left].sum())
    weight = period * (int(left.sum()) / total if total > 0 else 0.0)
    latency = float((rows["weight"] * period)[far].sum())
    return MemoryAccesses(
        samples=len(rows),
        requests=requests(
            names,
            _by_node(known.thread[chosen][left], known.memory[chosen][left], weight[left], names),
            float(weight[near].sum()),
            float(weight[far].sum()),
        ),
        remote_cycles=round(latency / float(period[far].sum()), 1) if far.any() else None,
        lpi_numa=round(latency / instructions, 6) if instructions > 0 else None,
    )


def _by_node(thread: Numbers, memory: Numbers, weight: npt.NDArray[np.float64], names: Sequence[int]) -> list[float]:
    """Return what each node serves; remote accesses to pages of which the node is not known go to the others evenly."""
    served = [float(weight[memory == name].sum()) for name in names]
    for at, name in enumerate(names):
        lost = float(weight[(memory < 0) & (thread == name)].sum())
        others = [other for other in range(len(names)) if other != at] or [at]
        for other in others:
            served[other] += lost / len(others)
    return served
