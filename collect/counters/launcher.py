"""The command line of `numapredict-launch`: it starts a program with counters, in a group, or with own variables.

The contract is in native/launcher/launch.c; this is the only writer of its arguments.
"""

from collections.abc import Mapping as Variables
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.native.library import launcher_program


class Launching(msgspec.Struct, frozen=True):
    """What the launcher does beside starting the program.

    ``events`` are counted, each as native/launcher/launch.c spells it, and written to ``output``; ``join`` is a file
    that the program's process number is written to before it starts, such as the ``tasks`` of a resctrl group.
    """

    events: tuple[str, ...] = ()
    output: Path | None = None
    join: Path | None = None


def launcher_command(
    command: Sequence[str], variables: Variables[str, str], launching: Launching | None = None
) -> tuple[str, ...]:
    """Return the launcher's command line; raise MissingNativePartError where it was not built."""
    wanted = launching or Launching()
    words = [str(launcher_program())]
    for event in wanted.events:
        words += ["--event", event]
    if wanted.output is not None:
        words += ["--output", str(wanted.output)]
    if wanted.join is not None:
        words += ["--join", str(wanted.join)]
    for name, value in variables.items():
        words += ["--set", f"{name}={value}"]
    return (*words, "--", *command)


def write_arguments(words: Sequence[str], file: Path) -> tuple[str, ...]:
    """Write a launcher's command line to a file and return the two arguments and the program that read it from there.

    For tools that take a command apart and put it together again, and so lose blanks and quotes.
    """
    file.write_bytes(b"\0".join(word.encode(errors="surrogateescape") for word in words[1:]) + b"\0")
    return (words[0], "--arguments", str(file))
