"""Runs inside a timed guest: a search for each program, on a server where nothing was trained.

Each is asked about after two runs and again after four, which goes on from the two that were kept. Prints a line of
JSON for each command as soon as it has ended.

    python -m tests.guest.timed_search COMMAND...
"""

import sys

from tests.guest.timed_session import asked, ready

RUNS = (2, 4)


def main(*commands: str) -> None:
    """Search for each command line."""
    folder = ready()
    for command in commands:
        for runs in RUNS:
            asked(["--runs", str(runs), "--json", *command.split()], folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
