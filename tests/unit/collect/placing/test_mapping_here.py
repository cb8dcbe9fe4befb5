"""What a placed run says of its mapping before it starts."""

import msgspec
import pytest

from numapredict.collect.placing.mapping_here import placement_here
from numapredict.collect.placing.run_notes import RunNotes
from numapredict.collect.topology import Bandwidths, Topology
from tests.shapes import shape

FAR = shape([4, 4, 0], distances=[[10, 20, 40], [20, 10, 40], [40, 40, 10]])


def notes(topology: Topology, label: str) -> list[str]:
    said = RunNotes(None)
    placement_here(topology, label, said)
    return said.notes


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def test_weights_are_said_and_where_they_are_from() -> None:
    (weights, alone) = notes(FAR, "4x1-contiguous-weighted@3")
    assert weights.startswith("pages by weight: node 10 4, node 11 2, node 12 1, by the distances of the nodes")
    assert alone == "of the mapping's page nodes node 12 has memory alone, no cores (CXL, HBM)"
    table = ((90.0,) * 3,) * 3, ((30.0, 10.0, 10.0), (10.0, 30.0, 10.0), (10.0, 10.0, 30.0))
    measured = msgspec.structs.replace(FAR, bandwidths=Bandwidths(*table))
    assert notes(measured, "4x1-contiguous-weighted@2") == [
        "pages by weight: node 10 3, node 11 1, by the bandwidths that were measured"
    ]


def test_nothing_is_said_of_what_a_label_says_itself() -> None:
    assert notes(FAR, "4x2-contiguous-interleave") == []
