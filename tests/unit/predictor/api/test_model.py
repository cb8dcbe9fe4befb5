from pathlib import Path

import pytest

from numapredict.native.errors import NumapredictError
from numapredict.predictor.api.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import write_model
from numapredict.predictor.learning.train import train
from tests.html_document import Document
from tests.planted import planted_dataset


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    dataset = planted_dataset(15)
    record = train(dataset, TrainingOptions())
    write_model(record, tmp_path / "model.json")
    found = Model.load(tmp_path / "model.json")
    assert found.record == record
    assert found.machine == record.machine
    assert record.default in found.probes
    assert sorted(name for names in found.clusters.values() for name in names) == sorted(record.programs)
    assert found.best(0) == record.clusters[0].ranked[0].mapping
    rows = dict(zip(*(Document(found._repr_html_()).texts[kind] for kind in ("th", "td")), strict=True))
    assert rows["probes"] == ", ".join(map(str, found.probes))
    assert str(found.best(0)) in rows["cluster 0"]


def test_shipped_ones_are_known_by_name() -> None:
    assert Model.load("lpdquad").machine == "lpdquad"
    with pytest.raises(NumapredictError, match="unknown model 'none'"):
        Model.load("none")
