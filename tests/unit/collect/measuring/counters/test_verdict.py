import msgspec
import pytest

from numapredict.collect.measuring.counters.source import NodeTraffic
from numapredict.collect.measuring.counters.verdict import Trial, Verdict, judge

MOVED = 1e9
NONE = NodeTraffic(local_bytes=0.0, remote_bytes=0.0)


def trial(threads: int, memory: int, factor: float = 1.0, **others: float) -> Trial:
    """Return what a source of two nodes counts that is right, at a factor; ``others`` are shares of it booked wrongly.

    ``others`` are named by kind and node: local_1=0.2.
    """
    cells = {f"{kind}_{node}": 0.0 for node in (0, 1) for kind in ("local", "remote")}
    cells[f"{'local' if threads == memory else 'remote'}_{threads}"] = factor
    cells |= others
    nodes = tuple(NodeTraffic(MOVED * cells[f"local_{n}"], MOVED * cells[f"remote_{n}"]) for n in (0, 1))
    return Trial(threads=threads, memory=memory, moved_bytes=MOVED, counted=nodes)


def all_four(factor: float = 1.0) -> list[Trial]:
    return [trial(0, 0, factor), trial(0, 1, factor), trial(1, 1, factor), trial(1, 0, factor)]


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 3.0])
def test_a_source_that_is_right_passes_with_its_factor(factor: float) -> None:
    verdict = judge(all_four(factor))
    assert verdict == Verdict(passed=True, factor=pytest.approx(factor), remote_tested=True)


def test_a_little_noise_is_none() -> None:
    verdict = judge([trial(0, 0, 1.05, remote_0=0.03), trial(0, 1, 0.97, local_1=0.05), trial(1, 1), trial(1, 0, 1.1)])
    assert verdict.passed
    assert verdict.factor == pytest.approx((1.05 * 0.97 * 1.1) ** 0.25)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (trial(0, 1, 0.0), "it counts nothing of node 0's remote accesses"),
        (trial(0, 0, 0.01), "it counts nothing of node 0's local accesses"),
        (trial(0, 1, 1.0, local_0=0.6), "it counts 60% of node 0's remote accesses as local ones of node 0"),
        (trial(1, 1, 1.0, local_0=0.2), "it counts 20% of node 1's local accesses as local ones of node 0"),
        (trial(0, 0, 1.5), "it counts between 1.00 and 1.50 bytes for one moved"),
    ],
)
def test_what_is_wrong_with_a_source_is_named(wrong: Trial, reason: str) -> None:
    trials = [t for t in all_four() if (t.threads, t.memory) != (wrong.threads, wrong.memory)]
    verdict = judge([*trials, wrong])
    assert not verdict.passed
    assert verdict.reasons == (reason,)


@pytest.mark.parametrize("factor", [0.2, 8.0])
def test_an_unexplained_factor_fails_the_test(factor: float) -> None:
    verdict = judge(all_four(factor))
    assert verdict.reasons == (f"it counts {factor:.2f} bytes for one moved",)
    assert not verdict.passed


def test_swapped_kinds_are_two_faults() -> None:
    swapped = [trial(0, 0, 0.0, remote_0=1.0), trial(0, 1, 0.0, local_0=1.0)]
    assert judge(swapped).reasons == (
        "it counts nothing of node 0's local accesses",
        "it counts nothing of node 0's remote accesses",
        "it counts 100% of node 0's local accesses as remote ones of node 0",
        "it counts 100% of node 0's remote accesses as local ones of node 0",
    )


def test_writes_are_only_asked_where_they_are_booked() -> None:
    """A source may count what is fetched, what is written back, or both; but not as traffic of another kind."""

    def writing(local: float, remote: float) -> Trial:
        return msgspec.structs.replace(trial(0, 0, local, remote_0=remote), writes=True)

    for local in (0.0, 1.0, 2.0):
        assert judge([*all_four(), writing(local, 0.05)]).passed
    verdict = judge([*all_four(), writing(1.0, 1.0)])  # total counts write-backs, local does not: they look remote
    assert verdict.reasons == ("it counts 100% of node 0's local writes as remote ones of node 0",)


def test_counts_below_zero_are_nothing() -> None:
    assert judge([trial(0, 0, -0.3)]).reasons == ("it counts nothing of node 0's local accesses",)


def test_memory_controllers_alone_do_not_tell_local_from_remote() -> None:
    def controllers(threads: int, memory: int, factor: float) -> Trial:
        nodes = [NodeTraffic(controller_bytes=0.0), NodeTraffic(controller_bytes=0.0)]
        nodes[memory] = NodeTraffic(controller_bytes=factor * MOVED)
        return Trial(threads=threads, memory=memory, moved_bytes=MOVED, counted=tuple(nodes))

    verdict = judge([controllers(0, 0, 2.0), controllers(0, 1, 2.1)])
    assert not verdict.passed
    assert verdict.reasons == ("it does not separate local accesses from remote ones",)
    assert verdict.controllers == pytest.approx((2.0 * 2.1) ** 0.5)
    assert judge([controllers(0, 0, 2.0), controllers(0, 1, 0.0)]).controllers is None
    assert judge([controllers(0, 0, 2.0), controllers(0, 1, 1.0)]).controllers is None


def test_both_may_be_reported() -> None:
    both = msgspec.structs.replace(
        trial(0, 0), counted=(NodeTraffic(MOVED, 0.0, 1.1 * MOVED), NodeTraffic(0.0, 0.0, 0.0))
    )
    verdict = judge([both])
    assert verdict.passed
    assert verdict.controllers == pytest.approx(1.1)
    assert not verdict.remote_tested
