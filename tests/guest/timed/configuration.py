"""The figures that the plugin reads, made from a machine description: all times in picoseconds, times the factor."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from numapredict.collect.modelled.contention import MISSES_IN_FLIGHT, costs_of
from numapredict.collect.modelled.description import MachineDescription, load_description, machine_names
from numapredict.collect.modelled.shared_caches import STREAMED, WRITTEN_BACK
from numapredict.native.errors import InvalidInputError
from tests.guest.errors import GuestError
from tests.guest.shape import FARTHEST, LOCAL, Shape

MACHINES = Path(__file__).with_name("machines")
FACTOR = 1000.0
# Of eight processors two cores emulate each at most a quarter of the time.
FACTORS_OF = {"guest-4x2": 2000.0}
FACTORS = (1.0, 1e6)
MIB = 1 << 20
# QEMU 7.2 gives a plugin the address within the machine's memory twice, added up.
ADDRESS_STRIDE = 2


@dataclass(frozen=True)
class Timing:
    """A described machine, and how many times slower than it the guest is to be."""

    machine: MachineDescription
    factor: float = FACTOR

    def __post_init__(self) -> None:
        """Raise GuestError for a factor or a machine that no guest can have."""
        if not FACTORS[0] <= self.factor <= FACTORS[1]:
            raise GuestError(f"the factor {self.factor:g} is not between {FACTORS[0]:g} and {FACTORS[1]:g}")
        if len({node.cores for node in self.machine.nodes}) > 1:
            raise GuestError(f"machine {self.machine.name}: a timed guest needs nodes with the same number of cores")

    def shape(self, memory_mb: int = 384) -> Shape:
        """Return the machine's nodes, cores and distances, with so much memory a node."""
        machine = self.machine
        distances = tuple(
            tuple(
                LOCAL if source == target else min(max(round(distance), LOCAL + 1), FARTHEST)
                for target, distance in enumerate(row)
            )
            for source, row in enumerate(machine.topology.distances)
        )
        return Shape(len(machine.nodes), machine.nodes[0].cores, 0, memory_mb, distances)

    def figures(self, memory_mb: int) -> str:
        """Return the file that timed/machine.c reads."""
        machine, costs = self.machine, costs_of(self.machine)
        private, shared = machine.private_cache, machine.shared_cache
        fields: dict[str, Iterable[float]] = {
            "timed": (1,),
            "nodes": (len(machine.nodes),),
            "processors": (machine.nodes[0].cores,),
            "line_bytes": (machine.line_bytes,),
            "node_bytes": (memory_mb * MIB,),
            "node_stride": (memory_mb * MIB * ADDRESS_STRIDE,),
            "private_sets": (max(private.size_bytes // machine.line_bytes // private.ways, 1),),
            "private_ways": (private.ways,),
            "shared_sets": (max(shared.size_bytes // machine.line_bytes // shared.ways, 1),),
            "shared_ways": (shared.ways,),
            "instruction_ps": self._times([machine.cycles_per_instruction / machine.frequency_GHz]),
            "shared_ps": self._times([shared.latency_ns]),
            "overlap": (int(MISSES_IN_FLIGHT),),
            "latency_ps": self._times(machine.read_latency_ns),
            "read_ps": self._times(costs.line_ns[..., STREAMED]),
            "write_back_ps": self._times(costs.line_ns[..., WRITTEN_BACK]),
            "node_read_ps": self._times(costs.controller_ns[:, 0]),
            "node_write_back_ps": self._times(costs.controller_ns[:, 1]),
            "links": (len(machine.links),),
            "link_read_ps": self._times(costs.link_ns[:, 0]),
            "link_write_back_ps": self._times(costs.link_ns[:, 1]),
            "route": np.asarray(costs.route).ravel().tolist(),
        }
        return "".join(f"{name} {' '.join(str(int(value)) for value in values)}\n" for name, values in fields.items())

    def _times(self, values_ns: object) -> list[float]:
        return [round(float(value) * 1e3 * self.factor) for value in np.asarray(values_ns).ravel()]


def timed_machine(name_or_path: str) -> MachineDescription:
    """Return a machine made for guests, an installed description, or one by its path. Raises GuestError."""
    own = {file.stem: file for file in sorted(MACHINES.glob("*.toml"))}
    if name_or_path.endswith((".xml", ".synthetic")):
        raise GuestError(f"machine {name_or_path}: a topology has no memory times; name a machine description (.toml)")
    if not name_or_path.endswith(".toml") and name_or_path not in {*own, *machine_names()}:
        known = ", ".join([*own, *machine_names()])
        raise GuestError(f"unknown machine {name_or_path!r}: there are {known}, or give the path of a .toml file")
    try:
        return load_description(str(own.get(name_or_path, name_or_path)))
    except InvalidInputError as error:
        raise GuestError(str(error)) from error


def timing_of(name_or_path: str, factor: float | None = None) -> Timing:
    """Return a machine's timing, with the factor that suits it unless one is given. Raises GuestError."""
    return Timing(timed_machine(name_or_path), FACTORS_OF.get(name_or_path, FACTOR) if factor is None else factor)
