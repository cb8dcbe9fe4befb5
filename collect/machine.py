"""Machines: the protocol of everything that runs a program under a mapping and measures it."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology


class TracesToTake(msgspec.Struct, frozen=True):
    """The traces that a machine has to take before it can run a program: for which thread counts, and how long.

    ``most_s`` bounds the seconds for all of them together.
    """

    threads: tuple[int, ...]
    most_s: float


class Machine(Protocol):
    """Anything that can answer ``run(program, mapping)``: hardware, a modelled machine, or a recording.

    ``run`` raises an error (a NumapredictError) for a mapping or a program that it cannot run at all, and returns a
    measurement with a status other than ``ok`` for a program that crashed or ran out of time.
    """

    @property
    def name(self) -> str:
        """Return the machine's name: a description's name, a dataset's name or the host's model."""
        ...

    @property
    def topology(self) -> Topology:
        """Return the machine's topology, restricted to what this process may use."""
        ...

    @property
    def modelled(self) -> bool:
        """Return whether the figures come from a model."""
        ...

    @property
    def executions(self) -> int:
        """Return how often one run executes the program, at least."""
        ...

    @property
    def controllers_GBps(self) -> tuple[float, ...]:
        """Return what each node's memory controllers can read, in GB/s (1e9 bytes); empty where that is not known."""
        ...

    def supports(self, mapping: Mapping) -> bool:
        """Return whether this machine can apply the mapping at all."""
        ...

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> float | None:
        """Return how long runs under these mappings take together, in seconds; None where unknown before a run."""
        ...

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> TracesToTake | None:
        """Return the traces that runs under these mappings still need; None for a machine that uses no traces."""
        ...

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Run the program under the mapping and return what was measured."""
        ...
