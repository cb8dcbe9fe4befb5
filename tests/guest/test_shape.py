"""Shapes: what is read, what QEMU is told, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guest.errors import GuestError
from tests.guest.shape import Shape

numbers = st.integers(1, 12)


@given(nodes=numbers, cpus=numbers, memory_only=st.integers(0, 3))
def test_every_cpu_belongs_to_one_node_and_every_node_has_memory(nodes: int, cpus: int, memory_only: int) -> None:
    arguments = Shape.parse(f"{nodes}x{cpus}", "ring", memory_only).qemu_arguments()
    reported = [argument for argument in arguments if argument.startswith("node,")]
    ranges = [part[5:].split("-") for node in reported for part in node.split(",") if part.startswith("cpus=")]
    assert [cpu for first, last in ranges for cpu in range(int(first), int(last) + 1)] == list(range(nodes * cpus))
    assert len(reported) == nodes + memory_only
    assert len({node.split("memdev=")[1] for node in reported}) == len(reported)
    assert len([argument for argument in arguments if argument.startswith("dist,")]) == (nodes + memory_only) ** 2


def test_a_core_has_as_many_cpus_as_threads() -> None:
    arguments = Shape.parse("2x3", smt=2).qemu_arguments()
    assert "12,sockets=2,cores=3,threads=2" in arguments
    assert [part for part in arguments if "cpus=" in part] == [
        "node,nodeid=0,cpus=0-5,memdev=memory0",
        "node,nodeid=1,cpus=6-11,memdev=memory1",
    ]
    assert "16,sockets=2,dies=2,cores=2,threads=2" in Shape(2, 8, threads_per_core=2, dies=2).qemu_arguments()
    with pytest.raises(GuestError, match="6 CPUs a node are not as many cores on each of 2 dies"):
        Shape(1, 6, threads_per_core=2, dies=2)
    with pytest.raises(GuestError, match="3 CPUs a node are not 2 for each core"):
        Shape(2, 3, threads_per_core=2)


def test_a_ring_is_as_far_as_its_hops() -> None:
    assert Shape.parse("4x1", "ring").distances[1] == (21, 10, 21, 32)


def test_distances_come_as_rows_or_from_a_file(tmp_path: Path) -> None:
    rows = ((10, 16, 22), (17, 10, 30), (40, 31, 10))
    file = tmp_path / "distances"
    file.write_text("10 16 22\n17 10 30\n40 31 10\n")
    assert Shape.parse("2x2", "10,16,22;17,10,30;40,31,10", 1).distances == rows
    assert Shape.parse("2x2", str(file), 1).distances == rows


@pytest.mark.parametrize("text", ["", "4", "x4", "4x", "0x4", "4x0", "-4x4", "4x4x4", "4 x 4", "16x16", "129x1", "٤x4"])
def test_a_bad_shape_is_refused(text: str) -> None:
    with pytest.raises(GuestError):
        Shape.parse(text)


@pytest.mark.parametrize(
    ("distances", "complaint"),
    [
        ("10,20", "2 rows of 2"),
        ("10,20;20", "2 rows of 2"),
        ("10,20,30;20,10,30;30,30,10", "2 rows of 2"),
        ("10,9;20,10", "from node 0 to 1 is 9"),
        ("10,20;20,11", "from node 1 to 1 is 11"),
        ("10,255;20,10", "is 255"),
        ("mesh", "neither ring"),
    ],
)
def test_bad_distances_are_refused(distances: str, complaint: str) -> None:
    with pytest.raises(GuestError, match=complaint):
        Shape.parse("2x2", distances)


def test_too_little_memory_and_a_negative_number_of_nodes_are_refused() -> None:
    with pytest.raises(GuestError, match="127 MB"):
        Shape.parse("2x2", memory_mb=127)
    with pytest.raises(GuestError, match="negative"):
        Shape.parse("2x2", memory_only_nodes=-1)
