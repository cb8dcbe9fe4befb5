import io
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.mapping import mapping_named, to_label
from numapredict.native.errors import InvalidInputError, UsageError
from numapredict.predictor.advising.explanation import Close, Explanation, Finding
from numapredict.predictor.command_line.main import main
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import write_model
from numapredict.predictor.learning.train import train
from numapredict.reports.cli import report
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render
from numapredict.reports.parts.subject import Subject, model_for, open_subject
from tests.advised import advised_on
from tests.planted import planted_dataset
from tests.replayed import on_a_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a prediction."""
    folder = tmp_path_factory.mktemp("subjects")
    dataset = planted_dataset(10)
    model = train(dataset, TrainingOptions(n_clusters=5))
    write_model(model, folder / "model.json")
    advice = advised_on(dataset, dataset.programs[1], model)
    (folder / "prediction.json").write_bytes(msgspec.json.encode(advice, enc_hook=to_label))
    return folder


def test_an_answer_on_regions_is_one_by_its_fields(tmp_path: Path) -> None:
    (tmp_path / "regions.json").write_bytes(msgspec.json.encode(on_a_server()))
    assert open_subject(str(tmp_path / "regions.json")) == Subject(
        name="./solver -n 400 mesh.dat", replayed=on_a_server()
    )


def test_a_shipped_name_is_both() -> None:
    subject = open_subject("broadwell-2x10")
    assert subject.dataset is not None
    assert subject.model is not None
    assert subject.model.machine == subject.dataset.machine == "broadwell-2x10"
    found = model_for(subject.dataset)
    assert found is not None
    assert found.probes == subject.model.probes


def test_files_are_recognised_by_their_contents(folder: Path) -> None:
    assert open_subject(str(folder / "model.json")).model is not None
    subject = open_subject(str(folder / "prediction.json"))
    assert subject.advice is not None


def test_a_prediction_can_come_from_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (folder / "prediction.json").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert open_subject("-").advice == open_subject(str(folder / "prediction.json")).advice


def test_an_explanation_is_shown(folder: Path) -> None:
    advice = open_subject(str(folder / "prediction.json")).advice
    assert advice is not None
    evidence = {"default_local_share": 0.25, "controllers_GBps": 102.4, "speedup": 3.5}
    explanation = Explanation(
        pages=advice.explanation.pages,
        binds=advice.explanation.binds,
        findings=(Finding("default", "a rule", "all <pages> on one node", evidence),),
        close=(Close(mapping_named("32x4-scatter-mix"), 3.4, "pages"),),
    )
    page = render(page_data(Subject(name="p", advice=msgspec.structs.replace(advice, explanation=explanation))))
    assert "All &lt;pages&gt; on one node" in page
    read = "local accesses under the default: 25%; all memory controllers can read: 102\u00a0GB/s; "
    assert f"{read}the other mapping over the default: 3.50x" in page
    assert page.index("whose time is at most 2% greater") < page.index("3.40x")


@pytest.mark.parametrize(
    ("name", "text", "error", "says"),
    [
        ("nosuch", None, UsageError, "sandybridge-4x8"),
        ("list.json", "[1, 2]", InvalidInputError, "neither a model nor an answer"),
        ("torn.json", '{"mapping": ', InvalidInputError, "neither a model nor an answer"),
        ("bytes.json", b"\xff\xfe\x00", InvalidInputError, "neither a model nor an answer"),
        ("deep.json", "[" * 100_000, InvalidInputError, "neither a model nor an answer"),
        ("empty.json", "{}", InvalidInputError, "predict --json"),
        ("model.json", '{"schema_version": 1}', InvalidInputError, "train again"),
        ("folder", "", InvalidInputError, "is not a dataset"),
    ],
)
def test_what_is_nothing_to_draw_is_one_line(
    tmp_path: Path, name: str, text: str | bytes | None, error: type[Exception], says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / name
    if text == "":
        path.mkdir()
    elif text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error, match=says):
        open_subject(str(path))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    assert not (tmp_path / "page.html").exists()


def test_a_label_in_a_prediction_must_be_one(folder: Path, tmp_path: Path) -> None:
    text = (folder / "prediction.json").read_text().replace('"mapping":"32x4-', '"mapping":"x-', 1)
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InvalidInputError, match="label"):
        open_subject(str(tmp_path / "bad.json"))


def test_the_commands_name_may_be_left_out(folder: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    subject, pages = str(folder / "model.json"), [tmp_path / f"{number}.html" for number in range(3)]
    for words in ([subject, "-o", pages[0]], ["-o", pages[1], subject], ["page", subject, "--output", pages[2]]):
        done = runner.invoke(report, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert "model" in done.stderr
        assert done.stdout == ""
    assert len({page.read_bytes() for page in pages}) == 1


def test_the_other_reports_are_still_there() -> None:
    runner = CliRunner()
    for name in ("clustermap", "fidelity", "pairs", "sweeps", "calibration", "budget"):
        done = runner.invoke(report, [name, "--help"])
        assert done.exit_code == 0
        assert f"report {name}" in done.output
    helped = runner.invoke(report, ["--help"])
    assert helped.exit_code == 0
    assert "-o page.html" in helped.output
    assert "clustermap" in helped.output


def test_a_page_of_another_name_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "nosuch", "-o", str(tmp_path / "page.png")]) == 2
    assert "page.png: a page is written as .html" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "page.png"], "html"),
        (["--default", "1x1-contiguous-bind"], "dataset"),
        (["--nosuch"], "nosuch"),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path, tmp_path: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder / "model.json"), *words]) == 2
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1
    assert says in reported
    assert not list(tmp_path.iterdir())
