import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from numapredict.collect.placing.balancing import balancing_is_on, without_balancing


@pytest.mark.parametrize("before", ["1", "2"])
def test_balancing_is_off_meanwhile_and_back_afterwards(tmp_path: Path, before: str) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text(f"{before}\n")
    said: list[str] = []

    def interrupted() -> None:
        with without_balancing(said.append, path, tmp_path / "shared"):
            assert not balancing_is_on(path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text().strip() == before
    assert balancing_is_on(path)
    assert said == []


def test_what_is_off_or_absent_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "numa_balancing"
    with without_balancing(pytest.fail, path, tmp_path / "shared"):
        assert not balancing_is_on(path)
    assert not path.exists()
    path.write_text("0")
    stamp = path.stat().st_mtime_ns
    with without_balancing(pytest.fail, path, tmp_path / "shared"):
        pass
    assert (path.read_text(), path.stat().st_mtime_ns) == ("0", stamp)


def test_what_is_not_permitted_is_said_once_and_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text("1")
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("root writes everywhere")
    said: list[str] = []
    with without_balancing(said.append, path, tmp_path / "shared"):
        assert balancing_is_on(path)
    assert len(said) == 1
    assert "sysctl kernel.numa_balancing=0" in said[0]


def test_a_setting_that_refuses_to_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text("1")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "write_text", refuse)
    said: list[str] = []
    with without_balancing(said.append, path, tmp_path / "shared"):
        pass
    assert len(said) == 1
    assert "Operation not permitted" in said[0]
    assert "\n" not in said[0]


USER = """
import sys
from pathlib import Path
from numapredict.collect.placing.balancing import without_balancing
with without_balancing(print, Path(sys.argv[1]), Path(sys.argv[2])):
    print("off", flush=True)
    sys.stdin.read()
"""


@contextmanager
def user(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start another process that wants balancing off until its input ends."""
    command = [sys.executable, "-c", USER, str(folder / "numa_balancing"), str(folder / "shared")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "off\n"
        yield process
        process.kill()


def end(process: subprocess.Popen[str]) -> None:
    assert process.communicate("", timeout=240)[0] == ""
    assert process.returncode == 0


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_the_last_of_several_switches_it_back(tmp_path: Path, first_to_end: int) -> None:
    setting = tmp_path / "numa_balancing"
    setting.write_text("2\n")
    with user(tmp_path) as one, user(tmp_path) as two:
        both = (one, two)
        end(both[first_to_end])
        assert setting.read_text() == "0"
        with user(tmp_path) as three:
            end(both[1 - first_to_end])
            assert setting.read_text() == "0"
            end(three)
        assert setting.read_text() == "2"
    assert (tmp_path / "shared").read_text() == ""


@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_one_does_not_keep_it_off(tmp_path: Path, killed: int) -> None:
    setting = tmp_path / "numa_balancing"
    setting.write_text("1")
    with user(tmp_path) as one, user(tmp_path) as two:
        both = (one, two)
        both[killed].send_signal(signal.SIGKILL)
        both[killed].wait(60)
        assert setting.read_text() == "0"
        end(both[1 - killed])
        assert setting.read_text() == "1"


def test_the_next_one_switches_back_what_a_killed_one_left_off(tmp_path: Path) -> None:
    setting = tmp_path / "numa_balancing"
    setting.write_text("1")
    with user(tmp_path) as one:
        one.kill()
        one.wait(60)
    assert setting.read_text() == "0"
    with user(tmp_path) as two:
        end(two)
    assert setting.read_text() == "1"
    setting.write_text("0")  # and what an administrator switches off then stays off
    with user(tmp_path) as three:
        end(three)
    assert setting.read_text() == "0"


def test_a_run_that_is_stopped_at_the_gate_is_not_waited_for_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numapredict.collect.placing.balancing._LOOKS", 2)
    path, shared = tmp_path / "numa_balancing", tmp_path / "shared"
    path.write_text("1")
    shared.touch()
    hold = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX, 1, 0); print(flush=True)"
    hold += "; sys.stdin.read()"
    said: list[str] = []
    with subprocess.Popen([sys.executable, "-c", hold, shared], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with without_balancing(said.append, path, shared):
            assert balancing_is_on(path)
        other.kill()
    assert len(said) == 1
    assert "stays on" in said[0]
    assert "another numapredict run is stopped" in said[0]


def test_a_fifo_in_the_place_of_the_shared_file_is_not_waited_for(tmp_path: Path) -> None:
    path, shared = tmp_path / "numa_balancing", tmp_path / "shared"
    path.write_text("1")
    os.mkfifo(shared)
    with without_balancing(pytest.fail, path, shared):
        assert not balancing_is_on(path)
    assert balancing_is_on(path)
