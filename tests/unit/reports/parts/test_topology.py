import pytest

from numapredict.collect.mapping import parse_label
from numapredict.reports.parts.topology import draw_mapping, topology_data
from tests.planted import four_by_eight
from tests.samples import topology_of


def test_threads_stand_on_the_cores_that_they_are_bound_to() -> None:
    topology = topology_of((4, 4), os_indices=(0, 7))  # PU numbers alternate
    data = topology_data(topology, parse_label("4x2-scatter-interleave"))
    assert [node.name for node in data.nodes] == ["Node 0", "Node 7"]
    assert [(core.pu, core.thread) for core in data.nodes[0].cores] == [(0, 0), (2, 2), (4, None), (6, None)]
    assert [(core.pu, core.thread) for core in data.nodes[1].cores] == [(1, 1), (3, 3), (5, None), (7, None)]
    assert [node.threads for node in data.nodes] == ["0, 2", "1, 3"]


@pytest.mark.parametrize(
    ("label", "threads", "pages"),
    [
        ("16x2-contiguous-locality", ["0 to 7", "8 to 15", "", ""], ["pages that its threads use most"] * 2 + [""] * 2),
        ("16x2-scatter-bind@1", ["0, 2 ... 14", "1, 3 ... 15", "", ""], ["all pages", "", "", ""]),
        ("8x1-contiguous-remote@1", ["0 to 7", "", "", ""], ["", "all pages", "", ""]),
        ("8x1-contiguous-interleave@4", ["0 to 7", "", "", ""], ["1/4 of the pages, by address"] * 4),
        ("8x1-contiguous-balance@2", ["0 to 7", "", "", ""], ["pages with 1/2 of the accesses"] * 2 + [""] * 2),
        ("32x4-contiguous-dataset", ["0 to 7", "8 to 15", "16 to 23", "24 to 31"], ["8/32 of each allocation"] * 4),
    ],
)
def test_each_policy_is_said_in_words(label: str, threads: list[str], pages: list[str]) -> None:
    data = topology_data(four_by_eight(), parse_label(label))
    assert [node.threads for node in data.nodes] == threads
    assert [node.pages for node in data.nodes] == pages


def test_without_a_topology_only_the_label_is_drawn() -> None:
    data = draw_mapping(parse_label("6x2-contiguous-locality"), "elsewhere", None)
    assert not data.whole
    assert [(node.name, node.threads, node.memory) for node in data.nodes] == [
        ("Thread node 0", "0 to 2", ""),
        ("Thread node 1", "3 to 5", ""),
    ]
    assert data.distances == ()
    remote = draw_mapping(parse_label("8x1-contiguous-remote@1"), "elsewhere", None)
    assert remote.nodes[0].pages == "", "they are on a node that the label does not name"


def test_a_mapping_that_does_not_fit_is_drawn_alone() -> None:
    assert not draw_mapping(parse_label("48x8-contiguous-locality"), "planted-4x8", four_by_eight()).whole


def test_a_machine_is_drawn_with_memory_and_caches() -> None:
    data = topology_data(four_by_eight())
    assert (data.nodes[0].memory, data.nodes[0].caches) == ("32 GiB", "1 L3 of 20 MiB")
    assert data.distances[0][1] == 21
    assert {core.thread for node in data.nodes for core in node.cores} == {None}
