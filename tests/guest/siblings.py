"""Runs inside a guest: a program by `numapredict run` and by emitted commands, under each mapping.

`python -m tests.guest.siblings PROGRAM LABEL WAYS...`: WAYS, joined by commas, are "library" or tools. A line with the
label and the way comes before what the program says.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.guest.end_to_end import leave, load, must

LOADED = (
    "numapredict.collect.placing.placed_run",
    "numapredict.predictor.advising.emitted_command",
    "numapredict.predictor.command_line.cli",
)


def main(program: str, *asked: str) -> None:
    load(LOADED)
    folder = Path(os.environ["GUEST_FOLDER"])
    for label, ways in zip(asked[::2], asked[1::2], strict=True):
        for way in ways.split(","):
            sys.stdout.write(f"{label} {way}\n")
            sys.stdout.flush()
            if way == "library":
                must(["run", "--mapping", label, "--verify", "--", program])
            else:
                must(["run", "--mapping", label, "--emit", way, "--", program], folder / "emitted")
                subprocess.run(["sh", folder / "emitted"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave()
