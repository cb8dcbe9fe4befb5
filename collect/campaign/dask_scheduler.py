"""Connects to a Dask scheduler, whose workers then do the work of a command."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from numapredict.native.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from distributed import Client

ANSWER_S = 10
"""How long a scheduler may take to answer, and to have a worker."""

PACKAGE = "numapredict"


@contextlib.contextmanager
def connected(address: str) -> Iterator["Client"]:
    """Yield a client of the scheduler at this address, the default one of Dask meanwhile.

    UsageError without Dask, InvalidInputError where no scheduler or none of its workers answers, or one of them has
    another version of ours.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'numapredict[dask]'") from None
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=True)  # type: ignore[no-untyped-call]
    except Exception as error:  # no address, nobody there, or a kind of transport that needs more than an address
        text = " ".join(str(error).split())[:200]
        raise InvalidInputError(f"no Dask scheduler at {address}: {text}; start one with 'dask scheduler'") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_S)
        except TimeoutError as error:
            raise InvalidInputError(
                f"the Dask scheduler at {address} has no worker: start some with 'dask worker {address}'"
            ) from error
        versions: Any = client.get_versions(packages=[PACKAGE])
        check_versions(versions)
        yield client


def check_versions(found: Mapping[str, Any]) -> None:
    """Raise InvalidInputError where the scheduler or a worker has another numapredict than this one, or none.

    ``found`` is what ``Client.get_versions`` says. The scheduler, too, takes tasks apart.
    """
    own = found["client"]["packages"][PACKAGE]
    each = {"scheduler": found["scheduler"], **{f"worker {name}": there for name, there in found["workers"].items()}}
    for name, there in each.items():
        version = there["packages"][PACKAGE]
        if version != own:
            raise InvalidInputError(
                f"the Dask {name} has {f'{PACKAGE} {version}' if version else f'no {PACKAGE}'}, this is {own}: install"
                f" that version there, with pip install '{PACKAGE}[dask]'"
            )
