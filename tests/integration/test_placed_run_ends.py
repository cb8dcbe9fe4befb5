"""`numapredict run` is the program to whoever starts it: exit code, signals, input, output and terminal."""

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.test_placed_run import NUMAPREDICT, ONE, WAYS, pytestmark, run, started

__all__ = ["pytestmark"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("code", [0, 1, 2, 77, 255])
def test_the_exit_code_is_the_programs(way: str, code: int) -> None:
    assert run("sh", "-c", f"exit {code}", way=way).returncode == code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGPIPE", "SIGRTMIN"])
def test_the_end_by_a_signal_is_the_programs(way: str, name: str) -> None:
    number = int(getattr(signal, name))
    assert run("sh", "-c", f"kill -{number} $$", way=way).returncode == -number


@pytest.mark.parametrize("way", WAYS)
def test_input_and_output_pass_through_untouched(way: str) -> None:
    text = "".join(f"line {number}\n" for number in range(50_000))
    done = run("sh", "-c", "cat; echo told >&2", way=way, input=text)
    assert (done.returncode, done.stdout) == (0, text)
    assert done.stderr.startswith("told\n")


@pytest.mark.parametrize("way", WAYS)
def test_signals_dispositions_files_and_folder_are_the_callers(way: str, tmp_path: Path) -> None:
    script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; pwd; umask; ulimit -n; echo three >&3"
    expected, found = (
        (tmp_path / name, [*words, "sh", "-c", script])
        for name, words in (("expected", ()), ("found", (*NUMAPREDICT, *ONE, *WAYS[way], "--")))
    )
    for path, command in (expected, found):
        with path.open("wb") as file:
            # nohup: a signal that is ignored stays ignored.
            wrapped = ["sh", "-c", 'trap "" HUP; exec 3>&1; exec "$@"', "sh", *command]
            subprocess.run(wrapped, stdout=file, check=True, timeout=240)
    assert found[0].read_text() == expected[0].read_text()
    assert "three" in found[0].read_text()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "ALRM"])
def test_a_signal_reaches_the_program_once(way: str, name: str) -> None:
    script = f"trap 'n=$((n+1)); echo got $n' {name}; trap 'exit 9' WINCH; echo ready; while :; do sleep 0.05; done"
    with started(*ONE, *WAYS[way], "--", "sh", "-c", script) as process:
        process.send_signal(getattr(signal, f"SIG{name}"))
        assert process.stdout is not None
        assert process.stdout.readline() == "got 1\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGWINCH)
        assert process.communicate(timeout=240)[0] == ""
        assert process.returncode == 9


@pytest.mark.parametrize("way", WAYS)
def test_the_program_dies_with_the_command(way: str) -> None:
    with started(*ONE, *WAYS[way], "--", "sh", "-c", "echo ready; echo $$; exec sleep 100") as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
        while state(number) not in {"", "Z"}:  # a hang is the failure
            time.sleep(0.01)


@pytest.mark.parametrize("way", WAYS)
def test_a_stopped_program_is_a_stopped_command(way: str) -> None:
    with started(*ONE, *WAYS[way], "--", "sh", "-c", "echo ready; kill -STOP $$; exit 5") as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 5


@pytest.mark.parametrize("way", WAYS)
def test_the_terminals_interrupt_arrives_once(way: str) -> None:
    script = "trap 'n=$((n+1))' INT; trap 'echo got $n; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    ours, theirs = pty.openpty()
    control = 'exec setsid -c "$@"'  # makes the terminal its own
    with subprocess.Popen(
        ["sh", "-c", control, "sh", *NUMAPREDICT, *ONE, *WAYS[way], "--", "sh", "-c", script],
        stdin=theirs, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.write(ours, b"\x03")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "got 1\n"
        assert process.wait(60) == 9
    os.close(ours)
    os.close(theirs)


def state(process: int) -> str:
    """Return a process's state letter, empty where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
