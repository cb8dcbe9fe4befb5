"""HardwareMachine: this computer, timed by the clock."""

import tempfile
from pathlib import Path

from numapredict.collect.environment import memory_settings, package_version
from numapredict.collect.machines.census import read_census
from numapredict.collect.machines.command import EXPRESSIBLE, applied
from numapredict.collect.machines.errors import UnrunnableProgramError
from numapredict.collect.machines.preload import PlacementFiles
from numapredict.collect.machines.process import Ending, run_process
from numapredict.collect.machines.start import WITHOUT_LIBRARY, Start, library_obstacle, policies_obstacle, start_of
from numapredict.collect.mapping import InvalidMappingError, Mapping, PagePolicy
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.program import Program
from numapredict.collect.space import check
from numapredict.collect.topology import Topology

_NEXT_TOUCH: tuple[PagePolicy, ...] = ("locality", "balance", "mix")


class HardwareMachine:
    """The computer that this runs on: starts the real program, its threads and pages placed by the preload library.

    A program that the library cannot help is placed by OMP_* and numactl, as far as they can express the mapping. Each
    measurement is ``warm_up`` untimed runs (they fill the page cache) and ``repetitions`` timed ones, each stopped
    after ``timeout_s`` seconds. Times are wall times of the whole process, with its start-up, and under the library
    also those of its parallel regions. Counters are not read.
    """

    modelled = False

    def __init__(self, topology: Topology, *, repetitions: int = 5, warm_up: int = 1, timeout_s: float = 600.0) -> None:
        if repetitions < 1 or warm_up < 0 or not timeout_s > 0:
            raise ValueError("repetitions and the time-out must be positive, and the warm-up not negative")
        self.topology = topology
        self.repetitions = repetitions
        self.warm_up = warm_up
        self.timeout_s = timeout_s

    @property
    def name(self) -> str:
        """Return the computer's name, as its topology has it."""
        return self.topology.name

    @property
    def executions(self) -> int:
        """Return how often one measurement executes the program."""
        return self.warm_up + self.repetitions

    def supports(self, mapping: Mapping) -> bool:
        """Return whether the mapping fits this computer and its pages can be placed here."""
        try:
            check(mapping, self.topology)
        except InvalidMappingError:
            return False
        if library_obstacle():
            return applied(mapping, self.topology).page_policy in EXPRESSIBLE
        return not policies_obstacle(mapping, self.topology)

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Run the program under the mapping and return its times; raise what ``start_of`` does."""
        with tempfile.TemporaryDirectory(prefix="numapredict-") as folder:
            report = Path(folder) / "regions"
            start = start_of(program, mapping, self.topology, PlacementFiles(report=str(report)))
            repetitions = []
            for execution in range(self.executions):
                report.unlink(missing_ok=True)
                ending = self._execute(program, start)
                if ending.reason:
                    return self._measurement(program, mapping, start, failed=ending)
                if execution >= self.warm_up:
                    regions = read_census(report)
                    # Regions that threads run side by side add up to more than the run.
                    region_time_s = None if regions is None else min(regions.region_time_s, ending.time_s)
                    repetitions.append(Repetition(ending.time_s, region_time_s))
        return self._measurement(program, mapping, start, tuple(repetitions))

    def _execute(self, program: Program, start: Start) -> Ending:
        try:
            return run_process(start.command, start.environment, program.directory, self.timeout_s, start.cpus)
        except (OSError, ValueError) as error:  # ValueError: a null character in an argument
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnrunnableProgramError(f"cannot start {program.command[0]}: {reason}; check the program") from error

    def _measurement(
        self,
        program: Program,
        mapping: Mapping,
        start: Start,
        repetitions: tuple[Repetition, ...] = (),
        failed: Ending | None = None,
    ) -> Measurement:
        status: Status = "ok" if failed is None else "timeout" if failed.timed_out else "crashed"
        return Measurement(
            program=program.name,
            mapping=mapping,
            machine=self.name,
            modelled=False,
            status=status,
            repetitions=repetitions,
            message=failed.reason if failed else "",
            provenance=(
                ("source", "wall clock"),
                ("warm_up", str(self.warm_up)),
                *_placement(start, applied(mapping, self.topology)),
                *memory_settings(),
            ),
        )


def _placement(start: Start, mapping: Mapping) -> tuple[tuple[str, str], ...]:
    """Return what placed the threads and pages, as pairs."""
    if start.way == "numactl":
        return (
            ("placement", f"{WITHOUT_LIBRARY}, for the preload library cannot place it: {start.obstacle}"),
            ("numactl", " ".join(start.numactl[1:]) or "not used"),
        )
    method = "memory policy"
    if mapping.page_policy in _NEXT_TOUCH:
        method = "next touch"
    elif mapping.page_policy == "dataset":
        method = "a chunk of each range a thread"
    return (("placement", f"libnumaplace {package_version()}"), ("pages", method))
