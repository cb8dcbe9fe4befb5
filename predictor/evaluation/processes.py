"""Runs calls in several processes: here, where an interrupt of all leaves them to this one to end, or by Dask."""

import contextlib
import signal
from collections.abc import Generator, Iterable, Iterator
from multiprocessing import resource_tracker
from typing import Any

import joblib
from joblib.externals.loky.backend import resource_tracker as joblib_tracker

from numapredict.collect.campaign.dask_scheduler import connected

ALL_WORKERS = -1
"""The number of jobs that means every worker's threads, in joblib's words."""


@contextlib.contextmanager
def on_scheduler(address: str | None, jobs: int) -> Iterator[int]:
    """Run joblib's calls of this context on a Dask scheduler's workers, or here without an address; yield how many.

    A worker that dies loses nothing: Dask runs its calls again. Raises as ``connected`` does.
    """
    if address is None:
        yield jobs
        return
    with connected(address), joblib.parallel_config("dask"):
        yield ALL_WORKERS


def in_processes(calls: Iterable[Any], jobs: int) -> Generator[Any, None, None]:
    """Yield the results of ``joblib.delayed`` calls in their order, ``jobs`` of them at a time.

    The processes begin with the first calls, here, and get the signals blocked now: a Ctrl-C that reached one of them
    before joblib can handle it would print a traceback. This process ends them.
    """
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator")
    if jobs > 1:
        for tracker in (resource_tracker, joblib_tracker):
            tracker.ensure_running()  # where it has yet to be started, that unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        running: Generator[Any, None, None] = parallel(calls)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return running
