"""The processors that what this thread starts may use."""

import contextlib
import os
from collections.abc import Iterable, Iterator


def keep_to(cpus: Iterable[int]) -> None:
    """Restrict the calling thread, and so what it starts or becomes, to PUs; leave it alone where that is refused."""
    wanted = set(cpus)
    with contextlib.suppress(OSError):
        if wanted and os.sched_getaffinity(0) != wanted:
            os.sched_setaffinity(0, wanted)


@contextlib.contextmanager
def kept_to(cpus: Iterable[int]) -> Iterator[None]:
    """Restrict the calling thread to PUs for a while: a child started meanwhile keeps the restriction.

    The OpenMP runtimes count the processors of the mask that they find when they are loaded.
    """
    before = os.sched_getaffinity(0)
    keep_to(cpus)
    try:
        yield
    finally:
        keep_to(before)
