"""Runs calls in several processes, which an interrupt of the whole process group leaves to this one to end."""

import signal
from collections.abc import Generator, Iterable
from multiprocessing import resource_tracker
from typing import Any

import joblib
from joblib.externals.loky.backend import resource_tracker as joblib_tracker


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
