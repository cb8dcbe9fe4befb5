import msgspec
import pytest

from numapredict.collect.host.packages import Package
from numapredict.collect.measuring.counters.likwid.output import LikwidOutput, read_output
from numapredict.collect.measuring.counters.likwid.traffic import traffic_of
from numapredict.collect.measuring.counters.source import Traffic
from numapredict.native.errors import CounterError
from tests.golden.likwid.recorded import FOLDER, Recorded, recorded

NAMES = sorted(path.stem for path in FOLDER.glob("*.csv"))
REFUSED = {"skylake-mem-nothing": "counted nothing at all", "skylake-mem-2-clusters": "package 0 holds 2 NUMA nodes"}
ROUNDED_BYTES = 0.5e5  # LIKWID prints GB with four decimals


def traffic(reported: Recorded, text: str) -> Traffic:
    return traffic_of(reported.group, read_output(text), reported.topology, reported.all_packages, reported.pus)


def test_there_are_recorded_outputs_of_all_processors_and_both_groups() -> None:
    assert len(NAMES) == 19
    assert {name.split("-")[0] for name in NAMES} == {
        "haswell", "broadwell", "skylake", "icelake", "zen2", "zen3", "zen4",
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_a_recorded_output_becomes_the_bytes_that_were_counted(name: str) -> None:
    reported, text = recorded(name)
    found = traffic(reported, text)
    assert found.source == "likwid"
    assert found.running_share == 1.0
    assert len(found.nodes) == len(reported.local_remote_controller_bytes)
    for node, expected in zip(found.nodes, reported.local_remote_controller_bytes, strict=True):
        values = (node.local_bytes, node.remote_bytes, node.controller_bytes)
        rounding = ROUNDED_BYTES * len(reported.pus)
        assert [value is None for value in values] == [value is None for value in expected]
        for value, right in zip(values, expected, strict=True):
            assert value is None or right is None or value == pytest.approx(right, abs=rounding, rel=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_an_output_that_tells_nothing_is_refused(name: str) -> None:
    with pytest.raises(CounterError, match=REFUSED[name]):
        traffic(*recorded(name))


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("zen3-numa-2", "other caches"),
        ("zen2-numa-1-nps4", "package 0 holds 4 NUMA nodes"),
        ("broadwell-numa-4", "the home agents of 4 packages"),
        ("haswell-numa-no-value", "no figure for a PU of node 10"),
    ],
)
def test_what_the_figures_leave_open_is_noted(name: str, note: str) -> None:
    assert any(note in line for line in traffic(*recorded(name)).notes)


def test_plain_figures_need_no_note() -> None:
    assert traffic(*recorded("haswell-numa-2")).notes == ()
    assert traffic(*recorded("skylake-mem-2")).notes == ()


def test_only_groups_of_cores_and_two_packages_tell_local_bytes() -> None:
    tells = {name for name in NAMES if name not in REFUSED and traffic(*recorded(name)).tells_local}
    assert tells == {
        "haswell-numa-1-pu", "haswell-numa-2", "haswell-numa-2-siblings", "haswell-numa-4-half", "broadwell-numa-2",
        "zen2-numa-1-nps4", "zen3-numa-2", "zen4-numa-2",
    }  # fmt: skip


def test_what_others_do_on_pus_that_are_only_counted_for_their_package_is_left_out() -> None:
    reported, text = recorded("haswell-numa-4-half")
    output = read_output(text)
    assert set(output.pus) > set(reported.pus)
    assert [node.local_bytes for node in traffic(reported, text).nodes][::2] == [0.0, 0.0]


def test_a_pu_without_figures_is_an_error() -> None:
    reported, text = recorded("haswell-numa-2")
    with pytest.raises(CounterError, match="no figures for PU 5"):
        traffic(reported, text.replace("HWThread 5", "HWThread 99"))


def test_a_node_hidden_from_the_program_still_shares_the_package() -> None:
    """A cpuset may leave one of a package's two nodes: the controllers' bytes are both nodes'."""
    reported, text = recorded("skylake-mem-2")
    hidden = (Package(0, (0, 1, 2, 9), (10, 17)), reported.all_packages[1])
    found = traffic_of("MEM", read_output(text), reported.topology, hidden, reported.pus)
    assert found.nodes[0].controller_bytes is None
    assert found.nodes[1].controller_bytes is not None
    assert "package 0 holds 2 NUMA nodes" in found.notes[0]


def test_without_sysfs_controllers_have_no_nodes() -> None:
    reported, text = recorded("skylake-mem-2")
    with pytest.raises(CounterError, match="sysfs does not show the packages"):
        traffic_of("MEM", read_output(text), reported.topology, (), reported.pus)


def test_a_group_with_other_metrics_or_counters_is_refused() -> None:
    reported, text = recorded("haswell-numa-2")
    with pytest.raises(CounterError, match="no Remote data volume here"):
        traffic(reported, text.replace("Remote DRAM data volume [GByte]", "DRAM read/write local to 1 [MegaEvents/s]"))
    with pytest.raises(CounterError, match="counts NUMA by CBOX, PMC1"):
        traffic(reported, text.replace(",PMC0,", ",CBOX0C0,"))


def test_bytes_of_all_columns_add_up_for_any_reader_of_a_package() -> None:
    """Which column of a package has its figures is LIKWID's choice, and others may be zero or nothing."""
    reported, text = recorded("skylake-mem-2")
    output = read_output(text)
    moved = msgspec.structs.replace(output, metrics=tuple(
        msgspec.structs.replace(row, values=(None, row.values[0], *row.values[2:])) for row in output.metrics
    ))  # fmt: skip
    assert moved != output
    assert _bytes(reported, moved) == _bytes(reported, output)


def _bytes(reported: Recorded, output: LikwidOutput) -> list[float | None]:
    found = traffic_of(reported.group, output, reported.topology, reported.all_packages, reported.pus)
    return [node.controller_bytes for node in found.nodes]
