from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.measurement import Repetition
from numapredict.predictor.command_line.cli import evaluate, train
from numapredict.predictor.evaluation.evaluation_session import Asked, evaluate_datasets, fold_memory, save
from tests.planted import planted_dataset

pytestmark = pytest.mark.usefixtures("few_trees")
DEFAULT = "32x4-contiguous-first-touch"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "kept"))
    for number, name in enumerate(("a", "b")):
        (tmp_path / name / "five").mkdir(parents=True)
        write_dataset(planted_dataset(5, seed=number), tmp_path / name / "five")
    return tmp_path


def test_a_dataset_under_several_names_is_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "a")
    found = evaluate_datasets(["five", "./five", str(folder / "a" / "five")])
    assert (found.programs, len(found.datasets)) == (5, 1)


def test_datasets_of_the_same_name_are_saved_apart(folder: Path) -> None:
    names = [str(folder / which / "five") for which in ("a", "b")]
    paths = {save(evaluate_datasets([name]), [name])[0] for name in names}
    assert len(paths) == 2
    assert all(path.is_file() and path.is_relative_to(folder / "kept") for path in paths)


def test_finished_folds_are_kept_and_fresh_ones_asked_for(folder: Path) -> None:
    name = str(folder / "a" / "five")
    first = evaluate_datasets([name])
    kept = list(Path(fold_memory().location).rglob("output.pkl"))
    assert len(kept) == 5
    assert evaluate_datasets([name]) == first
    assert evaluate_datasets([name], fresh=True) == first


def test_folds_run_without_a_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    name = str(folder / "a" / "five")
    expected = evaluate_datasets([name])
    monkeypatch.setenv("NUMAPREDICT_CACHE", "/proc/nowhere")
    assert evaluate_datasets([name]) == expected
    assert "going on without it (NUMAPREDICT_CACHE=FOLDER names another)" in caplog.text


CORRUPT_S = 55 * 3600.0


@pytest.fixture
def corrupt(folder: Path) -> Path:
    """Return a dataset in which one program's default takes 55 hours."""
    dataset = planted_dataset(6)
    wrong = next(
        n for n, m in enumerate(dataset.measurements) if m.mapping.label == DEFAULT and m.program == "stream-0"
    )
    measurements = list(dataset.measurements)
    measurements[wrong] = msgspec.structs.replace(measurements[wrong], repetitions=(Repetition(CORRUPT_S),))
    write_dataset(msgspec.structs.replace(dataset, measurements=tuple(measurements)), folder / "corrupt")
    return folder / "corrupt"


def test_a_corrupt_default_is_named_and_its_program_is_not_judged(corrupt: Path) -> None:
    (found,) = evaluate_datasets([str(corrupt)]).datasets
    assert [(each.program, each.mapping, each.time_s) for each in found.outliers] == [("stream-0", DEFAULT, CORRUPT_S)]
    assert found.dropped_programs == ("stream-0",)
    assert max(held.oracle_speedup for held in found.held_out) < 100
    (kept,) = evaluate_datasets([str(corrupt)], Asked(keep_outliers=True)).datasets
    assert (kept.outliers, kept.dropped_programs) == ((), ())
    assert max(held.oracle_speedup for held in kept.held_out) > 1000


def test_the_commands_warn_of_it(corrupt: Path) -> None:
    said = f"planted-4x8: 1 outlier left out of the times: stream-0 under {DEFAULT} (1.98e+05 s, usual"
    for command in (
        CliRunner().invoke(evaluate, [str(corrupt)]),
        CliRunner().invoke(train, ["--dataset", str(corrupt), "--output", str(corrupt.parent / "model.json")]),
    ):
        assert command.exit_code == 0
        assert said in " ".join(command.stderr.split())
        assert "without its default stream-0 cannot be judged" in " ".join(command.stderr.split())
    for command in (
        CliRunner().invoke(evaluate, [str(corrupt), "--keep-outliers"]),
        CliRunner().invoke(
            train, ["--dataset", str(corrupt), "--keep-outliers", "--output", str(corrupt.parent / "model.json")]
        ),
    ):
        assert command.exit_code == 0
        assert "outlier" not in command.stderr


def test_the_thesis_is_evaluated_by_its_own_method(tmp_path: Path) -> None:
    write_dataset(planted_dataset(8), tmp_path / "data")
    (thesis,) = evaluate_datasets([str(tmp_path / "data")], Asked(thesis=True)).datasets
    (ours,) = evaluate_datasets([str(tmp_path / "data")]).datasets
    assert (thesis.options.method, thesis.options.scale) == ("thesis", "linear")
    assert ours.options.method == "search"
    assert thesis.gain_captured == ours.baselines["thesis recipe"].gain_captured
    assert thesis.by_runs == ours.by_runs
