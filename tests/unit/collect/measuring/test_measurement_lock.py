"""Real processes, which meet at real locks in a folder of the test's."""

import fcntl
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from numapredict.collect.host import lock_folder
from numapredict.collect.measuring.measurement_lock import MeasurementLock, Patience

WORKER = """
import sys, time
from pathlib import Path
import logging
from numapredict.collect.measuring.measurement_lock import MeasurementLock, Patience
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
logging.basicConfig(level=logging.INFO, handlers=[logging.FileHandler(folder / f"{name}-said", delay=True)])
lock = MeasurementLock(folder, Patience(announce_after_s=0.0, look_s=0.01))
for n in range(count):
    with lock.take() as taken, open(folder / "log", "a", buffering=1) as log:
        assert taken
        log.write(f"{name} begins\\n")
        (folder / name).touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        time.sleep(0.005)
        log.write(f"{name} ends\\n")
"""


@contextmanager
def worker(folder: Path, name: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Take so many turns; the first of them lasts until there is a file `go`."""
    command = [sys.executable, "-c", WORKER, str(folder), name, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait for a file that the process makes; a process that ended makes none."""
    while not path.exists():
        assert process.poll() is None, f"a process ended with code {process.returncode} and made no {path.name}"
        time.sleep(0.005)


def turn(folder: Path, **patience: float) -> AbstractContextManager[bool]:
    """Take one turn."""
    return MeasurementLock(folder, Patience(**({"announce_after_s": 0.0, "look_s": 0.01} | patience))).take()


@contextmanager
def held(path: Path) -> Iterator[int]:
    """Hold a lock for ever, as any user may, and give the process that does."""
    path.touch()
    code = (
        "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_nobody_measures_while_another_one_does(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with ExitStack() as stack:
        for process in [stack.enter_context(worker(tmp_path, name, 8)) for name in "abc"]:
            process.communicate(timeout=120)
            assert process.returncode == 0
    lines = log(tmp_path)
    assert len(lines) == 48
    for begins, ends in zip(lines[::2], lines[1::2], strict=True):
        assert begins.removesuffix(" begins") == ends.removesuffix(" ends")


def test_nobody_goes_twice_while_somebody_waits(tmp_path: Path) -> None:
    with worker(tmp_path, "a", 2) as first:
        wait_for(tmp_path / "a", first)
        with worker(tmp_path, "b", 1) as second:
            wait_for(tmp_path / "b-said", second)
            second.send_signal(signal.SIGSTOP)  # however slow it is, it is its turn
            (tmp_path / "go").touch()
            wait_for(tmp_path / "a-said", first)
            meanwhile = log(tmp_path)
            second.send_signal(signal.SIGCONT)
            second.communicate(timeout=120)
        first.communicate(timeout=120)
    assert meanwhile == ["a begins", "a ends"]
    assert (first.returncode, second.returncode) == (0, 0)
    assert [line[0] for line in log(tmp_path)[::2]] == ["a", "b", "a"]


def test_a_killed_process_gives_its_turn_back(tmp_path: Path, said: list[str]) -> None:
    with worker(tmp_path, "a", 1) as first:
        wait_for(tmp_path / "a", first)
        first.send_signal(signal.SIGKILL)
        first.wait()
    with turn(tmp_path) as taken:
        assert taken
    assert said == []


def test_an_error_inside_gives_the_turn_back(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), turn(tmp_path):
        raise RuntimeError
    with turn(tmp_path), (tmp_path / "numapredict-measuring.lock").open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (tmp_path / "numapredict-next.lock").open() as following:
            fcntl.flock(following, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who measures keeps nobody from waiting


@pytest.mark.parametrize("name", ["numapredict-next.lock", "numapredict-measuring.lock"])
def test_who_has_the_turn_is_named_and_a_wait_has_an_end(tmp_path: Path, name: str, said: list[str]) -> None:
    with held(tmp_path / name) as process:
        holder = f"process {process} of user {pwd.getpwuid(os.getuid()).pw_name}"
        with turn(tmp_path, most_s=0.05) as taken:
            assert not taken
            for lock in tmp_path.glob("*.lock"):
                if lock.name != name:  # nobody else is kept from waiting, or from measuring
                    with lock.open() as file:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert said == [
        f"{holder} is measuring on this computer: waiting for it to finish, at most 0 s",
        f"no measurement lock within 0 s, as {holder} has it: measuring without; measurements at the same time disturb"
        " each other",
    ]


def test_a_lock_that_is_held_for_ever_costs_one_wait_and_then_turns_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    slept: list[float] = []
    waits: list[int] = []
    real = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: (slept.append(seconds), real(seconds)))
    lock = MeasurementLock(tmp_path, Patience(announce_after_s=1e9, most_s=0.05, look_s=0.01))
    with held(tmp_path / "numapredict-measuring.lock"):
        for _ in range(3):
            with lock.take() as taken:
                assert not taken
            waits.append(len(slept))
    assert len(said) == 1
    assert waits[0] > 0
    assert waits == waits[:1] * 3
    with lock.take() as taken:
        assert taken
    with held(tmp_path / "numapredict-measuring.lock"), lock.take() as taken:
        assert not taken
    assert len(said) == 2


def unusable(kind: str, lock: Path) -> None:
    if kind == "a FIFO":
        os.mkfifo(lock)
    elif kind == "a folder":
        lock.mkdir()
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(lock))
    else:
        lock.symlink_to(lock.parent / "elsewhere")
        if kind == "a link":
            (lock.parent / "elsewhere").touch()


@pytest.mark.parametrize("name", ["numapredict-next.lock", "numapredict-measuring.lock"])
@pytest.mark.parametrize("kind", ["a FIFO", "a folder", "a socket", "a link", "a link to nothing"])
def test_what_is_no_file_is_not_waited_for_nor_followed(tmp_path: Path, kind: str, name: str, said: list[str]) -> None:
    unusable(kind, tmp_path / name)
    lock = MeasurementLock(tmp_path)
    for _ in range(2):
        with lock.take() as taken:
            assert not taken
    (line,) = said
    assert f"cannot lock {tmp_path / name}: " in line
    assert "remove that file" in line
    assert "\n" not in line
    assert (tmp_path / "elsewhere").exists() == (kind == "a link")


def test_a_folder_that_cannot_be_used_is_named_in_one_line(tmp_path: Path, said: list[str]) -> None:
    with turn(tmp_path / "none") as taken:
        assert not taken
    assert str(tmp_path / "none") in said[0]


def test_every_user_can_open_the_locks(tmp_path: Path, said: list[str]) -> None:
    before = os.umask(0o077)
    try:
        with turn(tmp_path):
            pass
    finally:
        os.umask(before)
    assert said == []
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("numapredict-*.lock")} == {0o644}


def test_the_locks_are_where_everybody_looks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(lock_folder.FOLDER_VARIABLE)  # the tests have one of their own (tests/conftest.py)
    assert os.access(lock_folder.lock_folder(), os.W_OK)
    assert lock_folder.lock_folder() in lock_folder._FOLDERS


WAITS_FOR_THE_OTHER = """
import sys, time
from pathlib import Path
from numapredict.collect.measuring.measurement_lock import MeasurementLock, Patience
folder, name, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with MeasurementLock(folder, Patience(announce_after_s=0.0, most_s=0.2, look_s=0.01)).take() as taken:
    (folder / name).write_text(str(taken))
    while not (folder / other).exists():
        time.sleep(0.01)
"""


def test_two_whose_programs_wait_for_each_other_come_to_an_end(tmp_path: Path) -> None:
    """As the ranks of a start that no variable tells of do, each of them measured."""
    both = [
        subprocess.Popen([sys.executable, "-c", WAITS_FOR_THE_OTHER, str(tmp_path), *names]) for names in ("ab", "ba")
    ]
    try:
        assert [process.wait(timeout=120) for process in both] == [0, 0]
    finally:
        for process in both:
            process.kill()
    assert sorted((tmp_path / name).read_text() for name in "ab") == ["False", "True"]
