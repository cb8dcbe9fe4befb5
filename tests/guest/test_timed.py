"""Timed guests: what the plugin is given, and what is refused."""

import msgspec
import pytest

from tests.guest.cli import main
from tests.guest.errors import GuestError
from tests.guest.machine import Guest
from tests.guest.shape import Shape
from tests.guest.timed.checks import bandwidth_GBps, checks
from tests.guest.timed.configuration import MACHINES, Timing, timed_machine

SMALL = timed_machine("guest-2x2")
RING = timed_machine("sandybridge-4x8")


def fields(timing: Timing) -> dict[str, list[int]]:
    """Return the plugin's file by name."""
    rows = [line.split() for line in timing.figures(256).splitlines()]
    return {name: [int(value) for value in values] for name, *values in rows}


def test_figures_are_the_description_times_the_factor() -> None:
    read = fields(Timing(SMALL, 1000))
    assert (read["timed"], read["nodes"], read["processors"]) == ([1], [2], [2])
    assert read["node_bytes"] == [256 << 20]
    assert read["node_stride"] == [512 << 20]  # QEMU 7.2 adds a node's first address twice
    assert [*read["private_sets"], *read["private_ways"]] == [64, 8]
    assert [*read["shared_sets"], *read["shared_ways"]] == [256, 16]
    assert read["instruction_ps"] == [200_000]  # half a cycle of 0.4 ns
    assert read["shared_ps"] == [12_000_000]
    assert read["latency_ps"] == [100_000_000, 250_000_000, 250_000_000, 100_000_000]
    assert read["read_ps"] == [5_333_333, 16_000_000, 16_000_000, 5_333_333]
    assert read["write_back_ps"] == [5_333_333, 10_666_667, 10_666_667, 5_333_333]
    assert read["node_read_ps"] == read["node_write_back_ps"] == [4_266_667] * 2
    assert (read["link_read_ps"], read["link_write_back_ps"]) == ([12_800_000] * 2, [3_200_000] * 2)
    assert read["route"] == [0, 0, 1, 0, 0, 1, 0, 0]


def test_a_factor_scales_times_and_nothing_else() -> None:
    slow, fast = fields(Timing(RING, 2000)), fields(Timing(RING, 1000))
    for name in fast:
        scale = 2 if name.endswith("_ps") else 1
        assert slow[name] == pytest.approx([scale * value for value in fast[name]], abs=1)
    assert sum(fast["route"]) == 4 * (1 + 1 + 2)  # of each node: two neighbours, and two links to the opposite one


def test_the_guest_has_the_machines_nodes_and_distances() -> None:
    assert Timing(SMALL).shape(256) == Shape(2, 2, 0, 256, ((10, 25), (25, 10)))
    ring = Timing(RING).shape()
    assert (ring.nodes, ring.cpus_per_node, ring.distances[0]) == (4, 8, (10, 30, 33, 30))


def test_the_machines_for_guests_have_their_files_names() -> None:
    names = [file.stem for file in MACHINES.glob("*.toml")]
    assert {timed_machine(name).name for name in names} == set(names) == {"guest-2x2", "guest-4x2"}


def test_what_a_node_gives_is_the_least_of_threads_controller_and_links() -> None:
    assert bandwidth_GBps(SMALL, ("read", 0, 0), 1) == 12
    assert bandwidth_GBps(SMALL, ("read", 0, 0), 2) == 15
    assert bandwidth_GBps(SMALL, ("read", 0, 1), 2) == 5
    assert bandwidth_GBps(SMALL, ("write", 1, 0), 2) == 4
    assert bandwidth_GBps(SMALL, ("write", 1, 1), 1) == 6


def test_every_pair_of_nodes_is_checked() -> None:
    found = list(checks(Timing(RING, 500)))
    assert len(found) == len({check.name for check in found}) == 16 * 5 + 6
    assert found[0].expected == pytest.approx(101 * 500)
    assert {check.node for check in found if check.cpus[0] == 8} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--timed", "sandybridge"], "unknown machine 'sandybridge'"),
        (["--timed", "host.xml"], "has no memory times"),
        (["--timed", "/nothing.toml"], "cannot be read"),
        (["--timed", "guest-2x2", "--factor", "0"], "the factor 0"),
    ],
)
def test_a_mistake_gets_one_line(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--", "true"])
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_nodes_of_different_sizes_and_another_shape_are_refused() -> None:
    uneven = msgspec.structs.replace(SMALL, nodes=(SMALL.nodes[0], msgspec.structs.replace(SMALL.nodes[1], cores=1)))
    with pytest.raises(GuestError, match="same number of cores"):
        Timing(uneven)
    with pytest.raises(GuestError, match="not that of machine guest-2x2"):
        Guest(Shape(2, 2), timed=Timing(SMALL))
