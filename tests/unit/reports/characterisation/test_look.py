"""What all figures of a characterisation share: numbers, units, formats, the source, and that all can be read."""

from pathlib import Path
from typing import Any

import pytest

from numapredict.native.errors import UsageError
from numapredict.reports.characterisation import look
from numapredict.reports.characterisation.page_policies import (
    policy_times_data,
    policy_times_figure,
)
from numapredict.reports.characterisation.times import times_data, times_figure
from numapredict.reports.characterisation.traffic import traffic_data, traffic_figure
from numapredict.reports.figure_file import write_figure
from tests.unit.collect.campaign.characterisation.test_result import characterised
from tests.unit.reports.characterisation.drawn import one_node
from tests.unit.reports.legible import assert_legible


def test_a_figure_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(times_figure(times_data(one_node())), tmp_path / "figure.gif")


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.004, "<0.01"), (0.0123, "0.0123"), (5, "5.00"), (63.34, "63.3"), (1842.4, "1842")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert look.figure_text(value) == text


@pytest.mark.parametrize(("shortest", "unit"), [(2.0, "s"), (1.0, "s"), (0.9, "ms"), (0.0009, "us")])
def test_the_unit_makes_the_shortest_time_at_least_one(shortest: float, unit: str) -> None:
    found = look.unit_for([shortest, None, 100.0])
    assert found.name == unit
    assert 1 <= round(found.of(shortest), 9) < 1000


@pytest.mark.thorough
def test_every_figure_says_where_its_runs_are_from(written: tuple[Path, list[str]]) -> None:
    line = "Source: two, modelled, made on 2026-01-02 by numapredict 9."
    figures = list(written[0].glob("*.svg"))
    assert len(figures) == 4
    for path in figures:
        assert line in path.read_text(), path.name
    assert times_data(characterised()).source == "Source: two, modelled."


@pytest.mark.parametrize("make", [times_data, policy_times_data, lambda found: traffic_data(found, "accesses")])
def test_no_text_lies_on_another_nor_on_the_source(make: Any) -> None:  # noqa: ANN401 - any figure
    data = make(characterised())
    draw = {"TimesData": times_figure, "PolicyTimesData": policy_times_figure, "TrafficData": traffic_figure}
    assert_legible(draw[type(data).__name__](data), apart=False)
