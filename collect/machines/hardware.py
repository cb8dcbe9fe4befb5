"""HardwareMachine: this computer, timed by the clock."""

import os
import shutil
import subprocess

import msgspec

from numapredict.collect.environment import memory_settings
from numapredict.collect.machines.command import CONFLICTING, EXPRESSIBLE, Launch, applied, launch
from numapredict.collect.machines.errors import UnrunnableProgramError, UnsupportedMappingError
from numapredict.collect.machines.executable import executable_of
from numapredict.collect.machines.process import Ending, run_process
from numapredict.collect.mapping import InvalidMappingError, Mapping
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.program import Program
from numapredict.collect.space import check
from numapredict.collect.topology import Topology
from numapredict.native.errors import MissingNativePartError


class Start(msgspec.Struct, frozen=True):
    """What starts a program under a mapping: the whole command, and all of its environment.

    ``numactl`` is the part of the command that goes before the program, empty where it is unusable and not needed.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    numactl: tuple[str, ...]


class HardwareMachine:
    """The computer that this runs on: starts the real program, threads placed by OMP_*, pages by numactl.

    Each measurement is ``warm_up`` untimed runs (they fill the page cache) and ``repetitions`` timed ones, each stopped
    after ``timeout_s`` seconds. Times are wall times of the whole process, with its start-up. Counters are not read.
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
        """Return whether the mapping fits this computer and OMP_* with numactl can express it."""
        try:
            check(mapping, self.topology)
        except InvalidMappingError:
            return False
        return applied(mapping, self.topology).page_policy in EXPRESSIBLE

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Run the program under the mapping and return its times; raise what ``starting`` does."""
        start = self.starting(program, mapping)
        times = []
        for execution in range(self.executions):
            try:
                ending = run_process(start.command, start.environment, program.directory, self.timeout_s)
            except (OSError, ValueError) as error:  # ValueError: a null character in an argument
                reason = error.strerror if isinstance(error, OSError) else error
                raise UnrunnableProgramError(
                    f"cannot start {program.command[0]}: {reason}; check the program"
                ) from error
            if ending.reason:
                return self._measurement(program, mapping, start.numactl, failed=ending)
            if execution >= self.warm_up:
                times.append(ending.time_s)
        return self._measurement(program, mapping, start.numactl, times=times)

    def starting(self, program: Program, mapping: Mapping) -> Start:
        """Return what starts the program under the mapping.

        Raises UnrunnableProgramError, InvalidMappingError, UnsupportedMappingError for a page policy that is not
        expressible or not permitted, and MissingNativePartError where numactl is needed and missing.
        """
        check(mapping, self.topology)
        nearest = applied(mapping, self.topology)
        if nearest.page_policy not in EXPRESSIBLE:
            raise UnsupportedMappingError(
                f"{mapping.label}: page policy {mapping.page_policy} needs the preload library, which is not built;"
                f" use {', '.join(EXPRESSIBLE)}"
            )
        placed = launch(nearest, self.topology)
        prefix = _usable_prefix(placed, mapping)
        return Start(
            command=(*prefix, executable_of(program), *program.command[1:]),
            environment=_environment(program, placed),
            numactl=prefix,
        )

    def _measurement(
        self,
        program: Program,
        mapping: Mapping,
        prefix: tuple[str, ...],
        times: list[float] | None = None,
        failed: Ending | None = None,
    ) -> Measurement:
        status: Status = "ok" if failed is None else "timeout" if failed.timed_out else "crashed"
        return Measurement(
            program=program.name,
            mapping=mapping,
            machine=self.name,
            modelled=False,
            status=status,
            repetitions=tuple(Repetition(time_s) for time_s in times or ()),
            message=failed.reason if failed else "",
            provenance=(
                ("source", "wall clock"),
                ("warm_up", str(self.warm_up)),
                ("numactl", " ".join(prefix[1:]) or "not used"),
                *memory_settings(),
            ),
        )


def _environment(program: Program, start: Launch) -> dict[str, str]:
    """Return the caller's variables, then the program's, then the mapping's, without those that counteract it."""
    merged = {**os.environ, **dict(program.environment), **dict(start.environment)}
    return {name: value for name, value in merged.items() if name not in CONFLICTING}


def _usable_prefix(start: Launch, mapping: Mapping) -> tuple[str, ...]:
    """Return the numactl call, or nothing where it is unusable and the mapping can do without."""
    if shutil.which(start.numactl[0]) is None:
        if start.memory_policy:
            raise MissingNativePartError(
                f"{mapping.label} needs numactl, which is not installed; install the package numactl"
            )
        return ()
    probe = subprocess.run(
        [*start.numactl, "true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if probe.returncode == 0:
        return start.numactl
    if start.memory_policy:
        lines = probe.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise UnsupportedMappingError(
            f"{mapping.label}: this system refuses the memory policy ({lines[-1]}); run outside the container or give"
            " it the capability SYS_NICE"
        )
    return ()
