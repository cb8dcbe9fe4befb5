"""Programs that are run from Python: output, exit codes and signals are the program's own."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.native.errors import NumapredictError
from numapredict.predictor.api.running import run

ONE = "1x1-contiguous-first-touch"
pytestmark = pytest.mark.native


def test_a_program_ends_as_it_ends() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], parse_label(ONE), capture=True)
    assert (done.stdout, done.stderr, done.exit_code, done.record["signal"]) == (b"out\n", b"err\n", 3, None)
    assert (done.mapping, done.record["exit_code"]) == (ONE, 3)
    assert done.time_s > 0
    killed = run(["sh", "-c", "kill -KILL $$"], ONE)
    assert (killed.exit_code, killed.record["signal"], killed.stdout) == (137, "SIGKILL", None)


def test_words_for_bindings_are_mappings_as_on_the_command_line() -> None:
    assert run("true", "spread:1").mapping == ONE


def test_it_has_our_streams(capfd: pytest.CaptureFixture[str]) -> None:
    run(["sh", "-c", "echo out; echo err >&2"], ONE)
    assert capfd.readouterr() == ("out\n", "err\n")


def test_a_file_of_the_current_folder_stands_in_for_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logging.py").write_text("raise SystemExit('not that one')\n")
    monkeypatch.chdir(tmp_path)
    assert run("true", ONE, capture=True).exit_code == 0


@pytest.mark.parametrize(
    ("command", "mapping", "said"),
    [
        ("./none", ONE, "./none: no such file"),
        ("true", "9999x99-contiguous-locality", "mapping 9999x99-contiguous-locality needs "),
        ("true", "9x", "'9x' is not a mapping's label"),
        ("true", None, "no mapping was advised for true on this computer yet"),
        ([], ONE, "the program's name is empty"),
        ("a\0b", ONE, "cannot start a"),
        ("caf\udce9", ONE, "caf"),
    ],
)
def test_what_cannot_run_is_refused(command: str, mapping: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NumapredictError) as error:
        run(command, mapping)
    assert str(error.value).startswith(said)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_ends_the_program(tmp_path: Path) -> None:
    code = f"import numapredict\nnumapredict.run(['sh', '-c', 'echo $$ >{tmp_path}/pid; exec sleep 1000'], '{ONE}')"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait()
    assert process.returncode == -signal.SIGINT
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
