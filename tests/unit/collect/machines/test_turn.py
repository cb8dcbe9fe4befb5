"""Real processes, which meet at real locks in a folder of the test's."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.machines.turn import NoTurnError, lock_folder, turn

WORKER = """
import sys, time
from pathlib import Path
from numapredict.collect.machines.turn import turn
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for n in range(count):
    with turn(lambda text: print(text, flush=True), folder):
        with open(folder / "log", "a") as log:
            log.write(f"{name} begins\\n")
        if n == 0 and name == "a":
            (folder / "first").touch()
            while not (folder / "go").exists():
                time.sleep(0.01)
            time.sleep(0.3)  # until the other one waits
        time.sleep(0.02)
        with open(folder / "log", "a") as log:
            log.write(f"{name} ends\\n")
"""


def worker(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for(path: Path) -> None:
    while not path.exists():
        os.sched_yield()


def test_two_processes_take_turns(tmp_path: Path) -> None:
    with worker(tmp_path, "a", 4) as first:
        wait_for(tmp_path / "first")
        with worker(tmp_path, "b", 4) as second:
            (tmp_path / "go").touch()
            told, _ = second.communicate(timeout=60)
        first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 16
    for begins, ends in zip(lines[::2], lines[1::2], strict=True):  # nobody begins before the other one ends
        assert begins.removesuffix(" begins") == ends.removesuffix(" ends")
    order = [line[0] for line in lines[::2]]
    assert "".join(order).startswith("abab"), order  # as long as both are there, nobody goes twice
    assert "waiting for its turn" in told


def test_a_killed_process_gives_its_turn_back(tmp_path: Path) -> None:
    with worker(tmp_path, "a", 1) as first:
        wait_for(tmp_path / "first")
        first.send_signal(signal.SIGKILL)
        first.wait()
    said: list[str] = []
    with turn(said.append, tmp_path):
        pass
    assert said == []


def test_an_error_inside_gives_the_turn_back(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), turn(pytest.fail, tmp_path):
        raise RuntimeError
    with turn(pytest.fail, tmp_path), (tmp_path / "numapredict-measuring.lock").open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (tmp_path / "numapredict-next.lock").open() as following:
            fcntl.flock(following, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who measures keeps nobody from waiting


def test_a_folder_that_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(NoTurnError) as error, turn(pytest.fail, tmp_path / "none"):
        pass
    assert str(tmp_path / "none") in str(error.value)
    assert "\n" not in str(error.value)


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "numapredict-next.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoTurnError), turn(pytest.fail, tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_locks_are_where_everybody_looks_for_them() -> None:
    assert os.access(lock_folder(), os.W_OK)
