"""Campaigns that are killed, interrupted or run out of disk lose nothing finished and repeat nothing finished."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import read_dataset, write_dataset
from numapredict.collect.data.journal import read_journal
from tests.samples import dataset_of

SCRIPT = Path(__file__).parent / "slow_campaign.py"
DATASET = dataset_of(programs=6, mappings=40)
PARENT, GROUP = 1, 2  # fields of /proc/PID/stat after the name
PAIRS = len(DATASET.measurements)


class Slow:
    """Starts slow campaigns in one folder, one at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        write_dataset(DATASET, root / "source")
        self.journal = root / "made" / "journal.jsonl"

    def start(self, jobs: int = 1, limit_bytes: int = 0) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                sys.executable,
                str(SCRIPT),
                str(self.root / "source"),
                str(self.root / "made"),
                str(jobs),
                str(limit_bytes),
            ],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def to_the_end(self, **options: int) -> tuple[int, str]:
        process = self.start(**options)
        errors = process.communicate()[1]
        return process.returncode, errors

    def wait_for(self, process: subprocess.Popen[str], lines: int) -> None:
        """Return when the journal has so many lines, or the campaign is over."""
        while process.poll() is None and self.lines() < lines:
            time.sleep(0.001)

    def lines(self) -> int:
        return self.journal.read_bytes().count(b"\n") if self.journal.exists() else 0

    def calls(self) -> Counter[str]:
        return Counter((self.root / "calls").read_text().splitlines())


@pytest.fixture
def slow(tmp_path: Path) -> Slow:
    return Slow(tmp_path)


def check_complete(slow: Slow) -> None:
    finished = [line for line in slow.journal.read_bytes().splitlines() if b'"kind":"finished"' in line]
    assert len(finished) == PAIRS
    assert len(read_journal(slow.journal).measurements) == PAIRS
    made = read_dataset(slow.root / "made")
    assert made.programs == DATASET.programs
    assert set(made.measurements) == set(DATASET.measurements)


def test_killed_again_and_again_it_finishes_every_pair_once(slow: Slow) -> None:
    random_ = random.Random(5)  # noqa: S311 - moments, not secrets
    kills = 0
    for _ in range(8):
        process = slow.start()
        slow.wait_for(process, slow.lines() + random_.randrange(1, 30))
        time.sleep(random_.random() * 0.004)
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        before = read_journal(slow.journal)
        assert set(before.measurements) <= set(DATASET.measurements)
    assert kills == 8
    code, errors = slow.to_the_end()
    assert (code, errors.splitlines()[0]) == (0, f"{PAIRS} runs, {len(before.measurements)} of them finished earlier")
    check_complete(slow)
    calls = slow.calls()
    assert len(calls) == PAIRS
    assert calls.total() <= PAIRS + kills  # only what was running when it was killed is begun again


def test_killed_with_workers_it_finishes_every_pair_once(slow: Slow) -> None:
    process = slow.start(jobs=2)
    slow.wait_for(process, 40)
    process.kill()
    process.communicate()
    assert 0 < len(read_journal(slow.journal).measurements) < PAIRS
    assert slow.to_the_end(jobs=2)[0] == 0
    check_complete(slow)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_at_once_without_a_traceback(slow: Slow, jobs: int) -> None:
    process = slow.start(jobs=jobs)
    slow.wait_for(process, 20)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: the workers get it too
    errors = process.communicate()[1]
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert workers_of(process, field=GROUP) == []
    assert slow.to_the_end()[0] == 0
    check_complete(slow)


def test_a_full_disk_stops_with_one_line_and_keeps_what_is_finished(slow: Slow) -> None:
    code, errors = slow.to_the_end(limit_bytes=30_000)
    assert code == 2
    message = errors.splitlines()[-1]
    assert "journal.jsonl: File too large; free some space and run the same command again" in message
    kept = read_journal(slow.journal).measurements
    assert 0 < len(kept) < PAIRS
    code, errors = slow.to_the_end()
    assert (code, errors.splitlines()[0]) == (0, f"{PAIRS} runs, {len(kept)} of them finished earlier")
    check_complete(slow)


def test_a_dead_worker_is_said(slow: Slow) -> None:
    process = slow.start(jobs=2)
    slow.wait_for(process, 20)
    os.kill(workers_of(process, field=PARENT)[0], signal.SIGKILL)
    errors = process.communicate()[1]
    assert process.returncode == 2
    assert "a worker died while running 'p" in errors.splitlines()[-1]
    assert slow.to_the_end()[0] == 0
    check_complete(slow)


def workers_of(process: subprocess.Popen[str], field: int) -> list[int]:
    """Return the living workers whose parent or group (a field of /proc/PID/stat) is the process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            number = int((folder / "stat").read_text().rpartition(")")[2].split()[field])
            if number == process.pid and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has just ended
            continue
    return found
