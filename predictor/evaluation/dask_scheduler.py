"""Hands the work of a command to the workers of a Dask scheduler, by joblib's backend for it."""

import contextlib
from collections.abc import Iterator

import joblib

from numapredict.native.errors import InvalidInputError, UsageError

ANSWER_S = 10
"""How long a scheduler may take to answer, and to have a worker."""

ALL_WORKERS = -1
"""The number of jobs that means every worker's threads, in joblib's words."""


@contextlib.contextmanager
def on_scheduler(address: str | None, jobs: int) -> Iterator[int]:
    """Run joblib's calls of this context on the scheduler's workers, or here without an address; yield how many.

    A worker that dies loses nothing: Dask runs its calls again. UsageError without Dask, InvalidInputError where no
    scheduler or none of its workers answers.
    """
    if address is None:
        yield jobs
        return
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'numapredict[dask]'") from None
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=True)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:  # no address, or nobody there
        text = " ".join(str(error).split())[:200]
        raise InvalidInputError(f"no Dask scheduler at {address}: {text}; start one with 'dask scheduler'") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_S)
        except TimeoutError as error:
            raise InvalidInputError(
                f"the Dask scheduler at {address} has no worker: start some with 'dask worker {address}'"
            ) from error
        with joblib.parallel_config("dask"):
            yield ALL_WORKERS
