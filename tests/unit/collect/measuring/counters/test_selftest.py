"""The real load runs here; the sources are made up, since this computer may have none."""

import contextlib
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Variables
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.measuring.counters import selftest
from numapredict.collect.measuring.counters.calibration import (
    FILE,
    RETRY_S,
    Examined,
    calibrated_source,
    examine,
    read_calibrations,
    write_calibrations,
)
from numapredict.collect.measuring.counters.load import Load, run_stream, stream_command
from numapredict.collect.measuring.counters.selftest import load_of, pairs, self_test
from numapredict.collect.measuring.counters.source import Counting, NodeTraffic, Obstacle, Traffic
from numapredict.collect.measuring.counters.verdict import Verdict
from numapredict.collect.topology import Cache, Core, Node, Topology
from numapredict.native.errors import CounterError
from tests.samples import topology_of

pytestmark = pytest.mark.native
START_UP_BYTES = 3e9


class MadeUp:
    """A source that counts ``factor`` bytes for each one that the load reads, and much at its start, on node 0."""

    def __init__(self, name: str = "made-up", factor: float = 1.0, obstacle: Obstacle | None = None) -> None:
        self.name = name
        self.factor = factor
        self.stands = obstacle
        self.runs: list[tuple[int, int]] = []
        self.wrote: list[bool] = []
        self.nodes = len(host_topology().nodes)

    def obstacle(self) -> Obstacle | None:
        return self.stands

    @contextlib.contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator[Counting]:
        assert pus
        assert not list(folder.iterdir())
        yield _Run(self)


class _Run:
    def __init__(self, source: MadeUp) -> None:
        self.source = source

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        assert not variables
        self.read = int(command[1]) * int(command[2])
        self.source.wrote.append(command[-1] == "write")
        self.source.runs.append((int(command[1]), int(command[2])))
        return tuple(command)

    def traffic(self) -> Traffic:
        first = NodeTraffic(START_UP_BYTES + self.source.factor * self.read, 1e6)
        others = [NodeTraffic(0.0, 0.0) for _ in range(1, self.source.nodes)]
        return Traffic(self.source.name, (first, *others))


def one_node() -> Topology:
    """Return this computer's first node alone."""
    topology = host_topology()
    first = topology.nodes[0]
    return Topology(topology.name, (first,), (), ((10.0,),))


def made_up(**settings: object) -> MadeUp:
    source = MadeUp(**settings)  # type: ignore[arg-type]
    source.nodes = 1
    return source


@pytest.fixture
def small_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the loads small and short, for tests of what follows from their counts."""
    monkeypatch.setattr(selftest, "LEAST_BYTES", 16 << 20)
    monkeypatch.setattr(selftest, "LASTS_S", 0.01)
    monkeypatch.setattr(selftest, "CACHES", 0)


def test_what_comes_before_the_passes_is_not_counted() -> None:
    source = made_up(factor=2.0)
    verdict = self_test(source, one_node())
    assert verdict.passed
    assert verdict.factor == pytest.approx(2.0, rel=1e-3)
    assert not verdict.remote_tested
    (size, few), (same, many), *writing = source.runs
    assert size == same >= 256 << 20
    assert few == 1
    assert many >= 5
    assert len(writing) == 2
    assert source.wrote == [False, False, True, True]


@pytest.mark.usefixtures("small_loads")
def test_a_source_that_counts_nothing_fails() -> None:
    assert self_test(made_up(factor=0.0), one_node()).reasons == ("it counts nothing of node 0's local accesses",)


def test_every_node_reads_its_own_memory_and_the_farthest() -> None:
    topology = topology_of((1, 1, 1))
    far = msgspec.structs.replace(topology, distances=((10.0, 20.0, 30.0), (20.0, 10.0, 20.0), (30.0, 20.0, 10.0)))
    assert list(pairs(far)) == [(0, 0), (0, 2), (1, 1), (1, 0), (2, 2), (2, 0)]


def test_a_node_without_memory_or_cores_is_read_as_far_as_it_can_be() -> None:
    nodes = (Node(0, 0, (Core(0, (0,)),), 1 << 30), Node(1, 1, (Core(1, (1,)),), 0), Node(2, 2, (), 1 << 30))
    topology = Topology("odd", nodes, (), tuple(tuple(10.0 if i == j else 20.0 for j in range(3)) for i in range(3)))
    assert list(pairs(topology)) == [(0, 0), (0, 2), (1, 0)]


def test_the_load_is_much_larger_than_the_caches_and_fits_the_memory() -> None:
    cores = (Core(0, (3, 7)), Core(1, (4, 8)))
    nodes = (Node(0, 5, cores, 16 << 30),)
    caches = (Cache(3, 64 << 20, 64, (0, 1)), Cache(2, 1 << 20, 64, (0,)), Cache(2, 1 << 20, 64, (1,)))
    topology = Topology("cached", nodes, caches, ((10.0,),))
    assert load_of(topology, 0, 0) == Load(pus=(3, 4), memory_node=5, size_bytes=8 * (66 << 20))
    small = msgspec.structs.replace(topology, nodes=(Node(0, 5, cores, 1 << 30),))
    assert load_of(small, 0, 0).size_bytes == 256 << 20
    without = msgspec.structs.replace(small, caches=())
    assert load_of(without, 0, 0).size_bytes == 256 << 20


def test_the_load_moves_what_it_says() -> None:
    node = host_topology().nodes[0]
    moved = run_stream(stream_command(Load(tuple(core.pus[0] for core in node.cores), node.os_index, 64 << 20), 3))
    assert moved.passes == 3
    assert (64 << 20) - 4096 * len(node.cores) <= moved.bytes <= 64 << 20
    assert moved.on_node in (-1.0, 1.0)
    assert moved.time_s > 0


@pytest.mark.parametrize("writes", [False, True])
def test_every_line_is_visited_in_every_pass(writes: bool) -> None:
    """The sum proves it: line L of a thread's share holds 8 L, and a pass of writing adds 1."""
    pus = tuple(core.pus[0] for core in host_topology().nodes[0].cores)[:2]
    load = Load(pus, host_topology().nodes[0].os_index, 8 << 20, writes)
    lines = (8 << 20) // len(pus) // 64
    once = len(pus) * sum(8 * line for line in range(lines))
    for passes in (0, 1, 3):
        added = len(pus) * lines * passes
        assert run_stream(stream_command(load, passes)).sum == (once + added if writes else once * passes)


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (Load((0,), 1000, 64 << 20), "node: Invalid argument"),
        (Load((100000,), 0, 64 << 20), "all CPUS of this computer"),
        (Load((0,), 0, 1 << 10), "usage: numapredict-stream"),
        (Load((), 0, 64 << 20), "usage: numapredict-stream"),
    ],
)
def test_a_load_that_cannot_run_says_why_in_one_line(load: Load, said: str) -> None:
    with pytest.raises(CounterError) as error:
        run_stream(stream_command(load, 1))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_tool_that_hides_the_load_is_an_error() -> None:
    for command in (("true",), ("no-such-tool-here",), ("sh", "-c", "echo '{\"bytes\": 3}'")):
        with pytest.raises(CounterError):
            run_stream(command)
    with pytest.raises(CounterError, match=r"the test's load takes more than 0\.05 s: end what else runs there"):
        run_stream(("sleep", "10"), timeout_s=0.05)


@pytest.mark.usefixtures("small_loads")
def test_the_first_source_that_is_right_is_used_and_tested_once(tmp_path: Path, said: list[str]) -> None:
    topology = one_node()
    absent = made_up(name="absent", obstacle=Obstacle("it is not installed"))
    wrong, right, last = made_up(name="wrong", factor=0.0), made_up(name="right", factor=2.0), made_up(name="last")
    sources = [absent, wrong, right, last]
    found = calibrated_source(sources, topology, tmp_path)
    assert found is not None
    assert (found.source, round(found.factor, 2)) == (right, 2.0)
    assert said[0].startswith("testing the counters of wrong")
    assert said[1].startswith("the counters of wrong are not used: it counts nothing of node 0's local accesses")
    assert said[2].startswith("testing the counters of right")
    again = calibrated_source(sources, topology, tmp_path)
    assert again == found
    # Reading and writing, with few passes and many; what fails is tried twice.
    assert (len(said), len(wrong.runs), len(right.runs), len(last.runs)) == (4, 8, 4, 0)
    wrong.factor = 1.0
    assert calibrated_source([absent, wrong], topology, tmp_path) is None


@pytest.mark.usefixtures("small_loads")
def test_a_source_that_failed_is_tested_again_after_a_while(tmp_path: Path) -> None:
    topology = one_node()
    source = made_up(factor=0.0)
    assert calibrated_source([source], topology, tmp_path) is None
    source.factor = 1.0
    (tested,) = read_calibrations(tmp_path, topology)
    old = msgspec.structs.replace(tested, tested_s=tested.tested_s - RETRY_S - 1)
    write_calibrations(tmp_path, topology, [old])
    assert calibrated_source([source], topology, tmp_path) is not None


def test_a_verdict_is_of_one_computer_and_of_a_file_that_can_be_read(tmp_path: Path) -> None:
    topology = one_node()
    tested = Examined(name="x", verdict=Verdict(passed=True, factor=2.0, remote_tested=False))
    write_calibrations(tmp_path, topology, [tested, Examined(name="y", failure="no")])
    assert read_calibrations(tmp_path, topology) == (tested,)
    assert read_calibrations(tmp_path, topology_of((1, 1, 1))) == ()
    text = (tmp_path / FILE).read_text()
    for broken in ("", "{", text.replace("2.0", "0.0"), text.replace('"schema": 1', '"schema": 2'), "[]"):
        (tmp_path / FILE).write_text(broken)
        assert read_calibrations(tmp_path, topology) == ()


@pytest.mark.usefixtures("small_loads")
def test_all_sources_are_examined_with_what_stands_in_their_way(tmp_path: Path) -> None:
    sources = [made_up(name="absent", obstacle=Obstacle("it is not installed", ("install it",))), made_up()]
    absent, tested = examine(sources, one_node())
    assert absent.reason == "it is not installed"
    assert not absent.passed
    assert tested.passed
    assert tested.reason == ""
