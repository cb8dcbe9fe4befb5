"""The command line of `numapredict-launch`: it starts a program with counters, in a group, or with extra variables.

The contract is in native/launcher/launch.c; this is the only writer of its arguments.
"""

from collections.abc import Mapping as Variables
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.index_list import index_list
from numapredict.native.library import launcher_program


class LaunchedEvent(msgspec.Struct, frozen=True):
    """One event to count: ``pmu_type`` and ``configs`` as perf_event_open(2) has type and config, config1, config2.

    It is counted on each of ``cpus``, or on all CPUs that the program uses where none are given, for the program and
    its children alone, or with ``system_wide`` for all processes there.
    """

    name: str
    pmu_type: int
    configs: tuple[int, int, int]
    cpus: tuple[int, ...] = ()
    system_wide: bool = False

    @property
    def argument(self) -> str:
        """Return the event as the launcher spells it, its CPUs as a list: hundreds of them are one short argument."""
        numbers = ":".join([str(self.pmu_type), *(hex(config) for config in self.configs)])
        where = "cpu" if self.system_wide else "task"
        return f"{self.name}={numbers}@{where}" + (f":{index_list(self.cpus)}" if self.cpus else "")


class Launching(msgspec.Struct, frozen=True):
    """What the launcher does in addition to starting the program.

    ``events`` are counted and written to ``output`` (counts.py reads it); ``join`` is a file that the program's
    process number is written to before it starts, such as the ``tasks`` of a resctrl group. The program's own time is
    written to ``time`` (``read_time_s``); when ``with_process``, which starts the launcher, is gone, it is killed.
    ``start_error`` is a descriptor that the launcher inherits; an error number in text is written to it where the
    program cannot be run.
    """

    events: tuple[LaunchedEvent, ...] = ()
    output: Path | None = None
    join: Path | None = None
    time: Path | None = None
    with_process: int | None = None
    start_error: int | None = None


def launcher_command(
    command: Sequence[str], variables: Variables[str, str], launching: Launching | None = None
) -> tuple[str, ...]:
    """Return the launcher's command line; raise MissingNativePartError where it was not built."""
    wanted = launching or Launching()
    words = [str(launcher_program())]
    for event in wanted.events:
        words += ["--event", event.argument]
    if wanted.output is not None:
        words += ["--output", str(wanted.output)]
    if wanted.join is not None:
        words += ["--join", str(wanted.join)]
    if wanted.time is not None:
        words += ["--time", str(wanted.time)]
    if wanted.with_process is not None:
        words += ["--with", str(wanted.with_process)]
    if wanted.start_error is not None:
        words += ["--start-error", str(wanted.start_error)]
    for name, value in variables.items():
        words += ["--set", f"{name}={value}"]
    return (*words, "--", *command)


def read_time_s(file: Path) -> float | None:
    """Return the program's time that a launcher wrote, in seconds; None where it wrote none."""
    try:
        return int(file.read_text(encoding="ascii")) / 1e9
    except (OSError, ValueError):
        return None


def write_arguments(words: Sequence[str], file: Path) -> tuple[str, ...]:
    """Write a launcher's command line to a file and return the two arguments and the program that read it from there.

    For tools that split and rejoin a command, and thus lose blanks and quotes.
    """
    file.write_bytes(b"\0".join(word.encode(errors="surrogateescape") for word in words[1:]) + b"\0")
    return (words[0], "--arguments", str(file))
