"""Runs a program as it is, in this process's place: the advice was to keep what it has."""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.process import cannot_start
from numapredict.collect.program import program_as_typed

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def become(command: Sequence[str]) -> NoReturn:
    """Execute a command in place of this process, with its signals as at the start; raises UnrunnableProgramError."""
    executable = executable_of(program_as_typed(tuple(command)))
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in _IGNORED_BY_PYTHON]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    try:
        os.execv(executable, tuple(command))  # noqa: S606 - no shell, and the user's own command
    except (OSError, ValueError) as error:
        for number, handler in before:
            signal.signal(number, handler)
        raise cannot_start(command[0], error) from error
