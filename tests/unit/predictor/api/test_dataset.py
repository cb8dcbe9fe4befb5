from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.data.dataset import write_dataset
from numapredict.native.errors import NumapredictError
from numapredict.predictor.api.dataset import Dataset
from tests.html_document import Document
from tests.planted import planted_dataset


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_dataset(planted_dataset(6), tmp_path / "planted")
    return tmp_path / "planted"


def test_a_folder_is_read_as_it_was_written(folder: Path) -> None:
    found, whole = Dataset.load(folder), planted_dataset(6)
    assert found.record == whole
    assert (found.machine, found.modelled) == (whole.machine, whole.modelled)
    assert found.programs == tuple(program.name for program in whole.programs)
    frame = found.frame()
    assert set(frame.program) == set(found.programs)
    assert frame.time_s.iloc[0] == whole.measurements[0].repetitions[0].time_s


def test_what_is_no_dataset_is_refused(tmp_path: Path) -> None:
    for name in ("none", tmp_path):
        with pytest.raises(NumapredictError, match="dataset"):
            Dataset.load(name)


def test_readings_and_gains_are_of_the_same_programs(folder: Path) -> None:
    dataset = Dataset.load(folder)
    readings, gains = dataset.readings(), dataset.gains()
    assert tuple(readings.index) == tuple(gains.index) == dataset.programs
    assert dataset.groups == tuple(program.group or program.name for program in dataset.record.programs)
    assert (gains[dataset.default.label] == 1).all()
    assert dataset.default in dataset.probes
    first, second = (probe.label for probe in dataset.probes)
    times = dataset.frame().groupby(["program", "mapping"], observed=True).time_s.median()
    for name in dataset.programs:
        of = times[name]
        assert readings[second][name] == pytest.approx(np.log2(of[first] / of[second]))
        assert gains.loc[name, second] == pytest.approx(of[dataset.default.label] / of[second])
    assert np.isfinite(readings).all(axis=None)


def test_other_runs_may_be_named(folder: Path) -> None:
    dataset = Dataset.load(folder)
    first, second = dataset.probes
    turned = dataset.readings(second.label, first)
    assert turned[second.label].to_list() == dataset.readings()[second.label].to_list()
    with pytest.raises(NumapredictError, match="was not measured"):
        dataset.readings("1x1-contiguous-bind@9")


def test_a_notebook_shows_what_it_holds(folder: Path) -> None:
    dataset = Dataset.load(folder)
    found = Document(dataset._repr_html_())
    assert found.texts["th"] == ["programs", "mappings", "measurements", "created"]
    assert found.texts["td"][:2] == [
        f"{len(dataset.programs)}",
        str(len({m.mapping for m in dataset.record.measurements})),
    ]
    assert found.texts["td"][2].startswith(f"{len(dataset)}, ")
