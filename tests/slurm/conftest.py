"""What the tests with SLURM share: one SLURM, started where it can be had; in CI it must be."""

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, cluster
from tests.slurm.errors import SlurmError


@pytest.fixture(scope="session")
def slurm() -> Iterator[Cluster]:
    """Skip where SLURM cannot be had; in CI that is a failure."""
    try:
        started = cluster()
        found = started.__enter__()
    except SlurmError as error:
        pytest.skip(str(error))
    try:
        yield found
    finally:
        started.__exit__(None, None, None)
