"""The watching process, spoken to as the library speaks."""

import socket
import sys
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.capturing import exchange, order
from numapredict.collect.capturing.exchange import AskedRegion, Outcome, go_on_packet, job_packet, wanted_packet
from numapredict.collect.capturing.instance_class import USUAL, InstanceClass, RegionInstances
from numapredict.collect.capturing.order import Succession
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from tests.shapes import shape

TOPOLOGY = shape([4, 4])
PLACEMENTS = [resolve(parse_label(label), TOPOLOGY) for label in ("8x2-contiguous-first-touch", "4x1-contiguous-bind")]


CLASSES = (InstanceClass(1e-3, 9, 0.9, (2, 5)), InstanceClass(2e-4, 9, 0.1, (3,)))


def regions(*offsets: int, mean_s: float = 1e-3) -> tuple[RegionInstances, ...]:
    """Return regions with their offset for a key, of a plain run."""
    classes = (msgspec.structs.replace(CLASSES[0], mean_s=mean_s), *CLASSES[1:])
    return tuple(RegionInstances(offset, "app", offset, 18, 0.01, 0.25, classes) for offset in offsets)


def choose(asked: AskedRegion) -> Generator[Placement, Outcome, bool]:
    """Go on to the second placement only where the first one was replayed; else to another instance."""
    outcome = yield PLACEMENTS[0]
    if not outcome.problem:
        yield PLACEMENTS[1]
    return bool(outcome.problem)


def question(offset: int, instance: int = 2) -> bytes:
    return exchange._QUESTION.pack(offset, offset, instance, 8, 99, b"app")


def outcome(state: int = 1, emptied: int = 0) -> bytes:
    return exchange._OUTCOME.pack(
        state, 0, 3, 8, 1, 1, 0, 1, 0, emptied, 0, *([1_000_000] * 3), *([0] * 5), *([2_000_000] * 3), *([0] * 5), 0, 0
    )


def connected(watcher: Watcher) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect("\0" + watcher.name)
    assert len(client.recv(1 << 16)) == exchange._WANTED.size
    return client


def asked(client: socket.socket, packet: bytes) -> bytes:
    client.send(packet)
    return client.recv(1 << 16)


def is_job(answer: bytes, placement: Placement, emptying: bool = True) -> bool:
    """Return whether an answer is a job of a placement, whatever its time limit and what makes emptying needless."""
    whole = job_packet(placement, 3, 0, emptying)
    return answer[:20] == whole[:20] and answer[24:32] == whole[24:32] and answer[40:] == whole[40:]


def enough_s(answer: bytes) -> float:
    """Return how long the baseline's replays are if there is no need to empty caches."""
    return float(int.from_bytes(answer[32:40], sys.byteorder)) * 1e-9


def test_each_region_gets_jobs_until_the_chooser_ends(tmp_path: Path) -> None:
    wanted = regions(16, 32, 48)
    with Watcher(choose, tmp_path / "kept", wanted) as watcher, connected(watcher) as one, connected(watcher) as other:
        assert is_job(asked(one, question(16)), PLACEMENTS[0])
        assert is_job(asked(other, question(32)), PLACEMENTS[0])  # two processes of a run at the same time
        assert is_job(asked(one, outcome()), PLACEMENTS[1], emptying=False)
        assert asked(one, outcome()) == go_on_packet()
        assert asked(other, outcome(state=4)) == go_on_packet()
        assert is_job(asked(one, question(48)), PLACEMENTS[0])
    by_offset = {each.asked.offset: each for each in watcher.found}
    assert [replay.mapping for replay in by_offset[16].replays] == [p.mapping.label for p in PLACEMENTS]
    assert by_offset[16].replays[0].outcome.times_s == (1e-3, 1e-3, 1e-3)
    assert by_offset[32].replays[0].outcome.problem == "it took too long"
    assert by_offset[48].replays == ()
    assert {at: one.cut for at, one in by_offset.items()} == {16: False, 32: False, 48: True}


def test_of_each_class_instances_are_asked_for_until_one_was_replayed(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept", regions(16, 32)) as watcher, connected(watcher) as client:
        assert is_job(asked(client, question(16, 2)), PLACEMENTS[0])
        assert asked(client, outcome(state=4)) == go_on_packet()
        assert asked(client, question(16, 4)) == go_on_packet()  # stands for nothing
        assert is_job(asked(client, question(16, 5)), PLACEMENTS[0])
        assert is_job(asked(client, outcome()), PLACEMENTS[1], emptying=False)
        assert asked(client, outcome()) == go_on_packet()
        assert asked(client, question(16, 2)) == go_on_packet()  # another process has it, too
        assert is_job(asked(client, question(16, 3)), PLACEMENTS[0])  # of the other class
        assert asked(client, outcome(state=4)) == go_on_packet()
    assert [(one.asked.instance, one.asked.number, one.asked.mean_s) for one in watcher.found] == [
        (2, 0, 1e-3),
        (5, 0, 1e-3),
        (3, 1, 2e-4),
    ]
    assert watcher.found[0].asked.weight == pytest.approx(0.25 * 0.9)


def test_where_nothing_is_known_of_regions_an_instance_of_each_is_asked_for(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect("\0" + watcher.name)
        assert client.recv(1 << 16) == wanted_packet([(0, USUAL)])
        assert is_job(asked(client, question(77, USUAL)), PLACEMENTS[0])
        client.close()
    assert watcher.found[0].asked.mean_s == 0


@pytest.mark.parametrize(("mean_s", "emptying"), [(0.001, False), (0.00102, False), (0.0013, True)])
def test_caches_are_emptied_as_long_as_it_says_something(mean_s: float, emptying: bool, tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept", regions(16, mean_s=mean_s)) as watcher, connected(watcher) as client:
        first = asked(client, question(16))
        assert is_job(first, PLACEMENTS[0])
        assert enough_s(first) == pytest.approx(mean_s / 1.03, rel=1e-5)
        second = asked(client, outcome(emptied=3))
        assert is_job(second, PLACEMENTS[1], emptying)
        assert enough_s(second) > 1e9
    assert watcher.found[0].replays[0].outcome.emptied_s == (2e-3, 2e-3, 2e-3)


def test_the_order_of_regions_comes_at_the_end(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher, connected(watcher) as client:
        for count, others in ((5, ()), (2, (8, 7))):
            keys = [*others, *[0] * (order.MOST_REGIONS - len(others))]
            packet = order._SUCCESSION.pack(count, 2**64 - 1, 99, len(others), *keys)
            assert asked(client, packet) == go_on_packet()
    assert watcher.order == (Succession(2**64 - 1, (), 5, 99), Succession(2**64 - 1, (8, 7), 2, 99))
    assert watcher.found == ()


def test_a_process_that_sends_nonsense_is_left_alone(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept", regions(16)) as watcher:
        with connected(watcher) as client:
            client.send(b"nonsense")
            assert client.recv(10) == b""
        with connected(watcher) as client:
            client.send(outcome())  # of no question
            assert client.recv(10) == b""
        with connected(watcher) as client:
            assert is_job(asked(client, question(16)), PLACEMENTS[0])
    assert [each.asked.offset for each in watcher.found] == [16]


def test_nobody_who_connects_is_nothing_found(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher:
        pass
    assert watcher.found == ()
