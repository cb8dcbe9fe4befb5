"""The watching process, spoken to as the library speaks."""

import socket
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from numapredict.collect.capturing import exchange, order
from numapredict.collect.capturing.exchange import AskedRegion, Outcome, go_on_packet, job_packet
from numapredict.collect.capturing.order import Succession
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from tests.shapes import shape

TOPOLOGY = shape([4, 4])
PLACEMENTS = [resolve(parse_label(label), TOPOLOGY) for label in ("8x2-contiguous-first-touch", "4x1-contiguous-bind")]


def choose(asked: AskedRegion) -> Generator[Placement, Outcome, bool]:
    """Go on to the second placement only where the first one was replayed; else to another instance, if it may be."""
    outcome = yield PLACEMENTS[0]
    if not outcome.problem:
        yield PLACEMENTS[1]
    return bool(outcome.problem) and asked.tries_left > 0


def question(
    offset: int, tries_left: int = 0, mean_ns: int = 1_000_000, ended: bool = False, counts: tuple[int, ...] = ()
) -> bytes:
    classes = [number for count in (*counts, *[0] * (exchange.DURATION_CLASSES - len(counts))) for number in (count, 0)]
    return exchange._QUESTION.pack(7, offset, 2, mean_ns, 8, 99, tries_left, 0, ended, *classes, b"app")


def outcome(state: int = 1, emptied: int = 0) -> bytes:
    return exchange._OUTCOME.pack(
        state, 0, 3, 8, 1, 1, 0, 1, 0, emptied, 0, *([1_000_000] * 3), *([0] * 5), *([2_000_000] * 3), *([0] * 5), 0, 0
    )


def connected(watcher: Watcher) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect("\0" + watcher.name)
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
    with Watcher(choose, tmp_path / "kept") as watcher, connected(watcher) as one, connected(watcher) as other:
        assert is_job(asked(one, question(16)), PLACEMENTS[0])
        assert is_job(asked(other, question(32)), PLACEMENTS[0])  # two processes of a run at the same time
        assert is_job(asked(one, outcome()), PLACEMENTS[1], emptying=False)
        assert asked(one, outcome()) == go_on_packet()
        assert asked(other, outcome(state=4)) == go_on_packet()
        assert is_job(asked(other, question(40, tries_left=1)), PLACEMENTS[0])
        assert asked(other, outcome(state=4)) == go_on_packet(another=True) != go_on_packet()
        assert is_job(asked(one, question(48)), PLACEMENTS[0])
    by_offset = {each.asked.offset: each for each in watcher.found}
    assert [replay.mapping for replay in by_offset[16].replays] == [p.mapping.label for p in PLACEMENTS]
    assert by_offset[16].replays[0].outcome.times_s == (1e-3, 1e-3, 1e-3)
    assert by_offset[32].replays[0].outcome.problem == "it took too long"
    assert by_offset[48].replays == ()
    assert {at: one.cut for at, one in by_offset.items()} == {16: False, 32: False, 40: False, 48: True}


@pytest.mark.parametrize(("mean_ns", "emptying"), [(1_000_000, False), (1_020_000, False), (1_300_000, True)])
def test_caches_are_emptied_as_long_as_it_says_something(mean_ns: int, emptying: bool, tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher, connected(watcher) as client:
        first = asked(client, question(16, mean_ns=mean_ns))
        assert is_job(first, PLACEMENTS[0])
        assert enough_s(first) == pytest.approx(mean_ns * 1e-9 / 1.03, rel=1e-5)
        second = asked(client, outcome(emptied=3))
        assert is_job(second, PLACEMENTS[1], emptying)
        assert enough_s(second) > 1e9
    assert watcher.found[0].replays[0].outcome.emptied_s == (2e-3, 2e-3, 2e-3)


def test_the_durations_of_the_whole_run_come_at_its_end(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher, connected(watcher) as client:
        assert is_job(asked(client, question(16, counts=(1,))), PLACEMENTS[0])
        assert asked(client, outcome(state=4)) == go_on_packet()
        assert asked(client, question(0, ended=True, counts=(3, 4))) == go_on_packet()
    (found,) = watcher.found
    assert (found.asked.offset, found.asked.counts[:3]) == (16, (3, 4, 0))
    assert len(found.replays) == 1


def test_the_order_of_regions_comes_at_the_end(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher, connected(watcher) as client:
        for count, others in ((5, ()), (2, (8, 7))):
            keys = [*others, *[0] * (order.MOST_REGIONS - len(others))]
            packet = order._SUCCESSION.pack(count, 2**64 - 1, 99, len(others), *keys)
            assert asked(client, packet) == go_on_packet()
    assert watcher.order == (Succession(2**64 - 1, (), 5, 99), Succession(2**64 - 1, (8, 7), 2, 99))
    assert watcher.found == ()


def test_a_process_that_sends_nonsense_is_left_alone(tmp_path: Path) -> None:
    with Watcher(choose, tmp_path / "kept") as watcher:
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
