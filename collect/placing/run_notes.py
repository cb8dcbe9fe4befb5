"""What a placed run says beside the program's output."""

import logging
from collections.abc import Callable, Iterable

from numapredict.collect.host.tasks import Tasks

Note = Callable[[str], None]
"""Takes a line for the record of a run; what is noted is logged as well."""

log = logging.getLogger(__name__)


class RunNotes:
    """What a run says: of ranks that were started together the first says what is the same for all."""

    def __init__(self, here: Tasks | None) -> None:
        self.here = here
        self.notes: list[str] = []

    def note(self, line: str) -> None:
        """Keep a line for the record, and log it once."""
        self.notes.append(line)
        if self.here is None or self.here.rank == 0:
            log.info(line)

    def report(self, line: str) -> None:
        """Log a line about this process's own program."""
        log.info(line if self.here is None else f"rank {self.here.rank}: {line}")


def note_all(lines: Iterable[str], note: Note) -> None:
    """Note line after line."""
    for line in lines:
        note(line)
