"""Counts memory traffic with the kernel's perf events, by the project's launcher: no tool has to be installed.

events.toml lists what is counted on which processor. The self-test checks the figures.
"""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Variables
from pathlib import Path

import msgspec

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.counters.perf.counts import EventCount, read_counts
from numapredict.collect.measuring.counters.perf.event_table import family_of
from numapredict.collect.measuring.counters.perf.events import (
    EVERYWHERE,
    REFERENCE,
    controller_events,
    core_events,
    core_pmu,
)
from numapredict.collect.measuring.counters.perf.processor import processor_of
from numapredict.collect.measuring.counters.perf.refusal import hardware_refusal, permission_refusal, refusal_of_errors
from numapredict.collect.measuring.counters.perf.traffic import Planned, traffic_of
from numapredict.collect.measuring.counters.source import Obstacle, Traffic
from numapredict.collect.placing.launcher import Launching, launcher_command
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError, MissingNativePartError

_THIS_COMPUTER = Path("/")
_TRIAL_TIMEOUT_S = 10.0


class PerfCounting:
    """One run that perf counts on some PUs."""

    def __init__(self, planned: Planned, pus: Sequence[int], folder: Path) -> None:
        self._planned = planned
        self._pus = tuple(pus)
        self._file = folder / "perf.json"

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        """Return the launcher's command line around ``command``, with ``variables`` set for the latter alone."""
        reference = msgspec.structs.replace(REFERENCE, cpus=self._pus)
        events = (event.launched for event in (*self._planned.core, *self._planned.controllers))
        return launcher_command(command, variables, Launching((reference, EVERYWHERE, *events), self._file))

    def traffic(self) -> Traffic:
        """Return the run's traffic; raise CounterError where it was not counted, or too seldom to scale up."""
        return traffic_of(self._planned, read_counts(self._file))


class PerfSource:
    """The kernel's perf events as a source; in tests ``root`` replaces /."""

    name = "perf"

    def __init__(self, topology: Topology, root: Path = _THIS_COMPUTER) -> None:
        self._topology = topology
        self._root = root

    def obstacle(self) -> Obstacle | None:
        """Return why perf cannot count here, or None.

        On the computer itself the events are opened on a program that does nothing: no file shows what a container's
        filter or a hypervisor forbids. Of another file tree only perf_event_paranoid can be read.
        """
        try:
            refused = hardware_refusal(self._root)
            if refused is not None:
                return refused
            planned = self._planned(())
            if self._root != _THIS_COMPUTER:
                return permission_refusal(self._root)
            errors = [count.errno for count in _trial(planned) if count.errno]
            return refusal_of_errors(errors, self._root) if errors else None
        except (CounterError, MissingNativePartError) as error:
            return Obstacle(str(error))

    @contextlib.contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator[PerfCounting]:
        """Return the counting of one run on some PUs; raise CounterError where perf cannot count here."""
        refused = self.obstacle()
        if refused is not None:
            raise CounterError(f"perf: {refused.reason}", refused.remedies[:1])
        known = {pu for node in self._topology.nodes for core in node.cores for pu in core.pus}
        counted = sorted(known.intersection(pus))
        if not counted:
            raise CounterError(f"perf: no PU of {sorted(pus)} belongs to the machine {self._topology.name}")
        yield PerfCounting(self._planned(counted), counted, folder)

    def _planned(self, pus: Sequence[int]) -> Planned:
        """Return what to count on some PUs, or on all CPUs that the program uses where none are given."""
        processor = processor_of(self._root)
        family = processor and family_of(processor)
        pmu = family and core_pmu(family, self._root)
        if not family or not pmu:
            raise CounterError("the processor's counters are gone since they were looked for")
        return Planned(
            topology=self._topology,
            root=self._root,
            core=core_events(family, pmu, pus),
            controllers=controller_events(family, self._root),
            misses=family.misses,
        )


def _trial(planned: Planned) -> tuple[EventCount, ...]:
    """Return the counts of a program that does nothing."""
    with work_folder() as folder:
        file = folder / "trial.json"
        command = launcher_command(("true",), {}, Launching(tuple(event.launched for event in planned.core), file))
        try:
            subprocess.run(command, capture_output=True, timeout=_TRIAL_TIMEOUT_S, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise CounterError(f"perf cannot be tried: {error}") from error
        return read_counts(file)
