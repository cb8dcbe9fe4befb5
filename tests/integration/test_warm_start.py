"""A command that a server forks is the command that a user starts: the same answer, exit code and signal."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, cold, numapredict
from tests.planted import planted_dataset
from tests.warm_start import warm

RUN = ("run", "--mapping", "1x1-contiguous-bind", "--")
COMMANDS = {
    "advice": ((*SANDY, "--json", "/bin/ls"), 2),
    "campaign": (("collect", "campaign", *SANDY, "--into", "made", "--dry-run", "--json"), 0),
    "codelets": (("collect", "codelets"), 0),
    "completion": (("completion", "fish"), 0),
    "doctor": (("doctor", "--no-such-option"), 2),
    "evaluation": (("evaluate", "nowhere"), 2),
    "help": (("--help",), 0),
    "help of a command": (("report", "--help"), 0),
    "mistake": (("--frob",), 2),
    "pairs": (("report", "pairs", "--dataset", "data", "--count", "3", "--json"), 0),
    "run": ((*RUN, "sh", "-c", "pwd; echo $HERE >&2; cat; exit 37"), 37),
    "run that is killed": ((*RUN, "sh", "-c", "kill -KILL $$"), -signal.SIGKILL),
    "schema": (("schema", "predict"), 0),
    "topology": (("topology", *SANDY), 0),
    "training": (("train", "--dataset", "data", "--output", "model.json", "--json"), 0),
    "version": (("--version",), 0),
}


@pytest.mark.native
@pytest.mark.parametrize("name", COMMANDS)
def test_a_forked_command_is_the_one_that_a_user_starts(name: str, tmp_path: Path) -> None:
    words, code = COMMANDS[name]
    write_dataset(planted_dataset(6), tmp_path / "data")
    forked, started = (begin(*words, cwd=tmp_path, HERE="there") for begin in (numapredict, cold))
    assert forked.returncode == started.returncode == code
    assert (forked.stdout, forked.stderr) == (started.stdout, started.stderr)


def test_a_command_that_nobody_waits_for_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    words = [*warm(), *RUN, "sh", "-c", f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"]
    with subprocess.Popen(words) as client:
        wait_until(pid.exists)
        client.kill()
    left = Path(f"/proc/{pid.read_text().strip()}")
    wait_until(lambda: not left.exists())


def wait_until(come: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 120.0
    while not come():
        assert time.monotonic() < end_s
        time.sleep(0.01)
