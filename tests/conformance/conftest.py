"""What tests of the modelled machine share: the programs that they trace, and where the traces are kept."""

from pathlib import Path

import pytest

from tests.openmp import GCC, build


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("kernels.c", tmp_path_factory.mktemp("kernels"), GCC)
