"""A timed guest as a machine: campaigns run here, and start each program in the guest, by whose clock it is timed."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import msgspec

from numapredict.collect.host.facts.facts import machine_state
from numapredict.collect.host.hwloc import topology_from_xml
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.counters.calibration import CalibratedSource
from numapredict.collect.measuring.hardware import Computer, HardwareMachine
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from tests.guest.errors import GuestError
from tests.guest.machine import EMULATOR, Guest
from tests.guest.served import ServedGuest, served
from tests.guest.timed.configuration import Timing
from tests.guest.timed.counters import TimedCounters
from tests.guest.timed.parts import build_parts

TOPOLOGY_S = 120.0
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}  # spinning threads pay for each turn


@dataclass(frozen=True)
class ServedMachine:
    """HardwareMachine whose programs run in a timed guest and pay for their memory there.

    Its figures are by the guest's clock: wall times of processes and regions. The counters are the plugin's own.
    """

    timing: Timing
    guest: ServedGuest
    hardware: HardwareMachine
    paying: Path

    modelled = False
    controllers_GBps = ()

    @property
    def name(self) -> str:
        """Return the name by which its figures go."""
        return guest_name(self.timing)

    @property
    def topology(self) -> Topology:
        """Return what hwloc sees in the guest."""
        return self.hardware.topology

    @property
    def executions(self) -> int:
        """Return how often one run executes the program, at least."""
        return self.hardware.executions

    def supports(self, mapping: Mapping) -> bool:
        """Return whether the mapping fits."""
        return self.hardware.supports(mapping)

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: unknown before a run."""

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: real runs need no traces."""

    def charged(self, program: Program) -> Program:
        """Return the program with what makes it pay for its memory."""
        pays = {"GUEST_PAYS": PurePath(program.command[0]).name, "LD_PRELOAD": str(self.paying), **ENVIRONMENT}
        return msgspec.structs.replace(program, environment=(*program.environment, *pays.items()))

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Run the program in the guest under the mapping."""
        measured = self.hardware.run(self.charged(program), mapping)
        about = (("source", f"timed guest, {self.timing.factor:g} times slower than {self.timing.machine.name}"),)
        here = {"source", *(name for name, _ in machine_state())}  # of this computer, not of the guest
        rest = tuple(note for note in measured.provenance if note[0] not in here)
        return msgspec.structs.replace(measured, machine=self.name, provenance=about + rest)


def guest_name(timing: Timing) -> str:
    """Return the name by which a timed guest's figures go: times of another factor are those of another machine."""
    return f"timed guest {timing.machine.name}, factor {timing.factor:g}"


@contextlib.contextmanager
def served_machine(
    timing: Timing, repetitions: int, warm_up: int, most_s: float, kernel_options: Sequence[str] = ()
) -> Iterator[ServedMachine]:
    """Boot a timed guest and yield it as a machine; temporary files of this process go to where the guest writes."""
    with tempfile.TemporaryDirectory(prefix="numapredict-served-") as name, _temporary_files_in(Path(name)):
        folder = Path(name)
        build_parts(folder, EMULATOR)
        shape, totals = timing.shape(), folder / "totals"
        guest = Guest(shape, kernel_options, timing, totals=totals)
        with served(guest, folder, most_s) as running:
            counters = TimedCounters(totals, shape.nodes, shape.cpus_per_node, lambda: _end_one(running))
            hardware = HardwareMachine(
                guest_topology(running, guest_name(timing)),
                repetitions=repetitions,
                warm_up=warm_up,
                counters=lambda: CalibratedSource(counters, 1.0),
                computer=Computer(running.run, MeasurementLock(folder)),
            )
            yield ServedMachine(timing, running, hardware, folder / "libpaying.so")


def _end_one(guest: ServedGuest) -> None:
    """Run a program that pays and does nothing: what was counted before goes with it."""
    guest.run([str(guest.folder / "charged"), "/bin/true"], {}, None, TOPOLOGY_S)


def guest_topology(guest: ServedGuest, name: str) -> Topology:
    """Return the topology that hwloc sees in a guest."""
    file = guest.folder / "topology.xml"
    ending = guest.run(["/usr/bin/lstopo-no-graphics", "--of", "xml", str(file)], {}, None, TOPOLOGY_S)
    if ending.exit_code != 0:
        raise GuestError(f"lstopo: {ending.reason}")
    return topology_from_xml(file.read_bytes(), name)


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    try:
        yield
    finally:
        tempfile.tempdir = None
        del os.environ["TMPDIR"]
        if before is not None:
            os.environ["TMPDIR"] = before
