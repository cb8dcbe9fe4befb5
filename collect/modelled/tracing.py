"""Tracing: run a program once natively to learn its regions, and once a thread count in the emulator to see its misses.

Both runs are bounded in time and leave nothing behind when they are interrupted. The native run (the census) also shows
early that a program crashes, never ends or has no parallel region.
"""

import contextlib
import filecmp
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.work_folder import refused, require_room, work_folder
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.instance_classes import instances_to_trace
from numapredict.collect.modelled.trace import EXITED, parse_trace
from numapredict.collect.placing.allowance import LONGEST, TimeAllowance, allowance_of
from numapredict.collect.placing.census import CENSUS_THREADS, Census, parse_census, reserve_file, stopped
from numapredict.collect.placing.elf import check_traceable, starts_another
from numapredict.collect.placing.executable import command_of, executable_of
from numapredict.collect.placing.exit_code import may_be_habit, with_exit_code
from numapredict.collect.placing.process import Ending, cannot_start, run_process
from numapredict.collect.program import Program
from numapredict.native.errors import (
    InvalidInputError,
    MissingNativePartError,
    TracingError,
)
from numapredict.native.library import marks_library, ranges_library, tracer_plugin

_NO_PLUGINS = "unknown option 'plugin'"  # QEMU 8.2.2+ds-0ubuntu1.18, seen
_OTHER_INTERFACE = "plugin requires API version"  # QEMU 10.0.13, plugins/loader.c
# Where the program's address 0 lies in the emulator's. Without it later emulators, as Debian 13's 10.0.8, lie where the
# program and its heap want to be: the heap cannot grow, and what it holds goes elsewhere, as on no computer.
_GUEST_BASE = "0x100000000000"
_NUMBER_BYTES = 4  # an int of C
EMULATOR = "qemu-x86_64"
_COUNTED = ("OMP_", "KMP_", "GOMP_", "LD_", "MALLOC_", "GLIBC_TUNABLES")
# Variables that would bind threads or change the requested thread count.
_FORBIDDEN = ("OMP_PLACES", "OMP_PROC_BIND", "KMP_AFFINITY", "GOMP_CPU_AFFINITY", "LD_PRELOAD", "OMP_DISPLAY_ENV")
# Of some 600 traces of programs that run natively without errors, two ended in a SIGSEGV of the emulator and none on a
# second try. A program that dies by a signal each time still fails.
ATTEMPTS = 2
# Before the first region the emulator takes 3 times the native time for loops of integers, 8.4 for reading and writing
# numbers as text; the limit is above that, and at most so many times the trace's own limit.
_START_SLOWDOWN = 12.0
_MOST_START = 3.0
# Many threads share few cores here, and a spinning thread delays the one that it waits for.
_PATIENT = (
    ("OMP_WAIT_POLICY", "passive"),
    ("GOMP_SPINCOUNT", "0"),
    ("KMP_BLOCKTIME", "0"),
    ("OMP_DYNAMIC", "false"),
)


class TraceBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The most that tracing may take: seconds for the census and for each trace, instances of a region, records.

    The seconds are processor time of the traced program, so that a busy computer sees no less of it: for a trace summed
    over all threads, for the census divided by its two threads, which is the wall time on two idle cores. A trace gets
    additional time for the part before the first region (``with_start_s``). A program that sleeps for so long, or takes
    ten times as long in wall time, is stopped too. With the defaults a recommendation (a census and two traces) takes
    at most two minutes on an idle computer if the program reaches its regions soon.
    """

    census_s: float = 20.0
    trace_s: float = 40.0
    instances: int = 3
    records: int = 300_000
    instructions: int = 200_000_000_000
    seed: int = 1

    def with_start_s(self, census: Census) -> float:
        """Return the most seconds of a trace of the program: for its start in the emulator, and ``trace_s``."""
        start_s = max(census.before_first_region_s, 0.0) * _START_SLOWDOWN
        return self.trace_s + min(start_s, _MOST_START * self.trace_s)

    def instances_of(self, census: Census) -> dict[int, int]:
        """Return how many first instances of each region, by key, a trace of the program records."""
        return instances_to_trace(census, self.instances, self.trace_s)


def check_program(program: Program) -> str:
    """Return the executable of a program that can be traced; raise UnrunnableProgramError with the reason otherwise.

    It is text, as a Path would drop the `./` that prevents a search in PATH.
    """
    found = executable_of(program)
    check_traceable(Path(program.directory or ".") / found)
    return found


def counted_variables() -> dict[str, str]:
    """Return this process's variables that may change what a program does in memory."""
    return {name: value for name, value in given_environment().items() if name.startswith(_COUNTED)}


def take_census(program: Program, budget: TraceBudget, counted: Mapping[str, str] | None = None) -> bytes:
    """Run a program natively with two threads and return the census file's bytes; TracingError if it is of no use.

    With an exit code other than 0 it is of use if regions were seen; the file keeps the code. ``counted``: the
    variables that count, this process's own where none are given.
    """
    counted = counted_variables() if counted is None else counted
    check_program(program)
    with work_folder() as folder:
        file = folder / "census"
        try:
            reserve_file(file)
        except OSError as error:
            raise refused(folder.parent, error) from error
        environment = _environment(program, CENSUS_THREADS, counted)
        environment["NUMAPREDICT_CENSUS"] = str(file)
        preload = [counted.get("LD_PRELOAD", ""), str(marks_library())]
        environment["LD_PRELOAD"] = ":".join(filter(None, preload))
        allowed = allowance_of(budget.census_s, CENSUS_THREADS)
        ending = _run([*command_of(program)], environment, program, allowed)
        data = file.read_bytes() if file.is_file() else b""
        if ending.reason:
            require_room(folder)
    if ending.timed_out:
        data = stopped(data, time.monotonic_ns())
    found = parse_census(data)
    worked = found is not None and may_be_habit(ending.exit_code)
    if ending.reason and not ending.timed_out and not worked:
        raise TracingError(f"{program.name} failed when it ran here: {ending.reason}; make it run first")
    if found is None:
        if ending.timed_out:
            raise TracingError(
                f"{program.name} began no parallel region within {allowed.processor_s:.0f} CPU seconds; give it a "
                "smaller input, or more time with --cpu-seconds"
            )
        raise TracingError(
            f"{program.name} ran no OpenMP parallel region (libgomp and libomp are seen), and nothing else is "
            "modelled; build it with -fopenmp, or leave --machine out to search by its whole run on this computer"
        )
    return data if ending.timed_out else with_exit_code(data, ending.exit_code)


def find_emulator() -> str | None:
    """Return the path of the emulator that traces, None where there is none.

    One of this Python's environment goes first: `.packaging/install` builds it where the system's has no plugins.
    """
    return shutil.which(EMULATOR, path=f"{sys.prefix}/bin") or shutil.which(EMULATOR)


def take_trace(
    program: Program,
    threads: int,
    machine: MachineDescription,
    census: Census,
    budget: TraceBudget,
    counted: Mapping[str, str] | None = None,
) -> bytes:
    """Trace a program with a number of threads through a machine's private caches and return the trace file's bytes.

    Raises TracingError when the program fails under the tracer or shows no region in time. ``counted`` is as for
    ``take_census``.
    """
    counted = counted_variables() if counted is None else counted
    executable = check_program(program)
    _check_own_regions(program, executable, census)
    emulator = find_emulator()
    if emulator is None:
        raise MissingNativePartError(
            f"{EMULATOR} is not installed; .packaging/install in numapredict's source folder installs it"
        )
    with work_folder() as folder:
        file, wanted, failure = folder / "trace", folder / "wanted", folder / "failure"
        wanted.write_text("".join(f"{key} {count}\n" for key, count in budget.instances_of(census).items()))
        cache = machine.private_cache
        sets = 1 << max((cache.size_bytes // machine.line_bytes // cache.ways).bit_length() - 1, 0)
        seconds = budget.with_start_s(census)
        options = {
            "out": file,
            "failure": failure,
            "wanted": wanted,
            "sets": sets,
            "ways": cache.ways,
            "seed": budget.seed,
            "records": budget.records,
            "instances": budget.instances,
            "instructions": budget.instructions,
            "seconds": seconds,
            "longest": seconds * LONGEST,
            "base": _GUEST_BASE,
        }
        plugin = ",".join([_plain(tracer_plugin()), *(f"{name}={value}" for name, value in options.items())])
        command = [
            *_fixed_addresses(),
            *[
                emulator,
                *("-B", _GUEST_BASE),
                "-E",
                f"LD_PRELOAD={_plain(marks_library())}:{_plain(ranges_library())}",
                "-E",
                f"NUMAPREDICT_TRACE={threads}",
            ],
            *["-0", command_of(program)[0], "-plugin", plugin, executable, *program.command[1:]],
        ]
        for _ in range(ATTEMPTS):
            # The tracer stops itself at its limit and then needs a moment to write its file.
            allowed = TimeAllowance(seconds * LONGEST + 30)
            failure.write_bytes(bytes(_NUMBER_BYTES))  # has its space when the disk is full
            ending = _run(command, _environment(program, threads, counted), program, allowed)
            # Some emulators write the trace of a program that dies by a signal, and some do not.
            died = ending.exit_code < 0 and not ending.timed_out
            data = file.read_bytes() if file.is_file() and not died else b""
            if data or ending.exit_code >= 0:
                break
        _check_written(failure)
        if ending.reason or not data:
            require_room(folder)
    try:
        trace = parse_trace(data, "the trace")
    except InvalidInputError as error:
        reason = ending.reason or "it left no trace"
        if _NO_PLUGINS in reason:
            raise MissingNativePartError(
                f"{emulator} was built without plugins, as Debian 13's and Ubuntu 24.04's are, and cannot trace; "
                ".packaging/install in numapredict's source folder builds one that can into .venv/bin (copy it to "
                f"{sys.prefix}/bin if that is another folder)"
            ) from error
        if _OTHER_INTERFACE in reason:
            raise MissingNativePartError(
                f"{emulator} has another plugin interface than the tracer; use QEMU 7.2 to 10.0: {reason}"
            ) from error
        if ending.exit_code == -signal.SIGILL:
            raise TracingError(
                f"{program.name} or a library of it has instructions that the emulator lacks, such as AVX-512; build "
                "it with -march=x86-64-v3 in place of -march=native"
            ) from error
        raise TracingError(
            f"{program.name} with {threads} threads failed under the tracer: {reason}; does it run with "
            f"OMP_NUM_THREADS={threads}?"
        ) from error
    if not (trace.segments["region"] != 0).any():
        raise TracingError(
            f"{program.name} with {threads} threads reached no parallel region within {seconds:.0f} CPU seconds "
            "of tracing; give it a smaller input, or more time with --cpu-seconds"
        )
    if trace.end != EXITED or ending.timed_out:
        return data  # it was stopped: its exit code means nothing
    if census.complete and (not may_be_habit(ending.exit_code) or bool(ending.exit_code) != bool(census.exit_code)):
        raise TracingError(
            f"{program.name} with {threads} threads failed under the tracer: {ending.reason or 'exit code 0'}, where "
            f"it ended with {census.exit_code} when it ran here; does it run with OMP_NUM_THREADS={threads}?"
        )
    return with_exit_code(data, ending.exit_code)


def _check_own_regions(program: Program, executable: str, census: Census) -> None:
    """Raise UnrunnableProgramError where the census saw the regions of a program that this one started or became."""
    own = Path(program.directory or ".") / executable
    with contextlib.suppress(OSError):  # the census knows no path, or of a file that has gone
        if census.program and not (own.samefile(census.program) or filecmp.cmp(own, census.program, shallow=False)):
            raise starts_another(program.name, "starts another program", census.program)


def _environment(program: Program, threads: int, counted: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's and the program's variables, with the thread count and passive waiting set."""
    others = {name: value for name, value in given_environment().items() if not name.startswith(_COUNTED)}
    own = dict(program.environment)
    merged = {**others, **counted, **own, **dict(_PATIENT), "OMP_NUM_THREADS": str(threads)}
    return {name: value for name, value in merged.items() if name not in _FORBIDDEN}


def _run(command: list[str], environment: dict[str, str], program: Program, allowed: TimeAllowance) -> Ending:
    try:
        return run_process(command, environment, program.directory, allowed)
    except (OSError, ValueError) as error:
        raise cannot_start(program.command[0], error) from error


def _check_written(failure: Path) -> None:
    """Raise UnwritableError where the tracer left the error number of a failed write."""
    number = int.from_bytes(failure.read_bytes(), "little")
    if number:
        raise refused(failure.parent.parent, OSError(number, os.strerror(number)))


def _plain(path: Path) -> str:
    """Return a path for the emulator's option lists, whose separator is a comma."""
    if "," in str(path):
        raise MissingNativePartError(f"{path}: QEMU takes no comma in this path; install numapredict in another folder")
    return str(path)


def _fixed_addresses() -> tuple[str, ...]:
    """Return the command prefix that switches address randomisation off, so that equal runs give equal traces."""
    setarch = shutil.which("setarch")
    if (
        setarch is None
        or run_process([setarch, "-R", "true"], dict(os.environ), None, TimeAllowance(10.0)).exit_code != 0
    ):
        return ()
    return (setarch, "-R")
