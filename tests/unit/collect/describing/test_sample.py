from collections.abc import Iterable, Iterator, Sequence

import msgspec
import pytest

from numapredict.collect.describing.probe import Answer, Question
from numapredict.collect.describing.sample import Pace, Prober
from numapredict.collect.measuring.disturbance import Snapshot
from numapredict.collect.terminal.progress import Count
from numapredict.native.errors import UnrunnableProgramError
from tests.unit.collect.describing.made_up import idle

QUESTION = Question("latency", (0,), 1, 1 << 20)


def prober(rounds: Iterator[tuple[float, ...]], busy: Iterator[float] | None = None, on_node: float = 1.0) -> Prober:
    """Return one whose probe gives these rounds; others use so much of the PU between two looks."""

    def run(_: Sequence[str]) -> Answer:
        return Answer({"latency_ns": next(rounds)}, on_node)

    def look(pus: Iterable[int]) -> Snapshot:
        assert busy is not None
        return msgspec.structs.replace(idle(pus), at_s=next(seconds), busy_s=next(busy))

    seconds = iter(range(100))
    return Prober(Count(9, "measurements"), Pace(), run, idle if busy is None else look)


def test_a_steady_figure_is_measured_once() -> None:
    asked = prober(iter([(100.0, 101.0, 99.0), (1.0, 1.0, 1.0)]))
    assert asked.ask(QUESTION)["latency_ns"].values == (100, 101, 99)
    assert asked.count.done == 1


def test_a_noisy_figure_is_repeated_and_all_rounds_count() -> None:
    noisy = iter([(100.0, 150.0, 100.0)] * 3)
    found = prober(noisy).ask(QUESTION)["latency_ns"]
    assert len(found.values) == 9
    assert (found.middle, found.disturbed, list(noisy)) == (100, "", [])
    assert found.spread == pytest.approx(0.5)


def test_a_disturbed_figure_is_measured_again_and_forgotten() -> None:
    found = prober(iter([(900.0,) * 5, (100.0,) * 5]), iter([0.0, 1.0, 1.0, 1.0])).ask(QUESTION)["latency_ns"]
    assert (found.values, found.disturbed) == ((100.0,) * 5, "")


def test_what_stays_disturbed_is_kept_and_says_so() -> None:
    found = prober(iter([(900.0,)] * 3), iter([0.0, 1.0, 1.0, 2.0, 2.0, 3.0])).ask(QUESTION)["latency_ns"]
    assert found.values == (900.0,) * 3
    assert found.disturbed == "other programs used 1.0 of its 1 PUs"


def test_nothing_is_repeated_when_the_time_for_that_is_spent() -> None:
    noisy = iter([(100.0, 150.0, 100.0)] * 3)
    hurried = msgspec.structs.replace(prober(noisy), pace=Pace(repeats_s=0))
    assert hurried.ask(QUESTION)["latency_ns"].values == (100, 150, 100)
    assert len(list(noisy)) == 2


def test_pages_elsewhere_are_an_error() -> None:
    with pytest.raises(UnrunnableProgramError, match="only 60% of 1 MiB are on node 1"):
        prober(iter([(1.0,)]), on_node=0.6).ask(QUESTION)
