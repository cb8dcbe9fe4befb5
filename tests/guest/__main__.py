"""`python -m tests.guest 4x4 -- CMD...`: one command in a guest, as if it ran here."""

import signal
import sys
from types import FrameType

from tests.guest.cli import main


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, _leave)  # so that the guest and its folder go as well
    main(prog_name="python -m tests.guest")
