"""Real processes, which meet at real locks in a folder of the test's."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numapredict.collect.machines.turn import NoTurnError, lock_folder, turn

WORKER = """
import sys, time
from pathlib import Path
from numapredict.collect.machines.turn import turn
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for n in range(count):
    with turn(lambda text: print(text, flush=True), folder), open(folder / "log", "a", buffering=1) as log:
        log.write(f"{name} begins\\n")
        (folder / name).touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        time.sleep(0.005)
        log.write(f"{name} ends\\n")
"""


def worker(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Take so many turns; the first of them lasts until there is a file `go`."""
    command = [sys.executable, "-c", WORKER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for(path: Path) -> None:
    while not path.exists():
        os.sched_yield()


def somebody_waits(lock: Path) -> bool:
    """Return whether a process is blocked at a lock, as the kernel says (proc_locks(5))."""
    place = f":{lock.stat().st_ino}"
    lines = map(str.split, Path("/proc/locks").read_text().splitlines())
    return any(words[1] == "->" and any(word.endswith(place) for word in words) for words in lines)


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_nobody_measures_while_another_one_does(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    workers = [worker(tmp_path, name, 8) for name in "abc"]
    for process in workers:
        process.communicate(timeout=120)
        assert process.returncode == 0
    lines = log(tmp_path)
    assert len(lines) == 48
    for begins, ends in zip(lines[::2], lines[1::2], strict=True):
        assert begins.removesuffix(" begins") == ends.removesuffix(" ends")


def test_nobody_goes_twice_while_somebody_waits(tmp_path: Path) -> None:
    measuring, following = (tmp_path / f"numapredict-{what}.lock" for what in ("measuring", "next"))
    with worker(tmp_path, "a", 2) as first:
        wait_for(tmp_path / "a")
        with worker(tmp_path, "b", 1) as second:
            while not somebody_waits(measuring):
                time.sleep(0.01)
            second.send_signal(signal.SIGSTOP)  # however slow it is, it is its turn
            (tmp_path / "go").touch()
            while not somebody_waits(following) and len(log(tmp_path)) < 3:
                time.sleep(0.01)
            meanwhile = log(tmp_path)
            second.send_signal(signal.SIGCONT)
            told, _ = second.communicate(timeout=120)
        first.communicate(timeout=120)
    assert meanwhile == ["a begins", "a ends"]
    assert (first.returncode, second.returncode) == (0, 0)
    assert [line[0] for line in log(tmp_path)[::2]] == ["a", "b", "a"]
    assert "waiting for its turn" in told


def test_a_killed_process_gives_its_turn_back(tmp_path: Path) -> None:
    with worker(tmp_path, "a", 1) as first:
        wait_for(tmp_path / "a")
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


@pytest.mark.parametrize("there", [False, True])
def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "elsewhere").touch()
    (tmp_path / "numapredict-next.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoTurnError), turn(pytest.fail, tmp_path):
        pass
    assert (tmp_path / "elsewhere").exists() == there


def test_every_user_can_open_the_locks(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with turn(pytest.fail, tmp_path):
            pass
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("numapredict-*.lock")} == {0o644}


def test_the_locks_are_where_everybody_looks_for_them() -> None:
    assert os.access(lock_folder(), os.W_OK)
