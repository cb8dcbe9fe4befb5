"""Choose the machine that a command line asks for: this computer, or a described machine by name or file."""

import msgspec

from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.tasks import check_one_asker
from numapredict.collect.measuring.counter_sources import all_sources
from numapredict.collect.measuring.counters.calibration import CalibratedSource, calibrated_source
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.stopping_rule import StoppingRule, fixed_repetitions, stopping_rule_of
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import TraceBudget


def modelled_machine(
    name: str, budget: TraceBudget | None = None, *, strict: bool = False, region_times: bool = False
) -> ModelledMachine:
    """Return the modelled machine of a description's name or .toml file; InvalidInputError if there is none.

    ``strict`` refuses programs that end with an exit code other than 0; ``region_times`` notes each region's time.
    """
    description = load_description(name)
    return ModelledMachine(description, TraceStore(description, budget), strict=strict, region_times=region_times)


def this_computer(
    repetitions: int | StoppingRule | None = None,
    warm_up: int = 1,
    *,
    timeout_s: float | None = None,
    strict: bool = False,
    region_times: bool = False,
) -> HardwareMachine:
    """Return the computer that this runs on, to measure on it; with a ``timeout_s`` of its own, by times alone.

    ``strict`` refuses programs that end with an exit code other than 0; ``region_times`` notes each region's time.
    Raises InvalidTopologyError where its topology cannot be read, and UsageError in one of several tasks.
    """
    check_one_asker()
    topology = host_topology()

    def counters() -> CalibratedSource | None:
        if len(topology.memory_nodes) < 2:
            return None  # all memory is local, so local shares decide nothing
        return calibrated_source(all_sources(topology), topology, cache_folder())

    rule = stopping_rule_of(5) if repetitions is None else repetitions
    if not isinstance(rule, StoppingRule):
        rule = fixed_repetitions(rule)
    rule = msgspec.structs.replace(rule, strict=strict)
    if timeout_s is not None:
        machine = HardwareMachine(topology, repetitions=rule, warm_up=warm_up, timeout_s=timeout_s)
    else:
        machine = HardwareMachine(topology, repetitions=rule, warm_up=warm_up, counters=counters)
    if region_times:
        machine.note_regions()
    return machine
