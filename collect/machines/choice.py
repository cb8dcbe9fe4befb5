"""Choose the machine that a command line asks for: this computer, or a described machine by name or file."""

from collections.abc import Callable

from numapredict.collect.host import host_topology
from numapredict.collect.machines.care import Care, careful
from numapredict.collect.machines.description import load_description
from numapredict.collect.machines.hardware import HardwareMachine
from numapredict.collect.machines.trace_store import TraceStore, say_nothing
from numapredict.collect.machines.tracing import Budget
from numapredict.collect.machines.virtual import VirtualMachine


def virtual_machine(
    name: str, budget: Budget | None = None, announce: Callable[[str], None] = say_nothing
) -> VirtualMachine:
    """Return the modelled machine of a description's name or .toml file; InvalidDescriptionError if there is none."""
    description = load_description(name)
    return VirtualMachine(description, TraceStore(description, budget, announce))


def this_computer(
    repetitions: int | Care | None = None, warm_up: int = 1, announce: Callable[[str], None] = say_nothing
) -> HardwareMachine:
    """Return the computer that this runs on; InvalidTopologyError where its topology cannot be read."""
    care = careful(5) if repetitions is None else repetitions
    return HardwareMachine(host_topology(), repetitions=care, warm_up=warm_up, announce=announce)
