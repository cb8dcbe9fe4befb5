"""Finds the description of the machine that figures were modelled on."""

from numapredict.collect.modelled.description import MachineDescription, load_description, machine_names
from numapredict.collect.topology import Topology


def description_of(machine: str, modelled: bool) -> MachineDescription | None:
    """Return the description that a machine's modelled figures were computed with, None if it is not known."""
    return load_description(machine) if modelled and machine in machine_names() else None


def topology_of(machine: str, modelled: bool) -> Topology | None:
    """Return the topology of the machine that figures were modelled on, None if it is not known."""
    description = description_of(machine, modelled)
    return None if description is None else description.topology
