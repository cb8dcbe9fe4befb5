"""Runs inside a guest: a search; a training, killed once; advice; a run as advised; the time that variables cost.

The times mean nothing there: they are an emulator's. Every command is a process of its own, forked from this one, which
has imported once what they need: that takes longer in a guest than all of its runs.

    python -m tests.guest.end_to_end KNOWN_PROGRAM NEW_PROGRAM SPREAD
"""

import gc
import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from numapredict.predictor.command_line.main import main as numapredict

LOADED = (
    "numapredict.collect.campaign.campaign",
    "numapredict.collect.campaign.request",
    "numapredict.collect.placing.reported_run",
    "numapredict.predictor.advising.advice_text",
    "numapredict.predictor.advising.session",
    "numapredict.predictor.command_line.cli",
    "numapredict.predictor.learning.learning",
)
MAPPINGS = (
    "4x2-contiguous-first-touch",
    "4x2-scatter-first-touch",
    "4x2-contiguous-interleave",
    "2x1-contiguous-bind",
)
KILLED_AFTER = 5  # lines of the journal, of which the first is its head


def load(modules: Iterable[str]) -> None:
    """Import what all commands need, for those that are forked from this process; nothing of it is ever garbage."""
    gc.disable()
    for name in modules:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def leave() -> NoReturn:
    """End this process at once, without taking apart what was imported."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def started(words: list[str], output: Path | None = None) -> int:
    """Start a command in a process of its own, its standard output in a file if there is one; return its number."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    if output is not None:
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    code = numapredict(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def ended(child: int) -> int:
    """Wait for a process and return its exit code, minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def must(words: list[str], output: Path | None = None) -> None:
    code = ended(started(words, output))
    if code:
        raise SystemExit(f"numapredict {words[0]} ended with {code}")


def finished(journal: Path) -> int:
    return len(journal.read_bytes().splitlines()) if journal.exists() else 0


def killed(words: list[str], journal: Path) -> int:
    """Start a training, kill it after some runs, and return how it ended."""
    trainer = started(words)
    while (
        finished(journal) < KILLED_AFTER and os.waitid(os.P_PID, trainer, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    ):
        time.sleep(0.2)
    os.kill(trainer, signal.SIGKILL)
    return ended(trainer)


def main(known: str, program: str, spread: str) -> None:
    folder = Path(os.environ["GUEST_FOLDER"])
    os.chdir(folder)
    os.environ |= {"NUMAPREDICT_DATA": str(folder / "data"), "NUMAPREDICT_CACHE": str(folder / "cache")}
    load(LOADED)
    must(["predict", "--json", "--runs", "3", known], folder / "searched.json")
    words = shlex.split(json.loads((folder / "searched.json").read_text())["command"])
    if words[0] == "numapredict":
        must(words[1:])
    else:
        subprocess.run(words, check=True)
    campaign = folder / "campaign"
    training = ["train", "--codelet", "cg-axpy", "--size", "tiny", "--program", known]
    training += [word for label in MAPPINGS for word in ("--mapping", label)]
    training += ["--repetitions", "1", "--into", str(campaign), "--clusters", "2"]
    must([*training, "--dry-run"])
    sys.stdout.write(f"training left with {killed(training, campaign / 'journal.jsonl')}\n")
    must(training)
    must(["predict", "--json", program], folder / "advice.json")
    advice = json.loads((folder / "advice.json").read_text())
    mapping = MAPPINGS[0] if advice["keep"] else advice["mapping"]
    must(["run", "--mapping", mapping, "--verify", "-o", str(folder / "run.json"), "--", program])
    for seconds in ("1", "2", "4", "8"):  # a run may have too few samples for any variable to be worth the time
        question = ["variables", "--json", "--time", "--mapping", MAPPINGS[0], spread, seconds]
        code = ended(started(question, folder / "variables.json"))
        if code == 0 and json.loads((folder / "variables.json").read_text())["severity"] == "measured time":
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave()
