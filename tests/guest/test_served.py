from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.guest.errors import GuestError
from tests.guest.machine import Guest, GuestResult
from tests.guest.served import served
from tests.guest.shape import Shape


class Broken(Guest):
    """A guest that ends before its server answers."""

    def run(self, command: Sequence[str], *_rest: object) -> GuestResult:
        raise {0: GuestError("no emulator"), 1: ValueError("a mistake")}[len(self.kernel_options)]


@pytest.mark.parametrize(
    ("options", "error", "said"), [((), GuestError, "no emulator"), (("x",), ValueError, "a mistake")]
)
def test_whatever_ends_a_guest_ends_the_wait_for_it(
    options: tuple[str, ...], error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said), served(Broken(Shape.parse("2x2"), options), tmp_path, 60.0):
        pytest.fail("there is no guest")
