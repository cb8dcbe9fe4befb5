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
    assert set(found.mappings) == {each.mapping for each in whole.measurements}
    assert [m.threads for m in found.mappings] == sorted(m.threads for m in found.mappings)
    frame = found.frame()
    assert set(frame.program) == set(found.programs)
    assert frame.time_s.iloc[0] == whole.measurements[0].repetitions[0].time_s


def test_what_is_no_dataset_is_refused(tmp_path: Path) -> None:
    for name in ("none", tmp_path):
        with pytest.raises(NumapredictError, match="dataset"):
            Dataset.load(name)


def test_the_table_has_each_programs_readings_and_gains(folder: Path) -> None:
    dataset = Dataset.load(folder)
    table = dataset.training_table()
    assert list(table.readings.index) == list(table.gains.index) == list(dataset.programs)
    assert table.groups == tuple(program.group or program.name for program in dataset.record.programs)
    assert (table.gains[table.default] == 0).all()
    assert table.default in table.probes
    frame = dataset.frame()
    times = frame.groupby(["program", "mapping"], observed=True).time_s.median()
    for name in dataset.programs:
        of = times[name]
        assert table.readings.time_ratio[name] == pytest.approx(np.log2(of[table.probes[0]] / of[table.probes[1]]))
        assert table.gains.loc[name, table.probes[0]] == pytest.approx(np.log2(of[table.default] / of[table.probes[0]]))
        for number, probe in enumerate(table.probes, 1):
            assert np.isfinite(table.readings[f"local_bandwidth_{number}"][name]), probe


def test_a_notebook_shows_what_it_holds(folder: Path) -> None:
    dataset = Dataset.load(folder)
    found = Document(dataset._repr_html_())
    assert found.texts["th"] == ["programs", "mappings", "measurements", "created", "made by"]
    assert found.texts["td"][:2] == [f"{len(dataset.programs)}", f"{len(dataset.mappings)}"]
