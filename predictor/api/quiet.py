"""Calls as a library: one class of errors, and nothing printed unless it is asked for."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence

from numapredict.collect.terminal.command import Interruption
from numapredict.collect.terminal.terminal import Terminal
from numapredict.native.errors import UnwritableError

Command = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A program's path, or a list of it and its arguments. A text is never split and never given to a shell."""


def words_of(command: Command) -> tuple[str, ...]:
    """Return a command's words: a single text is one word, the program.

    >>> words_of("./my app"), words_of(["./app", "-n", "4"])
    (('./my app',), ('./app', '-n', '4'))
    """
    given = [command] if isinstance(command, str | os.PathLike) else command
    return tuple(os.fspath(word) for word in given)


@contextlib.contextmanager
def called(*, progress: bool) -> Iterator[None]:
    """Do what is inside for a caller in Python; with ``progress`` standard error shows what the commands show there.

    Raises NumapredictError for what the system refuses, too, and KeyboardInterrupt, with what is kept, if interrupted.
    """
    try:
        with Terminal(sys.stderr).attached() if progress else contextlib.nullcontext():
            yield
    except Interruption as error:
        raise KeyboardInterrupt(error.kept) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnwritableError(f"{error.filename}: {reason}" if error.filename else reason) from error
