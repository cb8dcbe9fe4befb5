"""The accesses that the processor sampled of a variable or a program: where they went, and what remote ones cost."""

import msgspec

from numapredict.predictor.variables.requests import Requests

LPI_WORTH = 0.1
"""Cycles an instruction of lpi_NUMA, above which the paper calls losses worth a change (sec. 4.2)."""


class MemoryAccesses(msgspec.Struct, frozen=True, kw_only=True):
    """The accesses of a variable or a program: ``samples`` of all, ``requests`` of those that left the node's caches.

    ``remote_cycles`` is the mean latency of the remote ones, None where there is none. ``lpi_numa`` is their latency
    for each instruction of the whole program, in cycles: those of variables add up; None where these were not counted.
    """

    samples: int
    requests: Requests
    remote_cycles: float | None
    lpi_numa: float | None
