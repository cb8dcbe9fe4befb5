from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from numapredict.collect.host.host import topology_from_file
from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placement import resolve
from numapredict.collect.placing.profile_file import parse_profile
from numapredict.collect.space import full_space
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, InvalidMappingError, UsageError
from numapredict.reports import palette
from numapredict.reports.figure_file import write_figure
from numapredict.reports.placed_mapping import (
    PlacedMappingData,
    mapping_figure,
    placed_mapping_data,
)
from tests.profiles import profile_bytes
from tests.shapes import shape
from tests.unit.reports.legible import assert_legible

FOUR = shape([2, 2, 2, 2], name="four")  # nodes 10 to 13 to the operating system


def placed(label: str, topology: Topology = FOUR) -> PlacedMappingData:
    return placed_mapping_data(resolve(parse_label(label), topology))


def threads(data: PlacedMappingData) -> list[list[int | None]]:
    return [[cell.thread for cell in box.cells] for box in data.boxes]


def shares(data: PlacedMappingData) -> list[float | None]:
    return [box.share for box in data.boxes]


def words(data: PlacedMappingData) -> list[str]:
    return [box.words for box in data.boxes]


def test_threads_stand_on_their_cores() -> None:
    assert threads(placed("8x4-scatter-bind@1")) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert threads(placed("8x4-contiguous-bind@1")) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert threads(placed("3x2-scatter-bind@1")) == [[0, 2], [1, None], [None, None], [None, None]]
    assert [box.node for box in placed("1x1-contiguous-bind").boxes] == [10, 11, 12, 13]


def test_of_siblings_the_first_pu_has_the_thread() -> None:
    data = placed("4x2-contiguous-bind@1", shape([2, 2], pus=2))
    assert [[(cell.pu, cell.thread) for cell in box.cells] for box in data.boxes] == [
        [(0, 0), (1, 1)],
        [(2, 2), (3, 3)],
    ]


def test_shares_that_the_policy_tells() -> None:
    assert shares(placed("4x2-contiguous-interleave")) == [0.5, 0.5, None, None]
    assert shares(placed("4x2-contiguous-interleave@4")) == [0.25] * 4
    assert words(placed("4x2-contiguous-bind@1")) == ["100% of the pages", "no pages", "no pages", "no pages"]
    assert shares(placed("4x2-contiguous-bind@1")) == [1.0, None, None, None]
    assert shares(placed("2x1-contiguous-remote")) == [None, 1.0, None, None]
    assert shares(placed("3x2-scatter-dataset")) == [pytest.approx(2 / 3), pytest.approx(1 / 3), None, None]


def test_what_depends_on_the_program_has_words_and_no_share() -> None:
    assert words(placed("4x2-contiguous-first-touch")) == [
        "first touched from node 10", "first touched from node 11", "no pages", "no pages",
    ]  # fmt: skip
    assert words(placed("4x2-contiguous-locality"))[:2] == ["used most from node 10", "used most from node 11"]
    assert words(placed("4x2-contiguous-balance@4")) == ["pages with 1/4 of the accesses"] * 4
    assert words(placed("4x2-contiguous-mix@4")) == [
        "used most from node 10\nand 1/4 of what is shared",
        "used most from node 11\nand 1/4 of what is shared",
        "1/4 of what is shared",
        "1/4 of what is shared",
    ]
    for policy in ("first-touch", "locality", "balance", "mix"):
        data = placed(f"4x2-contiguous-{policy}")
        assert shares(data) == [None] * 4
        assert "program" in data.note


def test_a_node_without_memory_sends_its_pages_home() -> None:
    near = [[10.0, 20, 30], [20, 10, 15], [30, 15, 10]]
    data = placed("3x3-contiguous-first-touch", shape([1, 1, 1], memory=[1 << 30, 0, 1 << 30], distances=near))
    assert words(data) == ["first touched from node 10", "", "first touched from nodes 11, 12"]


def test_a_profile_tells_the_shares() -> None:
    # Two threads a node; pages 0 to 2 are thread 0's, page 3 is thread 3's.
    data = profile_bytes([(4, [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 2.0), (3, 3, 1.0)])], 4)
    found = placed_mapping_data(resolve(parse_label("4x2-contiguous-locality"), FOUR), parse_profile(data))
    assert shares(found) == [0.75, 0.25, None, None]
    assert words(found) == ["75% of the pages\n(3)", "25% of the pages\n(1)", "no pages", "no pages"]
    assert "1 allocation, 4 pages" in found.note
    assert "made with" not in found.note
    # Balance: equal accesses (5 in all), whoever makes them, and so other shares of the pages.
    balanced = placed_mapping_data(resolve(parse_label("4x2-contiguous-balance"), FOUR), parse_profile(data))
    assert shares(balanced) == [0.5, 0.5, None, None]
    other = placed_mapping_data(resolve(parse_label("8x4-contiguous-locality"), FOUR), parse_profile(data))
    assert "made with 4 threads" in other.note


def test_what_cannot_be_drawn_is_said() -> None:
    data = parse_profile(profile_bytes([(1, [(0, 0, 1.0)])]))
    with pytest.raises(UsageError, match="interleave places pages without a profile; leave out --profile"):
        placed_mapping_data(resolve(parse_label("4x2-contiguous-interleave"), FOUR), data)
    with pytest.raises(InvalidInputError, match="no samples"):
        placed_mapping_data(resolve(parse_label("4x2-contiguous-mix"), FOUR), parse_profile(profile_bytes([(3, [])])))
    with pytest.raises(InvalidMappingError, match="needs 16 cores"):
        placed("16x4-contiguous-bind@1")


@pytest.mark.parametrize(
    ("machine", "label"),
    [
        ("broadwell-2x10", "20x2-scatter-mix"),
        ("sandybridge-4x8", "16x2-scatter-mix@4"),
        ("lpd48core", "48x8-scatter-balance"),
        ("diassrv8", "80x8-contiguous-mix"),
        ("rome-8x16", "64x8-contiguous-locality"),
        ("xeonmax-2x56", "112x2-scatter-balance"),
    ],
)
def test_two_four_and_eight_nodes_are_legible(machine: str, label: str, tmp_path: Path) -> None:
    mapping, topology = parse_label(label), load_description(machine).topology
    data = placed_mapping_data(resolve(mapping, topology))
    figure = mapping_figure(data)
    shown = assert_legible(figure)
    assert sum(text.isdecimal() for text in shown) == mapping.threads
    assert sum(text.startswith("PU ") for text in shown) == topology.core_count
    write_figure(figure, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert f"{label} on {machine}" in text
    assert "of the accesses" in text or "used most from node 0" in text


@pytest.mark.parametrize("name", ["memory-only", "memoryless", "uneven", "one-node"])
def test_every_mapping_of_an_odd_machine_has_a_figure(name: str) -> None:
    topology = topology_from_file(Path(__file__).parents[2] / f"machines/{name}.xml")
    space = full_space(topology)
    for mapping in space:
        data = placed_mapping_data(resolve(mapping, topology))
        placed_threads = [cell.thread for box in data.boxes for cell in box.cells if cell.thread is not None]
        assert sorted(placed_threads) == list(range(mapping.threads))
        known = [box.share for box in data.boxes if box.share is not None]
        assert not known or sum(known) == pytest.approx(1.0)
        assert all(box.memory_bytes for box in data.boxes if box.words)
    for mapping in space[:: max(1, len(space) // 6)]:
        assert_legible(mapping_figure(placed_mapping_data(resolve(mapping, topology))))


def test_a_core_with_two_threads_has_both() -> None:
    topology = shape([2, 2], pus=2)
    data = placed("6x2-scatter-bind@1-smt2", topology)
    assert [[(cell.pu, cell.thread, cell.more) for cell in box.cells] for box in data.boxes] == [
        [(0, 0, (2,)), (1, 4, ())],
        [(2, 1, (3,)), (3, 5, ())],
    ]
    assert "6 threads on 2 nodes, 2 threads on each core, round-robin" in data.about
    texts = [text.get_text() for axes in mapping_figure(data).axes for text in axes.texts]
    assert {"0 2", "4", "1 3", "5"} <= set(texts)
    assert "the numbers of its threads" in data.cells
    rome = load_description("rome-8x16").topology
    shown = assert_legible(mapping_figure(placed("256x8-contiguous-locality-smt2", rome)))
    assert {"0 1", "254 255", "PUs 0-15, 128-143", "PUs 112-127, 240-255"} <= set(shown)
    assert "the number of its thread over" in placed("4x2-scatter-bind@1", topology).cells


def test_busy_cores_have_their_node_s_colour_and_pages_a_paler_one() -> None:
    figure = mapping_figure(placed("4x2-scatter-bind@1", shape([2, 2])))
    colours = [to_hex(patch.get_facecolor()) for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    first, second = palette.shade(0.0), palette.shade(1.0, light=0.88)
    assert (colours.count(first), colours.count(second)) == (2, 2)
    assert colours.count(palette.paler(first)) == 1  # all pages are on the first node
    assert palette.paler(second) not in colours
    assert palette.ink_on(palette.paler(first)) == palette.BLACK
