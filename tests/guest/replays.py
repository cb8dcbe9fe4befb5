"""Runs inside a guest: replays of a program's region under mappings with other page nodes.

    python -m tests.guest.replays FOLDER PROGRAM...

Prints as JSON what came of them, by the program's name. The folder is for files that are made meanwhile.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from numapredict.collect.capturing.exchange import VARIABLE, AskedRegion, Outcome, variable_text
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.native.library import capture_library

REPLAYED = {
    "replayed": (
        "4x4-contiguous-first-touch",
        "4x4-contiguous-interleave",
        "4x1-contiguous-remote",
        "4x4-contiguous-bind@1",
    ),
    "touched": (
        "4x4-contiguous-first-touch",
        "4x4-contiguous-locality",
        "4x4-contiguous-balance",
        "4x4-contiguous-mix",
        "4x4-contiguous-dataset",
    ),
}


def replayed(program: Path, folder: Path) -> dict[str, tuple[str, int, int, str]]:
    """Return, by mapping, what ended a replay, the pages that were copied, those astray, and what the program said."""
    folder.mkdir(parents=True)
    topology = host_topology()

    def choose(_: AskedRegion) -> Generator[Placement, Outcome, None]:
        for label in REPLAYED[program.name.split("-")[0]]:
            yield resolve(parse_label(label), topology)

    with Watcher(choose, folder / "replays") as watcher:
        settings = variable_text(watcher.name, str(folder / "regions"))
        environment = {**os.environ, "OMP_NUM_THREADS": "4", "LD_PRELOAD": str(capture_library()), VARIABLE: settings}
        done = subprocess.run([program], env=environment, check=False, capture_output=True, text=True)
    # On a busy computer instances differ so much that another one is asked about, too.
    outcomes = [(replay.mapping, replay.outcome) for captured in reversed(watcher.found) for replay in captured.replays]
    said = f"{done.returncode}: {done.stdout}{done.stderr}"
    return {label: (one.problem, one.pages, one.astray, said) for label, one in outcomes}


def main(folder: str, *programs: str) -> None:
    found = {Path(name).name: replayed(Path(name), Path(folder, Path(name).name)) for name in programs}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
