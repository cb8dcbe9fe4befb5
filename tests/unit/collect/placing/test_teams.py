"""The teams of a traced program."""

from dataclasses import replace

import msgspec
import pytest

from numapredict.collect.modelled.modelled_machine import traced_teams
from numapredict.collect.placing.census import CENSUS_THREADS
from numapredict.collect.placing.teams import Team
from tests.traces import Segment, census_of, trace_of


@pytest.mark.parametrize(("counted", "team"), [(CENSUS_THREADS, 32), (1, 32), (8, 8)])
def test_a_region_that_was_not_traced_had_what_was_asked_for_unless_it_had_more(counted: int, team: int) -> None:
    census = census_of((1, 1, 3.0), (2, 1, 1.0))
    first, second = census.regions
    census = replace(census, regions=(first, msgspec.structs.replace(second, team=counted)))
    trace = trace_of([Segment(region=1, team=16, instructions=1)])
    assert traced_teams(census, trace, 32) == (Team(16, 0.75), Team(team, 0.25))
