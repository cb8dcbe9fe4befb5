import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.mapping import to_label
from numapredict.collect.topology import restrict
from numapredict.native.errors import InvalidInputError, NoModelError, UnwritableError
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import check_topology, read_model, write_model
from numapredict.predictor.learning.train import train
from tests.planted import four_by_eight, planted_dataset

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def model() -> Model:
    return train(planted_dataset(6), TrainingOptions(n_clusters=3))


def changed(model: Model, path: Path, change: Change) -> Path:
    """Write the model with its JSON changed."""
    document = json.loads(msgspec.json.encode(model, enc_hook=to_label))
    change(document)
    path.write_text(json.dumps(document))
    return path


def test_a_model_comes_back_as_it_was(model: Model, tmp_path: Path) -> None:
    write_model(model, tmp_path / "new" / "model.json")
    assert read_model(tmp_path / "new" / "model.json") == model
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["model.json"], "no temporary file stays"


def test_equal_models_are_equal_files(model: Model, tmp_path: Path) -> None:
    write_model(model, tmp_path / "a.json")
    write_model(train(planted_dataset(6), TrainingOptions(n_clusters=3)), tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


HOSTILE: dict[str, tuple[Change, str]] = {
    "newer": (lambda d: d.update(schema_version=7), "schema_version is 7, this numapredict reads up to 6"),
    "zero version": (lambda d: d.update(schema_version=0), "schema_version"),
    "version is text": (lambda d: d.update(schema_version="1"), "schema_version"),
    "wrong type": (lambda d: d.update(modelled="yes"), "modelled"),
    "missing": (lambda d: d.pop("probes"), "probes"),
    "null floor": (lambda d: d["scales"].update(floor_GBps=None), "floor_GBps"),
    "one probe": (lambda d: d["probes"].pop(), "probes"),
    "same probes": (lambda d: d["probes"].__setitem__(1, d["probes"][0]), "two different"),
    "strange probe": (lambda d: d["probes"][0].update(mapping="1x1-contiguous-bind"), "among the ranked"),
    "no clusters": (lambda d: d.update(clusters=[]), "at least one"),
    "lost member": (lambda d: d["clusters"][0]["members"].pop(), "member"),
    "wrong ids": (lambda d: d["clusters"][1].update(id=7), "ids"),
    "foreign centroid": (lambda d: d["clusters"][0].update(centroid="x"), "is not a member"),
    "short features": (lambda d: d["clusters"][0].update(centre=[]), "scales.divisors"),
    "half ranking": (lambda d: d["clusters"][0]["ranked"].pop(), "ranked"),
    "negative speedup": (
        lambda d: d["clusters"][0]["ranked"][0]["expected_speedup"].update(low=-1.0),
        "0 < low <= median <= high",
    ),
    "zero divisor": (lambda d: d["scales"].update(divisors=[1.0, 0.0]), "positive"),
    "broken tree": (lambda d: d["linkage"][0].__setitem__(0, 99), "merge tree"),
    "no label": (
        lambda d: [r.update(mapping="fast") for c in d["clusters"] for r in c["ranked"][-1:]],
        r"ranked|label",
    ),
    "no clusters asked": (lambda d: d["options"].update(n_clusters=0), "at least 1"),
}


@pytest.mark.parametrize("case", list(HOSTILE))
def test_a_changed_file_is_refused_in_one_line(model: Model, tmp_path: Path, case: str) -> None:
    change, says = HOSTILE[case]
    path = changed(model, tmp_path / "model.json", change)
    with pytest.raises(InvalidInputError, match=says) as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_older_model_is_read_without_what_has_gone(model: Model, tmp_path: Path) -> None:
    def older(document: dict[str, Any]) -> None:
        document.update(
            schema_version=5, rule="member", selection_speedup=1.2, expectation={"labels": []}, fallbacks=[]
        )
        document["options"] = {"scale": "log", "method": "expectation", "rules": ["centre"], "n_clusters": 3}

    found = read_model(changed(model, tmp_path / "model.json", older))
    assert (found.clusters, found.options.n_clusters, found.options.method) == (model.clusters, 3, "search")


NO_MODELS = (
    b"",
    b"\x00\xff\xfe",
    b"null",
    b"[]",
    b"{",
    b'"\xff"',
    b'{"schema_version": 1}',
    b'{"schema_version": NaN}',
    b'{"schema_version": 1e999}',
    b"[" * 100_000,
    b'{"deep": ' + b"[" * 100_000,
    b'{"schema_version": 1, "machine": ' + b"[" * 100_000,
)


@pytest.mark.parametrize("data", NO_MODELS, ids=range(len(NO_MODELS)))
def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInputError) as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InvalidInputError, match=r"more than 64 MiB.*numapredict train wrote"):
        read_model(path)


def test_missing_files_and_folders_are_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="numapredict train"):
        read_model(tmp_path / "absent.json")
    with pytest.raises(InvalidInputError, match="cannot read"):
        read_model(tmp_path)


def test_not_a_number_is_not_written_over_a_good_file(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_model(model, path)
    with pytest.raises(InvalidInputError, match="nothing was written"):
        write_model(
            msgspec.structs.replace(model, scales=msgspec.structs.replace(model.scales, floor_GBps=math.nan)), path
        )
    assert read_model(path) == model


def test_a_folder_that_cannot_be_is_said(model: Model, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnwritableError, match="cannot write the model"):
        write_model(model, tmp_path / "file" / "model.json")


def test_a_model_of_another_topology_is_refused(model: Model) -> None:
    topology = four_by_eight()
    check_topology(model, topology)
    with pytest.raises(NoModelError, match=r"4 nodes with 32 cores.*2 nodes with 16 cores.*train") as caught:
        check_topology(model, restrict(topology, range(16), (0, 1)))
    assert "\n" not in str(caught.value)
