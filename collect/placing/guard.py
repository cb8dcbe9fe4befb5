"""A program's guard: the launcher stays with it, and kills its processes when this process ends or sends SIGTERM.

PR_SET_PDEATHSIG alone reaches one process and none of its children; the guard is the reaper of all of them
(native/launcher/launch.c has the contract).
"""

import os
from collections.abc import Sequence

from numapredict.collect.placing.launcher import Launching, launcher_command
from numapredict.native.errors import MissingNativePartError

_FOR_THE_PROGRAM = ("LD_PRELOAD", "LD_AUDIT")
_NUMBER_BYTES = 16


def guarded(
    command: Sequence[str], environment: dict[str, str], errors: int
) -> tuple[Sequence[str], dict[str, str], bool]:
    """Return a command under a guard, the guard's environment, and whether there is a guard.

    The guard inherits ``errors``, the descriptor of an empty file, and reports there a program that it cannot start
    (``start_error``). LD_PRELOAD is set for the program alone. Where the launcher was not built the command is
    unchanged.
    """
    own = {name: environment[name] for name in _FOR_THE_PROGRAM if name in environment}
    try:
        words = launcher_command(command, own, Launching(with_process=os.getpid(), start_error=errors))
    except MissingNativePartError:
        return command, environment, False
    return words, {name: value for name, value in environment.items() if name not in own}, True


def start_error(errors: int) -> OSError | None:
    """Return why the guard could not start the command; None where it was started."""
    number = os.pread(errors, _NUMBER_BYTES, 0)
    return OSError(int(number), os.strerror(int(number))) if number else None
