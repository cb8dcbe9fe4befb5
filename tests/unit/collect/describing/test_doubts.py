import msgspec

from numapredict.collect.describing.computer import MeasuredComputer
from numapredict.collect.describing.doubts import doubts
from numapredict.collect.describing.sample import Sample
from tests.unit.collect.describing.made_up import captured, measured


def changed(found: MeasuredComputer, at: int, **samples: Sample) -> MeasuredComputer:
    pairs = list(found.pairs)
    pairs[at] = msgspec.structs.replace(pairs[at], **samples)
    return msgspec.structs.replace(found, pairs=tuple(pairs))


def test_plausible_figures_raise_no_doubt() -> None:
    for name in ("four-node", "memory-only", "smt"):
        assert list(doubts(measured(*captured(name)))) == []


def test_a_remote_node_faster_than_the_own_one_is_doubted() -> None:
    found = measured(*captured("four-node"))
    (doubt,) = doubts(changed(found, 1, latency_ns=Sample((50.0,))))
    assert doubt == "node 0 on node 1's memory: a latency of 50 ns, less than the 100 ns of its own"
    (doubt,) = doubts(changed(found, 1, latency_ns=Sample((90.0,))))
    assert "a latency of 90 ns" in doubt
    assert list(doubts(changed(found, 1, latency_ns=Sample((92.0,))))) == []  # within a tenth: both may be noise


def test_a_bandwidth_that_no_memory_has_is_doubted() -> None:
    (doubt,) = doubts(changed(measured(*captured("four-node")), 2, node_write_GBps=Sample((1200.0,))))
    assert doubt.startswith("node 0 on node 2's memory: writes 1200 GB/s")


def test_memory_faster_than_the_cache_and_disturbed_figures_are_doubted() -> None:
    found = changed(measured(*captured("one-node")), 0, latency_ns=Sample((5.0,), "the processor was throttled"))
    first, second = doubts(found)
    assert first.startswith("1 of ")
    assert "because the processor was throttled" in first
    assert second.startswith("node 0's memory answers in 5 ns")
