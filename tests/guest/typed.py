"""Runs inside a guest: commands of numapredict in the guest's folder, as they would be typed there.

`python -m tests.guest.typed COMMAND...`: each is a whole line, without anything for a shell but quotes.
"""

import os
import shlex
import sys

from tests.guest.end_to_end import leave, load, must

LOADED = ("numapredict.collect.placing.reported_run", "numapredict.predictor.command_line.cli")


def main(*commands: str) -> None:
    load(LOADED)
    os.chdir(os.environ["GUEST_FOLDER"])
    for command in commands:
        program, *words = shlex.split(command)
        if program != "numapredict":
            raise SystemExit(f"{program} is not numapredict")
        must(words)


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave()
