import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placement import resolve
from numapredict.collect.placing.profile_file import Profile, parse_profile
from numapredict.native.errors import UsageError
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render
from numapredict.reports.parts.subject import Subject
from numapredict.reports.parts.topology import draw_mapping, machine_data, topology_data
from tests.planted import four_by_eight, planted_dataset
from tests.profiles import profile_bytes
from tests.samples import topology_of
from tests.shapes import shape


def test_threads_stand_on_the_cores_that_they_are_bound_to() -> None:
    topology = topology_of((4, 4), os_indices=(0, 7))  # PU numbers alternate
    data = topology_data(topology, resolve(parse_label("4x2-scatter-interleave"), topology))
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
    data = topology_data(four_by_eight(), resolve(parse_label(label), four_by_eight()))
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
    assert (data.nodes[0].memory, data.nodes[0].caches) == ("32\u00a0GiB", "1 L3 of 20\u00a0MiB")
    assert data.distances[0][1] == 21
    assert {core.thread for node in data.nodes for core in node.cores} == {None}


def test_a_described_machine_tells_latency_and_bandwidth_with_their_sources() -> None:
    machine = load_description("lpd48core")
    data = machine_data(machine.topology, machine)
    assert [(table.title.split(",")[0], table.unit) for table in data.tables] == [
        ("read latency", "ns"),
        ("read bandwidth", "GB/s"),
        ("read bandwidth", "GB/s"),
    ]
    assert data.tables[0].rows == machine.read_latency_ns
    assert data.tables[2].rows == machine.thread_read_GBps
    assert any(text.startswith("latency.read: ") for text in data.sources)
    other = machine_data(four_by_eight(), machine)
    assert (other.tables, other.sources) == ((), ()), "another machine of that name"


def profile() -> Profile:
    """Twelve pages, of which the first thread uses nine and the second three."""
    return parse_profile(profile_bytes([(9, [(0, 0, 5.0)]), (3, [(0, 1, 5.0)])], slots=2))


def test_a_profile_tells_the_shares_of_the_pages() -> None:
    mapping = parse_label("2x2-contiguous-locality")
    reported = topology_data(four_by_eight(), resolve(mapping, four_by_eight()), profile())
    assert [node.share for node in reported.nodes] == [0.75, 0.25, None, None]
    assert [node.pages for node in reported.nodes] == ["75% of the pages (9)", "25% of the pages (3)", "", ""]
    assert "12 pages" in reported.note
    unprofiled = topology_data(four_by_eight(), resolve(mapping, four_by_eight()))
    assert {node.share for node in unprofiled.nodes} == {None}


@pytest.mark.parametrize("policy", ["locality", "mix", "balance", "first-touch"])
def test_how_to_learn_the_shares_is_said_where_the_policy_does_not_tell_them(policy: str) -> None:
    mapping = parse_label(f"16x2-contiguous-{policy}")
    note = topology_data(four_by_eight(), resolve(mapping, four_by_eight())).note
    assert "depends on" in note
    assert ("--profile" in note) == (policy != "first-touch")
    assert "depends on" in draw_mapping(mapping, "elsewhere", None).note
    assert (
        topology_data(four_by_eight(), resolve(parse_label("16x2-contiguous-interleave"), four_by_eight())).note == ""
    )


def test_a_profile_that_says_nothing_here_is_refused() -> None:
    with pytest.raises(UsageError, match=r"elsewhere.*report mapping 2x2-contiguous-locality"):
        draw_mapping(parse_label("2x2-contiguous-locality"), "elsewhere", None, profile())
    with pytest.raises(UsageError, match="interleave"):
        draw_mapping(parse_label("2x2-contiguous-interleave"), "planted-4x8", four_by_eight(), profile())


def test_a_core_with_two_threads_has_both() -> None:
    topology = shape([2, 2], pus=2)
    data = topology_data(topology, resolve(parse_label("8x2-contiguous-interleave-smt2"), topology))
    assert [(core.pu, core.thread, core.more) for core in data.nodes[1].cores] == [(2, 4, (5,)), (3, 6, (7,))]
    assert [node.threads for node in data.nodes] == ["0 to 3", "4 to 7"]


def test_rows_of_a_machines_tables_are_nodes_with_cores_and_equal_figures_are_said_once() -> None:
    data = page_data(Subject(name="planted", dataset=planted_dataset(2)))
    found = {}
    for name in ("xeonmax-2x56", "rome-8x16"):
        description = load_description(name)
        made = machine_data(description.topology, description)
        sections = [
            msgspec.structs.replace(section, data=made) if section.template == "topology" else section
            for section in data.sections
        ]
        found[name] = render(msgspec.structs.replace(data, sections=tuple(sections)))
    assert found["xeonmax-2x56"].count('<th scope="row">Node 1</th>') == 3
    assert '<th scope="row">Node 2</th>' not in found["xeonmax-2x56"]
    assert found["rome-8x16"].count('<th scope="row">Node 7</th>') == 2
    assert found["rome-8x16"].count("35.0") == 1
    assert "16 cores, PUs 112-127, 240-255" in found["rome-8x16"]


def test_the_cores_of_each_cache_are_together_in_a_frame() -> None:
    placement = resolve(parse_label("4x2-contiguous-locality-4l3"), shape([4, 4], l3_cores=2))
    data = topology_data(placement.topology, placement)
    assert data.frames == "; each frame is an L3 cache"
    first, second = data.nodes
    assert [[core.thread for core in cores] for cores in first.groups] == [[0, None], [1, None]]
    assert [[core.thread for core in cores] for cores in second.groups] == [[2, None], [3, None]]
    assert topology_data(shape([4, 4])).frames == ""
    (alone,) = topology_data(shape([4])).nodes
    assert (alone.groups, len(alone.others), first.others) == ((), 4, ())
