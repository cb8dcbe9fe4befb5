"""The first run of a program whose regions are to be replayed: plain, it says which instances stand for others."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from numapredict.collect.capturing.capturing_environment import capturing_environment
from numapredict.collect.capturing.exchange import VARIABLE, variable_text
from numapredict.collect.capturing.instance_class import RegionInstances, regions_of
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.placement import Placement
from numapredict.collect.placing.census import read_census
from numapredict.collect.placing.executable import command_of
from numapredict.collect.placing.launcher import launcher_command
from numapredict.collect.placing.preload import processes_files
from numapredict.collect.placing.process import Ending, cannot_start, run_process
from numapredict.collect.placing.region_times import RegionTimes, region_times_of_processes
from numapredict.collect.program import Program
from numapredict.native.library import capture_library


class FirstRun(msgspec.Struct, frozen=True):
    """Its ``regions`` with the classes of their instances, and their ``times``; ``ending`` is None if interrupted."""

    regions: tuple[RegionInstances, ...]
    times: tuple[RegionTimes, ...]
    ending: Ending | None


def first_run(
    program: Program, caller: Mapping[str, str], placement: Placement, folder: Path, limit_s: float
) -> FirstRun:
    """Run a program as the baseline wants, at most so long; what an interrupted run has left counts, too.

    Its output is discarded. Raises UnrunnableProgramError where the system cannot start it.
    """
    report = folder / "first"
    ending = None
    with Watcher(lambda _: iter(()), folder / "none", ()) as watcher:  # type: ignore[arg-type,return-value]
        settings = variable_text(watcher.name, str(report))
        environment = capturing_environment(caller, placement, capture_library(), settings)
        with contextlib.suppress(KeyboardInterrupt):
            ending = execute(program, environment, placement, limit_s)
    processes = [census for path in processes_files(report) if (census := read_census(path)) is not None]
    return FirstRun(regions_of(processes), region_times_of_processes(report), ending)


def execute(program: Program, environment: dict[str, str], placement: Placement, limit_s: float) -> Ending:
    """Run a program with the capture library, which nothing but the program loads; at most so many seconds.

    Raises UnrunnableProgramError where the system cannot start it.
    """
    own = {name: environment.pop(name) for name in ("LD_PRELOAD", VARIABLE)}
    command = launcher_command(command_of(program), own)
    try:
        return run_process(command, environment, program.directory, limit_s, placement.pus)
    except (OSError, ValueError) as error:
        raise cannot_start(program.command[0], error) from None
