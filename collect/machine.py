"""Machines: whatever runs a program under a mapping and measures it."""

from typing import Protocol

from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology


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

    def supports(self, mapping: Mapping) -> bool:
        """Return whether this machine can apply the mapping at all."""
        ...

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Run the program under the mapping and return what was measured."""
        ...
