"""The description of the machine that modelled figures are of."""

from numapredict.collect.modelled.description import MachineDescription, load_description, machine_names
from numapredict.collect.topology import Topology


def description_of(machine: str, modelled: bool) -> MachineDescription | None:
    """Return the description that modelled figures of a machine were computed with, None where only a name is known."""
    return load_description(machine) if modelled and machine in machine_names() else None


def topology_of(machine: str, modelled: bool) -> Topology | None:
    """Return the topology of a described machine that modelled figures are of, None where only a name is known."""
    description = description_of(machine, modelled)
    return None if description is None else description.topology
