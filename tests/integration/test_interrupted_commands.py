"""Ctrl-C at any moment of a command: one line with what is kept and how to continue; 130 and no process left behind."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.host.host import host_topology
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import write_model
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset
from tests.workloads import example_program

CODE = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"
MARK = "NUMAPREDICT_TEST_MARK"
PATIENCE_S = 240.0


class Running:
    """A command in a session of its own; whatever it starts carries its mark in the environment."""

    def __init__(self, *words: str, cwd: Path, code: str = CODE, **environment: str) -> None:
        self.mark = uuid.uuid4().hex
        self.errors = cwd / f"errors-{self.mark}"
        self.output = cwd / f"output-{self.mark}"
        with self.errors.open("w") as errors, self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, *words],
                cwd=cwd,
                env={**os.environ, "NUMAPREDICT_CACHE": str(cwd / "cache"), MARK: self.mark, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

    def when(self, ready: Callable[[], bool]) -> "Running":
        """Return when something has come about; fail where the command ends before."""
        end_s = time.monotonic() + PATIENCE_S
        while not ready():
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < end_s, self.errors.read_text()
            time.sleep(0.002)
        return self

    def says(self, text: str) -> Callable[[], bool]:
        return lambda: text in self.errors.read_text()

    def interrupted(self, *, group: bool = True) -> tuple[int, list[str]]:
        """Press Ctrl-C, which reaches the whole group, or send SIGINT to the command alone; return code and errors."""
        (os.killpg if group else os.kill)(self.process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> tuple[int, list[str]]:
        code = self.process.wait(PATIENCE_S)
        return code, self.errors.read_text().splitlines()

    def left(self) -> list[str]:
        """Return what still runs of it a moment later."""
        end_s = time.monotonic() + 60.0
        while (found := list(self._marked())) and time.monotonic() < end_s:
            time.sleep(0.02)
        return found

    def _marked(self) -> list[str]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:  # it has ended, or is another's
                continue
        return found


def check(running: Running, ended: tuple[int, list[str]], kept: str, command: str) -> None:
    code, lines = ended
    assert code == 130, lines
    assert lines[-2:] == [f"numapredict: interrupted; {kept}:", f"numapredict {command}"]
    assert not any("Traceback" in line or "Error" in line for line in lines), lines
    assert sum(line.startswith("numapredict: ") for line in lines) == 1
    assert running.left() == []


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_program(tmp_path_factory.mktemp("heat"))


@pytest.mark.native
@pytest.mark.parametrize("step", ["one native run", "tracing with"])
def test_a_prediction_stops_its_trace(heat: Path, tmp_path: Path, step: str) -> None:
    words = ("predict", "--machine", "sandybridge-4x8", str(heat))
    running = Running(*words, cwd=tmp_path)
    ended = running.when(running.says(step)).interrupted()
    check(running, ended, "finished traces are kept; to continue", " ".join(words))
    assert list((tmp_path / "cache").glob("traces/*.trace")) == []


@pytest.mark.native
def test_a_prediction_on_this_computer_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its probes are timed: there is no trace to keep."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:4 core:8 pu:1")
    planted = planted_dataset(10)
    timed = tuple(msgspec.structs.replace(m, modelled=False) for m in planted.measurements)
    dataset = msgspec.structs.replace(planted, topology=host_topology(), modelled=False, measurements=timed)
    write_model(train(dataset, TrainingOptions(n_clusters=3)), tmp_path / "m.json")
    words = ("predict", "--model", "m.json", "sh", "-c", "touch up; exec sleep 600")
    running = Running(*words, cwd=tmp_path)
    ended = running.when((tmp_path / "up").exists).interrupted()
    check(running, ended, "nothing is kept; to start again", "predict --model m.json sh -c 'touch up; exec sleep 600'")


@pytest.mark.parametrize(
    ("jobs", "group"),
    [
        ("1", True),
        pytest.param("2", True, marks=pytest.mark.thorough),
        pytest.param("2", False, marks=pytest.mark.thorough),
    ],
)
def test_an_evaluation_keeps_its_folds(tmp_path: Path, jobs: str, group: bool) -> None:
    write_dataset(planted_dataset(8), tmp_path / "data")

    def folds() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").glob("folds/**/output.pkl")}

    words = ("evaluate", "data", "--jobs", jobs)
    running = Running(*words, "--fresh", cwd=tmp_path)
    ended = running.when(lambda: len(folds()) >= 2).interrupted(group=group)
    check(running, ended, "finished folds are kept; to continue", " ".join(words))
    before = folds()
    assert 2 <= len(before) < 8
    again = Running(*words, cwd=tmp_path, NUMAPREDICT_DATA=str(tmp_path / "saved"))
    assert again.end()[0] == 0
    assert {path: after for path, after in folds().items() if path in before} == before


@pytest.mark.native
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_campaign_keeps_its_runs(tmp_path: Path, jobs: str) -> None:
    which = ("--codelet", "stream-triad", "--codelet", "memory-copy", "--size", "small")
    words = ("collect", "campaign", "--machine", "sandybridge-4x8", "--into", "made", "--jobs", jobs, *which)
    journal = tmp_path / "made" / "journal.jsonl"
    running = Running(*words, cwd=tmp_path)
    ended = running.when(lambda: journal.exists() and journal.read_bytes().count(b'"finished"') >= 3).interrupted()
    check(running, ended, "finished runs are kept; to continue", " ".join(words))


def test_a_program_that_runs_placed_gets_the_interrupt_itself(tmp_path: Path) -> None:
    for options in ((), ("--verify",)):
        words = ("run", "--mapping", "1x1-contiguous-bind", *options, "--", "sh", "-c", "echo up; exec sleep 60")
        running = Running(*words, cwd=tmp_path)
        code, lines = running.when(lambda: "up" in running.output.read_text()).interrupted()  # noqa: B023 - called here
        assert code == -signal.SIGINT
        assert not any("Traceback" in line or "interrupted" in line for line in lines)
        assert running.left() == []


REGION = """
int main(void) {
    volatile double sum = 0;
    for (int step = 0; step < 200; step++)
#pragma omp parallel for
        for (int n = 0; n < 20000000; n++)
            if (n == step)
                sum += 1;
    return (int)sum;
}
"""


@pytest.mark.native
def test_a_program_that_is_replayed_is_said_to_have_ended(tmp_path: Path) -> None:
    """Not that the time for replays was used up: there is far more of it than the test takes."""
    program = tmp_path / "steps"
    subprocess.run(["gcc", "-O1", "-fopenmp", "-xc", "-", "-o", program], input=REGION, text=True, check=True)

    def in_a_fork() -> bool:
        named = (file for file in Path("/proc").glob("[0-9]*/cmdline"))
        return sum(content_of(file) == f"{program}\0" for file in named) > 1

    code, lines = Running("regions", str(program), cwd=tmp_path).when(in_a_fork).interrupted()
    assert code == -signal.SIGINT
    assert not any("used up" in line for line in lines)
    assert any("the second run was interrupted; the replays are those until then" in line for line in lines)
    assert any("not replayed, the program ended before its replays did" in line for line in lines)
    assert "the program ended before its replays did: let it run to its end" in " ".join(lines)


def content_of(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # it has ended
        return ""


@pytest.mark.native
def test_what_handles_the_interrupt_ends_as_it_likes(tmp_path: Path) -> None:
    words = ("run", "--mapping", "1x1-contiguous-bind", "--verify", "--", "sh", "-c")
    running = Running(*words, "trap 'exit 7' INT; echo up; while :; do sleep 0.05; done", cwd=tmp_path)
    assert running.when(lambda: "up" in running.output.read_text()).interrupted()[0] == 7


def test_no_moment_of_starting_and_ending_shows_a_traceback(tmp_path: Path) -> None:
    """From where numapredict has the say; before that the interpreter itself would be interrupted."""
    begun = CODE.replace("sys.exit", "sys.stderr.write('begun\\n'); sys.stderr.flush(); sys.exit")
    codes = set()
    for moment in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", begun, "topology", "--machine", "sandybridge-4x8"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        time.sleep(0.01 + moment * 0.03)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=PATIENCE_S)[1]
        assert "Traceback" not in errors, (moment, errors)
        assert process.returncode in (0, 130, -signal.SIGINT), (moment, errors)
        assert ("interrupted" in errors) == (process.returncode == 130)
        codes.add(process.returncode)
    assert 130 in codes


def test_a_caller_that_ignores_interrupts_is_not_interrupted(tmp_path: Path) -> None:
    """As `nohup` and a shell's `&` in a script do."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "topology", "--machine", "sandybridge-4x8", "--json"],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509 - one thread
    )
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=PATIENCE_S)[0].startswith(b"{")
    assert process.returncode == 0


# It says when the command looks after interrupts: before that there is only the interpreter's start.
BEGUN = """
import os, signal, sys
from numapredict.predictor.command_line.main import main
handle = signal.signal
def say(*words):
    signal.signal = handle
    before = handle(*words)
    os.write(2, b"!")
    return before
signal.signal = say
sys.exit(main())
"""


@pytest.mark.parametrize(
    "words", [("--help",), ("topology",), ("evaluate", "--help"), ("--machine", "broadwell-2x10", "true")]
)
def test_an_interrupt_at_any_moment_from_the_beginning_on_shows_no_traceback(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    for wait_s in (0, 0, 0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.1, 0.2):
        with subprocess.Popen(
            [sys.executable, "-c", BEGUN, *words],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "NUMAPREDICT_CACHE": str(tmp_path / "cache"),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert process.stderr.read(1) == "!"
            time.sleep(wait_s)
            process.send_signal(signal.SIGINT)
            errors = process.stderr.read()
            code = process.wait()
        assert "Traceback" not in errors
        if code == 130:
            assert "numapredict: interrupted" in errors
        else:  # it was over, or its interpreter was ending
            assert code in (0, 1, 2, -signal.SIGINT)
            assert "interrupted" not in errors
