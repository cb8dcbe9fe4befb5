import re
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.predictor.command_line.commands import arguments_of
from numapredict.predictor.command_line.main import main
from numapredict.predictor.learning import learning
from tests.unit.collect.terminal.streams import Screen

NAMES = ("collect", "predict", "run", "train")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["--help"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["--include"], ["--include"]),
        (["./app", "--help"], ["predict", "./app", "--help"]),
        (["--machine", "m", "./app"], ["predict", "--machine", "m", "./app"]),
        (["--", "train"], ["predict", "--", "train"]),
        (["train", "--dry-run"], ["train", "--dry-run"]),
        (["-q", "train"], ["-q", "train"]),
        (["-v", "./app", "train"], ["predict", "-v", "./app", "train"]),
        (["--quiet"], ["--quiet", "--help"]),
    ],
)
def test_what_is_no_command_is_a_program(words: list[str], expected: list[str]) -> None:
    assert arguments_of(words, NAMES) == expected


def test_a_mistake_is_one_line_and_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "--machine", "nosuch"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("numapredict: unknown machine 'nosuch'")
    assert output.err.count("\n") == 1


def test_the_version_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("numapredict ")


def test_the_folder_of_the_header_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--include"]) == 0
    folder = Path(capsys.readouterr().out.rstrip("\n"))
    assert {"numapredict.h", "numapredict.f90"} <= {each.name for each in folder.iterdir()}


def test_answering_loads_no_heavy_library() -> None:
    """What trains is not needed to answer: scikit-learn alone takes a second to load."""
    modules = ("command_line.cli", "advising.session", "learning.store")
    answering = f"import {', '.join(f'numapredict.predictor.{name}' for name in modules)}"
    heavy = ("sklearn", "pandas", "pyarrow", "joblib", "matplotlib", "scipy.cluster", "scipy.stats")
    code = f"{answering}, sys; print(*(name for name in {heavy!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("words", "stopped", "said"),
    [
        (["train", "--dataset", "sandybridge-4x8"], "learn_from", "nothing is kept; to start again"),
        (["train", "--machine", "sandybridge-4x8"], "learn_from_campaign", "finished runs are kept; to continue"),
    ],
)
def test_an_interrupted_training_tells_what_is_kept(
    words: list[str], stopped: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, stopped, interrupt)
    assert main(words) == 130
    assert f"numapredict: interrupted; {said}:\nnumapredict {' '.join(words)}\n" in capsys.readouterr().err


@pytest.mark.parametrize("columns", ["40", "80"])
def test_the_command_that_goes_on_can_be_copied(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    screen = Screen()
    monkeypatch.setattr(learning, "learn_from_campaign", interrupt)
    monkeypatch.setattr(sys, "stderr", screen)
    for name, value in {"TERM": "xterm", "COLUMNS": columns, "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    words = ["train", "--machine", "sandybridge-4x8", "--program", "./my  app 'a'", "--program", "./red\x1b[31m\n"]
    assert main(words) == 130
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).split("\n")[-2]
    assert last.startswith("numapredict train")
    assert len(last) > 80
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {last}"], capture_output=True, text=True, check=True).stdout
    assert said.split("\0")[1:-1] == words
