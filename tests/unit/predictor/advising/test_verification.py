from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.predictor.advising.verification import ROUNDS, Verification, verify
from tests.planted import four_by_eight

DEFAULT, CHOICE = map(parse_label, ("32x4-contiguous-first-touch", "16x2-contiguous-locality"))
APP = Program(name="app", command=("./app",))


class Scripted:
    """A machine on a clock that takes the times given, one a run of each mapping; a negative one is a crash."""

    name, modelled, executions, controllers_GBps = "scripted", False, 1, ()

    def __init__(self, default_s: Sequence[float], chosen_s: Sequence[float]) -> None:
        self.times: dict[Mapping, Iterator[float]] = {DEFAULT: iter(default_s), CHOICE: iter(chosen_s)}
        self.ran: list[str] = []

    @property
    def topology(self) -> Topology:
        return four_by_eight()

    def supports(self, mapping: Mapping) -> bool:
        return mapping in self.times

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> None: ...

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> None: ...

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        self.ran.append(mapping)
        time_s = next(self.times[mapping])
        return Measurement(
            program=program.name,
            mapping=mapping,
            machine=self.name,
            modelled=False,
            status="ok" if time_s > 0 else "crashed",
            message="" if time_s > 0 else "killed by SIGSEGV",
            repetitions=(Repetition(time_s=time_s),) if time_s > 0 else (),
        )


def verified(default_s: Sequence[float], chosen_s: Sequence[float]) -> tuple[Verification, Scripted]:
    machine = Scripted(default_s, chosen_s)
    return verify(APP, machine, (DEFAULT, CHOICE), "process"), machine


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


def test_a_gain_too_small_to_count_is_no_win_however_steady() -> None:
    assert not verified([1.003] * ROUNDS, [1.0] * ROUNDS)[0].won
    assert verified([1.004] * ROUNDS, [1.0] * ROUNDS)[0].won


def test_the_clock_of_the_model_is_the_one_that_counts() -> None:
    machine = Scripted([2.0] * ROUNDS, [1.0] * ROUNDS)
    found = verify(APP, machine, (DEFAULT, CHOICE), "regions")  # these runs tell no time in regions
    assert not found.won
    assert "no time was read" in found.reason


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
    assert (found.default, found.mapping) == (DEFAULT, CHOICE)
    assert (found.default_s, found.chosen_s) == ((1.0,), (0.5,))
