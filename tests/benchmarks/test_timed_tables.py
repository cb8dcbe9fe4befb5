"""The tables of sweeps in timed guests and of measured seconds: what is compared, and the sections of FIDELITY.md."""

import math

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.reports.fidelity import with_section
from tests.benchmarks import measured_seconds
from tests.benchmarks.table import table
from tests.benchmarks.timed_against_modelled import Compared, section
from tests.benchmarks.timed_gains import Gain, captured, geometric

LABELS = tuple(map(parse_label, ("4x2-contiguous-first-touch", "4x2-contiguous-locality", "2x1-contiguous-bind")))


def test_speedups_are_compared_in_rank_and_size() -> None:
    same = Compared("a", LABELS, (1.0, 2.0, 0.5), (1.0, 2.0, 0.5))
    assert (same.rank_correlation, same.error, same.apart, same.lost) == pytest.approx((1, 0, 0, 0))
    other = Compared("b", LABELS, (1.0, 2.0, 0.5), (1.0, 1.5, 3.0))
    assert other.rank_correlation == pytest.approx(-0.5)
    assert other.apart == 2
    assert other.farthest == ("2x1-contiguous-bind", pytest.approx(6.0))
    assert other.error == pytest.approx(2 / 1.5 - 1)
    assert other.settled == Compared("b", (LABELS[0], LABELS[2]), (1.0, 0.5), (1.0, 3.0))  # locality moves pages
    assert other.lost == pytest.approx(3.0)  # the model likes 0.5x best, where 2x was to be had


def test_gains_are_shares_on_a_log_scale() -> None:
    gains = [Gain("a", LABELS[1], 2.0, LABELS[1], 4.0), Gain("b", LABELS[0], 1.0, LABELS[0], 1.01)]
    assert [one.captured for one in gains] == [pytest.approx(0.5), None]
    assert captured(gains) == pytest.approx(math.log(2) / math.log(4 * 1.01))
    assert geometric([2.0, 8.0]) == pytest.approx(4)


def test_sections_replace_their_own_and_no_other() -> None:
    found = [Compared("a", LABELS, (1.0, 2.0, 0.5), (1.0, 1.9, 0.4))]
    page = with_section("# Fidelity\n\nrows\n", section("guest-4x2", found, "made"))
    page = with_section(page, section("guest-2x2", found, "made"))
    page = with_section(page, section("guest-4x2", found, "made anew"))
    assert page.startswith("# Fidelity\n\nrows\n\n## Timed guest guest-2x2\n\n")
    assert page.count("## Timed guest") == 2
    assert page.index("`made`") < page.index("## Timed guest guest-4x2") < page.index("`made anew`")


def test_columns_of_numbers_stand_right() -> None:
    lines = table(("name", "share", "label"), [("a", "-3%", "4x2-mix"), ("b", "", "1x1-bind")]).splitlines()
    assert lines[1] == "| --- | ---: | --- |"


def test_measured_seconds_are_compared_with_the_nearer_end_of_their_range() -> None:
    assert measured_seconds.deviation(0.6, (0.5, 0.7)) == 0
    assert measured_seconds.deviation(0.4, (0.5, 0.7)) == pytest.approx(-0.2)
    assert measured_seconds.deviation(1.4, (0.5, 0.7)) == pytest.approx(1.0)
    heat = measured_seconds.Modelled({16: 0.4, 8: 0.7, 4: 1.5, 1: 6.0}, {16: 0.45, 8: 0.8, 4: 1.7, 1: 6.8}, "0.4, here")
    made = measured_seconds.section({"heat 4096 80": heat}, "made")
    assert "3 of 4 are within 25% then. Cycles: heat 4096 80: 0.4, here. Made by `made`." in made
    assert "| heat 4096 80 | 16 | 0.53 to 0.70 | 0.40 | -25% | 0.45 | -15% | yes |" in made
    assert "| heat 4096 80 | 8 | 1.20 | 0.70 | -42% | 0.80 | -33% | **no** |" in made
    assert "| bt.W | 16 | 0.41 to 0.47 | 0.22 | -46% |  |  |  |" in made
    assert with_section("# Fidelity\n\nrows\n", made).startswith(f"# Fidelity\n\nrows\n\n{made}")
