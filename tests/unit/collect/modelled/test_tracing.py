from dataclasses import replace

import pytest

from numapredict.collect.modelled.tracing import TraceBudget
from tests.traces import census_of


@pytest.mark.parametrize(("start_s", "most_s"), [(0.0, 40), (-1.0, 40), (0.5, 46), (6.0, 40 + 72), (60.0, 4 * 40)])
def test_a_trace_gets_the_time_of_its_start_beside_its_own_up_to_a_bound(start_s: float, most_s: float) -> None:
    census = replace(census_of((1, 1, 1.0)), before_first_region_s=start_s)
    assert TraceBudget(trace_s=40.0).with_start_s(census) == pytest.approx(most_s)
