import pytest

from numapredict.collect.measuring.samples.selftest import LEAST_SAMPLES, Sampled, judge_samples

NEAR = Sampled(0, 0, 400, (300.0,) * 100, (600.0,) * 5)
FAR = Sampled(0, 1, 400, (300.0,) * 5, (600.0,) * 100)


def test_what_tells_near_from_far_passes() -> None:
    both, alone = judge_samples([NEAR, FAR]), judge_samples([NEAR])
    assert (both.passed, both.remote_tested, both.reasons) == (True, True, ())
    assert (alone.passed, alone.remote_tested) == (True, False)


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (Sampled(0, 1, 0, (), ()), "it samples none of node 0's remote loads"),
        (Sampled(0, 0, 400, (), ()), "it says of 0 of 400 samples of node 0's local loads that memory served them"),
        (Sampled(0, 0, 400, (1.0,) * (LEAST_SAMPLES - 1), ()), "it says of 19 of 400 samples of node 0's local loads"),
        (Sampled(0, 1, 400, (300.0,) * 100, ()), "it calls 100% of node 0's remote loads local"),
        (Sampled(0, 0, 400, (300.0,) * 80, (600.0,) * 20), "it calls 20% of node 0's local loads remote"),
        (Sampled(0, 1, 400, (), (0.0,) * 100), "it tells no latency of node 0's remote loads"),
    ],
)
def test_what_tells_wrongly_fails_with_its_reason(load: Sampled, reason: str) -> None:
    verdict = judge_samples([NEAR, FAR, load])
    assert not verdict.passed
    assert len(verdict.reasons) == 1
    assert verdict.reasons[0].startswith(reason)
