"""The bench: modelled machines and codelets by name, for the comparisons to run."""

from collections.abc import Iterable

import numpy as np

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Counters, Measurement, Repetition
from numapredict.collect.modelled.description import MachineDescription, load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from numapredict.native.errors import CounterError, UnrunnableProgramError


def counters_of(run: Repetition) -> Counters:
    """Return a run's counters, which every modelled run has."""
    if run.counters is None:
        raise CounterError("a modelled run has no counters")
    return run.counters


def traffic_GBps(run: Repetition) -> float:
    """Return the total bandwidth of all nodes in the parallel regions, local and remote, in GB/s (1e9 bytes)."""
    counters = counters_of(run)
    return counters.local_bandwidth_GBps + counters.remote_bandwidth_GBps


class Bench:
    """Runs codelets on modelled machines, one of each name."""

    def __init__(self) -> None:
        self._machines: dict[str, ModelledMachine] = {}

    def machine(self, name: str) -> ModelledMachine:
        """Return the machine that is shipped under a name, the same one each time."""
        if name not in self._machines:
            self._machines[name] = self.machine_of(load_description(name))
        return self._machines[name]

    def machine_of(self, description: MachineDescription) -> ModelledMachine:
        """Return the machine of a description."""
        return ModelledMachine(description, TraceStore(description))

    def codelet(self, name: str, size: str = "large", initialisation: str = "parallel") -> Program:
        """Return one codelet as a program."""
        return codelet_programs((name,), (size,), (initialisation,))[0]

    def run(self, machine: ModelledMachine, program: Program, label: str) -> Measurement:
        """Return a program's measurement under a mapping. Raises UnrunnableProgramError where the program fails."""
        measurement = machine.run(program, parse_label(label))
        if measurement.status != "ok":
            raise UnrunnableProgramError(f"{program.name} on {machine.name}: {measurement.message}")
        return measurement

    def region_s(self, machine: ModelledMachine, program: Program, label: str) -> float:
        """Return the time of a program's parallel regions under a mapping."""
        return self.run(machine, program, label).repetitions[0].region_time_s or 0.0

    def on_nodes(
        self, machine: ModelledMachine, program: Program, threads: Iterable[int], pages: Iterable[int]
    ) -> Repetition:
        """Return the run with threads on the given nodes, one entry a thread, the pages round-robin over nodes."""
        thread_node = tuple(threads)
        page_nodes = np.array(list(pages), dtype=np.int32)
        address = machine.traced(program, len(thread_node)).pages.address
        return machine.run_placed(program, thread_node, page_nodes[address % len(page_nodes)])[0]
