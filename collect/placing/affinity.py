"""The affinity mask of the calling thread, which child processes inherit."""

import contextlib
import os
from collections.abc import Iterable, Iterator


def keep_to(cpus: Iterable[int]) -> None:
    """Restrict the calling thread, and its children, to PUs (OS indices); ignore a refusal by the system."""
    wanted = set(cpus)
    with contextlib.suppress(OSError):
        if wanted and os.sched_getaffinity(0) != wanted:
            os.sched_setaffinity(0, wanted)


@contextlib.contextmanager
def kept_to(cpus: Iterable[int]) -> Iterator[None]:
    """Restrict the calling thread to PUs until the context ends: a child started inside keeps the restriction.

    OpenMP runtimes count the processors of the affinity mask when they are loaded.
    """
    before = os.sched_getaffinity(0)
    keep_to(cpus)
    try:
        yield
    finally:
        keep_to(before)
