import json
from pathlib import Path

import pytest

from numapredict.predictor.command_line.main import main
from tests.unit.reports.parts.test_advice_consistency import ANSWERS


def said(capsys: pytest.CaptureFixture[str], folder: Path, first: str, second: str, *options: str) -> tuple[int, str]:
    for name in (first, second):
        (folder / f"{name}.json").write_text(json.dumps(ANSWERS[name]))
    code = main(["compare", *options, str(folder / f"{first}.json"), str(folder / f"{second}.json")])
    return code, capsys.readouterr().out


def test_one_answer_agrees_with_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = said(capsys, tmp_path, "won", "won")
    first, second, last = out.splitlines()
    assert (code, first, last) == (0, second, "They agree.")
    assert first.startswith(f"{ANSWERS['won']['mapping']} 2.")


def test_a_gain_and_none_differ(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = said(capsys, tmp_path, "won", "kept")
    assert code == 0
    assert out.splitlines()[1].startswith("keep as it is; ")
    assert out.splitlines()[2] == "They differ in the mapping, the gain, by more than both intervals."
    code, out = said(capsys, tmp_path, "won", "kept", "--json")
    answer = json.loads(out)
    assert (answer["first"]["keep"], answer["second"]["keep"]) == (False, True)
    assert answer["differ"] == ["the mapping", "the gain, by more than both intervals"]


def test_two_machines_differ(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "They differ in the machine" in said(capsys, tmp_path, "modelled", "won")[1]


def test_answers_by_two_figures_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("won", "metric"):
        (tmp_path / f"{name}.json").write_text(json.dumps(ANSWERS[name]))
    assert main(["compare", str(tmp_path / "won.json"), str(tmp_path / "metric.json")]) == 2
    assert "compare runs by two figures" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "won.json"), str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
