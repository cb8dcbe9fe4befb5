from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from numapredict.collect.mapping import AnyMapping, Mapping, parse_label
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.predictor.advising.confirmation import CONFIRMING_ROUNDS, Confirmation, confirm

DEFAULT, CHOICE = map(parse_label, ("32x4-contiguous-first-touch", "16x2-contiguous-locality"))


ROUNDS = 5


class Scripted:
    """A clock that takes the times given, one a run of each mapping; a negative one is a crash.

    Half of each run's time is in regions, where ``regions`` is true.
    """

    def __init__(self, default_s: Sequence[float], chosen_s: Sequence[float], *, regions: bool = False) -> None:
        self.times: dict[Mapping, Iterator[float]] = {DEFAULT: iter(default_s), CHOICE: iter(chosen_s)}
        self.ran: list[Mapping] = []
        self.regions = regions

    def run(self, mapping: Mapping) -> Measurement:
        self.ran.append(mapping)
        time_s = next(self.times[mapping])
        regions_s = (time_s - 0.5) if self.regions else None
        return Measurement(
            program="app",
            mapping=mapping,
            machine="scripted",
            modelled=False,
            status="ok" if time_s > 0 else "crashed",
            message="" if time_s > 0 else "killed by SIGSEGV",
            repetitions=(Repetition(time_s, regions_s),) if time_s > 0 else (),
        )


def confirmed(clock: Scripted, rounds: int = ROUNDS, further: int = 0) -> Confirmation:
    sides: dict[AnyMapping, Callable[[], Measurement]] = {each: partial(clock.run, each) for each in (DEFAULT, CHOICE)}
    return confirm("app", sides, rounds, further)


def verified(default_s: Sequence[float], chosen_s: Sequence[float]) -> tuple[Confirmation, Scripted]:
    clock = Scripted(default_s, chosen_s)
    return confirmed(clock), clock


def test_the_runs_are_interleaved_and_each_mapping_comes_first_in_turn() -> None:
    found, machine = verified([2.0] * ROUNDS, [1.0] * ROUNDS)
    assert machine.ran[:4] == [DEFAULT, CHOICE, CHOICE, DEFAULT]
    assert len(machine.ran) == 2 * ROUNDS
    assert found.won
    assert (found.speedup, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_a_gain_within_the_noise_is_no_win() -> None:
    noisy, _ = verified([1.0, 1.3, 0.8, 1.1, 0.9], [1.2, 0.9, 1.0, 0.8, 1.15])
    assert noisy.speedup is not None
    assert noisy.speedup > 1
    assert not noisy.won
    steady, _ = verified([1.03, 1.04, 1.03, 1.02, 1.03], [1.0] * 5)
    assert steady.won


def test_a_gain_of_one_standard_error_is_no_win() -> None:
    gains = np.array([0.02, 0.1, -0.06, 0.08, 0.0])  # log2: mean 0.028, standard error 0.028
    found, _ = verified(list(2**gains), [1.0] * 5)
    assert found.speedup == pytest.approx(2**0.028)
    assert not found.won
    surer, _ = verified(list(2 ** (gains + 0.05)), [1.0] * 5)
    assert surer.won


def test_a_gain_below_one_percent_is_no_win_however_steady() -> None:
    assert not verified([1.009] * ROUNDS, [1.0] * ROUNDS)[0].won
    assert verified([1.011] * ROUNDS, [1.0] * ROUNDS)[0].won


def test_the_whole_run_counts_and_the_regions_are_told_beside_it() -> None:
    found = confirmed(Scripted([1.0] * 3, [0.75] * 3, regions=True), CONFIRMING_ROUNDS)
    assert (found.speedup, found.region_speedup, found.region_share) == pytest.approx((4 / 3, 2.0, 0.5))
    assert found.won
    small = confirmed(Scripted([1.0] * 3, [0.995] * 3, regions=True), CONFIRMING_ROUNDS)
    assert not small.won
    untimed, _ = verified([1.0] * ROUNDS, [0.5] * ROUNDS)
    assert (untimed.region_speedup, untimed.region_share) == (None, None)


def test_a_slower_choice_loses() -> None:
    found, _ = verified([1.0] * ROUNDS, [1.1] * ROUNDS)
    assert not found.won
    assert found.speedup == pytest.approx(1 / 1.1)


def test_a_crash_under_the_advised_mapping_is_reported_and_keeps_the_default() -> None:
    found, machine = verified([1.0] * ROUNDS, [0.5, -1.0])
    assert not found.won
    assert found.speedup is None
    assert f"the run under {CHOICE} failed: killed by SIGSEGV" in found.reason
    assert machine.ran.count(CHOICE) == 2
    assert found.mapping == CHOICE
    assert (found.baseline_s, found.mapping_s) == ((1.0,), (0.5,))
