import os
import signal

import joblib
import pytest

from numapredict.predictor.evaluation.processes import in_processes, on_scheduler


def process_and_blocked(number: int) -> tuple[int, int, bool]:
    return number, os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_is_for_this_process_alone(jobs: int) -> None:
    found = list(in_processes((joblib.delayed(process_and_blocked)(n) for n in range(8)), jobs))
    assert [number for number, _, _ in found] == list(range(8))
    for _, process, blocked in found:
        assert (process == os.getpid()) == (jobs == 1)
        assert blocked == (jobs == 2)
    assert not process_and_blocked(0)[2]


def test_without_a_scheduler_calls_stay_here() -> None:
    with on_scheduler(None, 3) as jobs:
        assert jobs == 3
