"""Claims: what counts as met, and what is kept of the reason."""

import pytest

from numapredict.collect.fidelity.claim import at_least, at_most, median_error, within


@pytest.mark.parametrize(("modelled", "met"), [(85.0, True), (115.0, True), (84.9, False), (115.1, False)])
def test_within_counts_both_ways(modelled: float, met: bool) -> None:
    claim = within("bandwidth", "MB/s", (100.0, modelled), 0.15, "why")
    assert (claim.met, claim.asked, claim.reason) == (met, "within 15%", "" if met else "why")
    assert claim.deviation == pytest.approx(modelled / 100 - 1)


def test_bounds_include_their_ends() -> None:
    assert at_least("rho", "", (None, 0.8), 0.8).met
    assert not at_least("rho", "", (None, 0.79), 0.8).met
    assert at_most("error", "", (None, 0.1), 0.1).met
    assert not at_most("error", "", (None, 0.11), 0.1).met
    assert at_most("error", "", (None, 0.11), 0.1).deviation is None


def test_the_median_error_is_of_absolute_deviations() -> None:
    assert median_error([(10, 9), (10, 12), (10, 15)]) == pytest.approx(0.2)
