import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.placing.allowance import TimeAllowance, Window
from numapredict.collect.placing.process import Ending, run_process


def run(script: str, timeout_s: float = 60.0, directory: str | None = None) -> Ending:
    return run_process(["/bin/sh", "-c", script], dict(os.environ), directory, timeout_s)


def test_success_has_a_time_and_no_reason() -> None:
    ending = run("sleep 0.05")
    assert ending.time_s >= 0.05
    assert (ending.exit_code, ending.timed_out, ending.reason) == (0, False, "")


def test_an_exit_code_comes_with_the_last_line() -> None:
    ending = run("echo out; echo first >&2; printf 'what\\tis wrong \\n\\n' >&2; exit 3")
    assert ending.reason == "exit code 3: what is wrong"


def test_a_signal_is_named() -> None:
    assert run("kill -SEGV $$").reason == "killed by SIGSEGV"
    assert run("kill -40 $$").reason == "killed by signal 40"


def windowed(script: str, wall_s: float, tmp_path: Path) -> tuple[Ending, list[bool]]:
    """Return how a process ended in a window, and at its end whether the file ``asked`` was there."""
    there: list[bool] = []
    window = Window(lambda: there.append((tmp_path / "asked").exists()), 60.0 if "trap ''" not in script else 0.5)
    allowed = TimeAllowance(wall_s, output_bytes=100, window=window)
    return run_process(["/bin/sh", "-c", script], dict(os.environ), None, allowed), there


def test_at_the_end_of_its_window_a_process_is_looked_at_and_then_asked_to_end(tmp_path: Path) -> None:
    script = f"trap 'echo bye; touch {tmp_path}/asked; exit 3' TERM; while :; do sleep 0.05; done"
    ending, there = windowed(script, 1.0, tmp_path)
    assert (ending.at_window, ending.timed_out, ending.exit_code) == (True, False, 3)
    assert ending.output == b"bye\n"
    assert there == [False]
    assert (tmp_path / "asked").exists()
    assert ending.time_s >= 1.0


def test_one_that_does_not_care_is_killed_with_its_children(tmp_path: Path) -> None:
    script = f"trap '' TERM; sleep 1000 & echo $! > {tmp_path}/pid; while :; do sleep 0.05; done"
    ending, there = windowed(script, 1.0, tmp_path)
    assert (ending.at_window, ending.exit_code, there) == (True, -signal.SIGKILL, [False])
    assert gone(int((tmp_path / "pid").read_text()))


def test_one_that_ends_before_its_window_is_not_asked(tmp_path: Path) -> None:
    ending, there = windowed("echo out; echo err >&2; exit 4", 600.0, tmp_path)
    assert (ending.at_window, ending.exit_code, there) == (False, 4, [])
    assert (ending.output, ending.errors) == (b"out\n", b"err\n")


def test_a_time_out_kills_the_whole_session(tmp_path: Path) -> None:
    ending = run(f"sleep 1000 & echo $! > {tmp_path}/pid; wait", timeout_s=2.0)
    assert ending.timed_out
    assert ending.reason == f"still running after {ending.time_s:.0f} s and stopped"
    child = int((tmp_path / "pid").read_text())
    assert gone(child)


def gone(pid: int) -> bool:
    """Return whether a process is dead, if perhaps not reaped; signals arrive a moment later."""
    for _ in range(1000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def test_what_a_program_leaves_behind_is_killed(tmp_path: Path) -> None:
    ending = run(f"sleep 1000 & echo $! > {tmp_path}/pid")  # it also keeps the pipe open
    assert ending.exit_code == 0
    assert gone(int((tmp_path / "pid").read_text()))


def test_floods_are_not_kept() -> None:
    flood = "head -c 30000000 /dev/zero | tr '\\0' x"
    ending = run(f"{flood}; {{ {flood}; }} >&2; echo >&2; echo the end >&2; exit 1")
    assert ending.reason == "exit code 1: the end"
    endless = run(f"{flood} >&2; exit 1")
    assert len(endless.reason) < 250


def test_an_endless_flood_is_stopped() -> None:
    assert run("yes >&2", timeout_s=0.2).timed_out


def test_a_closed_stderr_is_no_end() -> None:
    assert run("exec 2>&-; sleep 0.1; exit 4").reason == "exit code 4"


def test_it_gets_no_input_and_its_directory() -> None:
    assert run('read x && exit 9; test "$PWD" = /proc || exit 8', directory="/proc").exit_code == 0


def test_odd_bytes_become_one_printable_line() -> None:
    ending = run(r"printf 'a\377b\033[31m\r\n' >&2; exit 1")
    assert ending.last_line.isprintable()
    assert ending.last_line.startswith("a\ufffdb")


def test_ctrl_c_kills_the_program(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    def interrupt() -> None:
        while not (pid_file.exists() and pid_file.read_text().strip()):
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(f"echo $$ > {pid_file}; exec sleep 1000")
    thread.join()
    assert gone(int(pid_file.read_text()))


def test_what_cannot_be_started_raises() -> None:
    with pytest.raises(FileNotFoundError):
        run_process(["/nowhere/app"], {}, None, 1.0)
    with pytest.raises(ValueError, match="null"):
        run_process(["/bin/echo", "a\0b"], {}, None, 1.0)


def test_what_a_program_prints_is_no_failed_start() -> None:
    ending = run("echo 'numapredict-launch: app cannot be started: No such file or directory' >&2; exit 127")
    assert ending.exit_code == 127


def test_a_program_gets_no_descriptor_of_ours() -> None:
    assert run("exec ls /proc/self/fd >&2").last_line == "3"  # its own, of that folder


def test_no_descriptors_are_left_open() -> None:
    code = (
        "import os; from numapredict.collect.placing.process import run_process\n"
        "before = os.listdir('/proc/self/fd')\n"
        "for _ in range(3): run_process(['/bin/true'], {}, None, 9.0)\n"
        "assert len(os.listdir('/proc/self/fd')) == len(before)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_that_comes_before_the_watch_ends_the_program_too(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    start = subprocess.Popen

    def popen(*words: Any, **options: Any) -> "subprocess.Popen[bytes]":  # noqa: ANN401 - as Popen takes them
        process = start(*words, **options)
        started.append(process.pid)
        os.kill(os.getpid(), number)  # it has been started, and nobody looks after it yet
        return process

    monkeypatch.setattr("numapredict.collect.placing.process.subprocess.Popen", popen)
    expected = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    handlers = [signal.getsignal(each) for each in signal.valid_signals()]
    with pytest.raises(expected) as error:
        run("exec sleep 1000")
    if isinstance(error.value, SystemExit):
        assert error.value.code == 128 + number
    assert gone(started[0])
    assert [signal.getsignal(each) for each in signal.valid_signals()] == handlers
