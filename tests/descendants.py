"""All processes that a command started, wherever they went: known by a variable that each of them was born with."""

import contextlib
import os
import select
from pathlib import Path

VARIABLE = "NUMAPREDICT_TEST_FAMILY"


def family(mark: str) -> set[int]:
    """Return the processes that live and have the mark in their environment."""
    wanted = f"{VARIABLE}={mark}".encode()
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # it has just ended
                if wanted in (folder / "environ").read_bytes().split(b"\0") and _lives(folder):
                    found.add(int(folder.name))
    return found


def wait_for_the_end_of(mark: str, at_most_s: float = 60) -> set[int]:
    """Return when all of the family have ended; else those that live on although nothing happens for so long."""
    while True:
        members = family(mark)
        if not members:
            return set()
        waiting = select.poll()
        with contextlib.ExitStack() as stack:
            for member in members:
                with contextlib.suppress(ProcessLookupError):
                    handle = os.pidfd_open(member)
                    stack.callback(os.close, handle)
                    waiting.register(handle, select.POLLIN)
                    if not waiting.poll(at_most_s * 1000) and member in family(mark):
                        return family(mark)
                    waiting.unregister(handle)


def _lives(folder: Path) -> bool:
    """Return whether a process is more than what nobody has waited for yet."""
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
