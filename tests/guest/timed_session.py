"""Runs inside a timed guest: what a user does on a new NUMA server, command by command, by the guest's clock.

Every command is a process of its own, forked from this one, which has imported once what they need. Prints a line of
JSON for each as soon as it has ended.

    python -m tests.guest.timed_session APP LEARNED...
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.host import host_topology
from numapredict.collect.topology import Topology
from numapredict.predictor.command_line.main import main as numapredict

LOADED = (
    "numapredict.collect.campaign.campaign",
    "numapredict.collect.placing.reported_run",
    "numapredict.predictor.advising.session",
    "numapredict.predictor.learning.train",
)
# With the default, four mappings.
BUDGET = "13"  # of 16 runs: one program under all mappings, three under three


class Said(msgspec.Struct, frozen=True):
    """A command's words, its exit code, how many seconds of the guest's clock it took, and all that it wrote."""

    words: tuple[str, ...]
    exit_code: int
    time_s: float
    output: str
    errors: str


def asked(words: Sequence[str], folder: Path) -> Said:
    """Run a command in a process of its own and print what became of it; its output goes to files in the folder."""
    files = (folder / "output", folder / "errors")
    began_s = time.monotonic()
    child = os.fork()
    if not child:
        for number, file in enumerate(files, start=1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["numapredict", *words]
        code = numapredict()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = Said(tuple(words), code, time.monotonic() - began_s, *(file.read_text() for file in files))
    sys.stdout.write(msgspec.json.encode(said).decode() + "\n")
    sys.stdout.flush()
    return said


def mappings(topology: Topology) -> tuple[str, ...]:
    """Return the labels to train on besides the default: all cores in two ways, and one node's."""
    every = f"{topology.core_count}x{len(topology.cpu_nodes)}-contiguous"
    return f"{every}-locality", f"{every}-interleave", f"{len(topology.cpu_nodes[0].cores)}x1-contiguous-bind"


def training(learned: Sequence[str], topology: Topology) -> list[str]:
    """Return the words of a small training on command lines."""
    words = ["train", "--repetitions", "1", "--budget", BUDGET, "--clusters", "2"]
    for mapping in mappings(topology):
        words += ["--mapping", mapping]
    for program in learned:
        words += ["--program", program]
    return words


def ready() -> Path:
    """Go to the folder where the guest writes, import what commands need, and return the folder."""
    folder = Path(os.environ["GUEST_FOLDER"])
    os.chdir(folder)
    os.environ |= {"NUMAPREDICT_DATA": str(folder / "data"), "NUMAPREDICT_CACHE": str(folder / "cache")}
    for name in LOADED:
        importlib.import_module(name)
    return folder


def main(app: str, *learned: str) -> None:
    """Ask before any training, train, ask again, run as advised and as by default, characterise."""
    folder = ready()
    command, train = app.split(), training(learned, host_topology())
    for words in (["topology"], ["doctor"], command, [*train, "--dry-run"], train, command):
        asked(words, folder)
    answered = asked(["predict", "--json", *command], folder)
    if answered.exit_code == 0:
        advice = json.loads(answered.output)
        chosen = [] if advice["keep"] else [advice["mapping"]]
        for mapping in dict.fromkeys((advice["default"], *chosen)):
            words = ["run", "--mapping", mapping, "--verify", "--regions", "-o", str(folder / "run.json")]
            asked([*words, "--", *command], folder)
    asked(["characterize", "--into", str(folder / "shown"), "--repetitions", "1", *command], folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
