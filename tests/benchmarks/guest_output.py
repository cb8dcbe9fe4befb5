"""The output of a guest's script that does one thing after the other, each after a line with its name."""

import io
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from tests.guest.errors import GuestError, GuestTimeoutError

BEGINS = "== "


def named(name: str) -> str:
    """Return the shell's words that print a name."""
    return shlex.join(["echo", BEGINS + name])


def parts(output: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return each name with the lines that came after it; what came before the first name is left out."""
    found: list[tuple[str, list[str]]] = []
    for line in output.splitlines():
        if line.startswith(BEGINS):
            found.append((line.removeprefix(BEGINS), []))
        elif found:
            found[-1][1].append(line)
    return [(name, tuple(lines)) for name, lines in found]


class Lines(io.BytesIO):
    """What a guest's output is written to while it comes; each line goes to a function as soon as it is whole."""

    def __init__(self, take: Callable[[str], None]) -> None:
        """Give each line, without its end, to the function."""
        super().__init__()
        self._take, self._rest = take, b""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        """Take bytes as they come, and return how many."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line.decode())
        return len(data)


class Parts(Lines):
    """Likewise by part: a name with its lines, as soon as the next one begins, and the last one at `end`."""

    def __init__(self, take: Callable[[str, tuple[str, ...]], None]) -> None:
        """Give each part to the function."""
        super().__init__(self._line)
        self._part, self._text = take, ""

    def _line(self, line: str) -> None:
        if line.startswith(BEGINS):
            self.end()
        self._text += line + "\n"

    def end(self) -> None:
        """Give the last part too, if there is one."""
        for name, lines in parts(self._text):
            self._part(name, lines)
        self._text = ""


@contextmanager
def guest_errors() -> Iterator[None]:
    """End the process with one line on a guest's error: exit code 124 where its time was spent, otherwise 2."""
    try:
        yield
    except GuestError as error:
        click.echo(f"guest: {error}", err=True)
        sys.exit(124 if isinstance(error, GuestTimeoutError) else 2)
