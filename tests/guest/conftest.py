"""What the tests in guests share."""

import pytest

from tests.guest.errors import GuestError
from tests.guest.machine import check_installed


@pytest.fixture(scope="session")
def guests() -> None:
    """Skip where no guest can be had; in CI that is a failure."""
    try:
        check_installed()
    except GuestError as error:
        pytest.skip(str(error))
