from pathlib import Path

import pytest

from numapredict.collect.dataset import write_dataset
from numapredict.predictor.evaluation_session import evaluate_datasets, fold_memory, save
from tests.planted import planted_dataset


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
