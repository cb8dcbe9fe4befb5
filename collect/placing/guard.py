"""A program's guard: the launcher stays with it, and kills its processes when this process ends or sends SIGTERM.

PR_SET_PDEATHSIG alone reaches one process and none of its children; the guard is the reaper of all of them
(native/launcher/launch.c has the contract).
"""

import errno
import os
from collections.abc import Sequence

from numapredict.collect.placing.launcher import Launching, launcher_command
from numapredict.native.errors import MissingNativePartError

_PROGRAM = "numapredict-launch: "
_EXITS = (126, 127)  # native/launcher/launch.c: the program cannot be run, there is none
_FOR_THE_PROGRAM = ("LD_PRELOAD", "LD_AUDIT")
_NUMBERS = {os.strerror(number): number for number in errno.errorcode}


def guarded(command: Sequence[str], environment: dict[str, str]) -> tuple[Sequence[str], dict[str, str], bool]:
    """Return a command under a guard, the guard's environment, and whether there is a guard.

    LD_PRELOAD is set for the program alone. Where the launcher was not built the command is unchanged.
    """
    own = {name: environment[name] for name in _FOR_THE_PROGRAM if name in environment}
    try:
        words = launcher_command(command, own, Launching(with_process=os.getpid()))
    except MissingNativePartError:
        return command, environment, False
    return words, {name: value for name, value in environment.items() if name not in own}, True


def start_error(exit_code: int, last_line: str) -> OSError | None:
    """Return why the system could not start the command, by the guard's report; None where it was started."""
    if exit_code not in _EXITS or not last_line.startswith(_PROGRAM):
        return None
    reason = last_line.rpartition(": ")[2]
    return OSError(_NUMBERS.get(reason, errno.EINVAL), reason)
