"""Carry what programs gained on one machine over to the mappings of another.

Mappings of different machines are alike if they use like parts of their machines: of the cores, of the nodes, of each
node's cores, for threads and for pages, by the same policies. A mapping's gain on the other machine is the mean over
the mappings known there, weighted by how alike they are, so that thread counts between two known ones get values
between theirs.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import PAGE_POLICIES, PROFILED
from numapredict.collect.space import spread_of
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.gains_file import MachineGains
from numapredict.predictor.searching.known_gains import Array, KnownGains, group_weights

Gains = npt.NDArray[np.floating]
"""Gains as float16, as files have them, or longer."""

SQUARED_WIDTH = 0.3
"""The squared distance at which a mapping weighs 1/e as much as an equal one; half the threads are 2 away."""

FEW = 1e-2
"""Below this sum of weights no mapping is alike: the nearest one's gain is taken."""

MOVING = 0.07
"""By so much, in log2, modelled gains of policies that move pages are reduced for real machines.

The model has all pages in place from the start; a real run pays for their moves. On the times of two timed guests,
whose runs are short, searches that know the shipped machines alone then capture 0.95 and 0.98 of the gain after four
runs, with 0.05 to 0.1 at least 0.87 and 0.91.
"""

_MOVE_PAGES = [PAGE_POLICIES.index(policy) - len(PAGE_POLICIES) for policy in PROFILED]  # the last features

_AT_ONCE = 32  # mappings whose distances to all known ones fit the cache

_PAGE_NODES, _SAME_NODES, _L3S, _POLICY = 0.7, 0.5, 0.5, 2.0


def mapping_features(mappings: Sequence[Mapping], topology: Topology) -> Array:
    """Return each mapping's features, float64[M, 8 + policies]: what parts of its machine it uses, as log2, and how."""
    rows = [
        (each.threads, each.thread_nodes, each.page_nodes, each.threads_per_core, each.thread_policy == "scatter")
        for each in mappings
    ]
    threads, thread_nodes, page_nodes, per_core, scatter = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    cores, nodes = topology.core_count, len(topology.cpu_nodes)
    policies = np.array([PAGE_POLICIES.index(each.page_policy) for each in mappings], dtype=np.int64)
    return np.column_stack(
        [
            np.log2(threads / cores),
            np.log2(thread_nodes / nodes),
            np.log2(threads / thread_nodes * nodes / cores),
            scatter,
            _PAGE_NODES * np.log2(page_nodes / nodes),
            _SAME_NODES * (page_nodes == thread_nodes),
            per_core - 1,
            _L3S * np.log2([spread_of(each, topology) for each in mappings]),
            _POLICY * np.eye(len(PAGE_POLICIES))[policies],
        ]
    )


def carried_gains(gains: Gains, known: Array, wanted: Array, default: int, found: Array | None = None) -> Array:
    """Return programs' gains, float64[K, M], known under mappings of one machine, under the wanted ones of another.

    ``known`` and ``wanted``: their features; ``default``: the row of ``wanted`` that gains 0. They are written to
    ``found`` if it is given. Memory that is touched for the first time costs more than the arithmetic: in between there
    are small arrays only.
    """
    found = np.empty((len(gains), len(wanted))) if found is None else found
    total = np.zeros(len(wanted))
    for policy in range(-len(PAGE_POLICIES), 0):  # the last features; a mapping of another policy would weigh 1e-12
        rows, columns = np.flatnonzero(wanted[:, policy]), np.flatnonzero(known[:, policy])
        alike = np.exp(_squared(wanted[rows], known[columns]) / -SQUARED_WIDTH)
        total[rows] = alike.sum(axis=1)
        alike /= np.maximum(total[rows], FEW)[:, None]
        found[:, rows] = _product(alike, gains[:, columns].astype(np.float64).T).T
    lonely = np.flatnonzero(total <= FEW)
    for first in range(0, len(lonely), _AT_ONCE):
        some = lonely[first : first + _AT_ONCE]
        # The sum has 29 binary places: of mappings that are equally near but for rounding errors, the first is taken.
        found[:, some] = gains[:, (_squared(wanted[some], known) + 2.0**23).argmin(axis=1)]
    found -= found[:, [default]]
    return found


def _squared(wanted: Array, known: Array) -> Array:
    """Return the squared distances of features, float64[wanted, known]."""
    square, other = (wanted**2).sum(axis=1), (known**2).sum(axis=1)
    squared: Array = np.maximum(square[:, None] + other - 2 * _product(wanted, known.T), 0.0)
    return squared


def _product(one: Array, other: Array) -> Array:
    """Return the matrix product, computed in pieces so small that a BLAS library does not wake its threads for them.

    The threads cost ten times as much as they save here. OpenBLAS wakes them above 2^18 multiplications
    (``GEMM_MULTITHREAD_THRESHOLD`` in its interface/gemm.c).
    """
    product, rows = np.empty((len(one), other.shape[1])), max(1, 2**18 // max(other.size, 1))
    for first in range(0, len(one), rows):
        np.matmul(one[first : first + rows], other, out=product[first : first + rows])
    return product


def carried_knowledge(others: Sequence[MachineGains], wanted: Array, default: int, *, modelled: bool) -> KnownGains:
    """Return what other machines' programs gained under the wanted mappings; machines weigh the same.

    ``wanted``: the features of these mappings; ``default``: the one of them that gains 0;
    ``modelled``: the machine that they are carried to is.
    """
    ends = np.cumsum([0, *(len(other.groups) for other in others)]).tolist()
    gains = np.empty((ends[-1], len(wanted)))
    for other, first, end in zip(others, ends, ends[1:], strict=False):
        known = mapping_features(other.parsed, other.topology)
        carried_gains(other.stored, known, wanted, default, gains[first:end])
        if other.modelled and not modelled:
            gains[first:end] -= MOVING * wanted[:, _MOVE_PAGES].any(axis=1)
    return KnownGains(
        gains,
        np.concatenate([group_weights(other.groups) / len(others) for other in others]),
        tuple(group for other in others for group in other.groups),
        tuple(other.machine for other in others for _ in other.groups),
    )
