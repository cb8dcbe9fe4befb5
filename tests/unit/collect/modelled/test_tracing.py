import errno
import os
from dataclasses import replace

import pytest

from numapredict.collect.modelled import tracing
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.program import program_of
from numapredict.native.errors import UnwritableError
from tests.traces import census_of


@pytest.mark.parametrize(("start_s", "most_s"), [(0.0, 40), (-1.0, 40), (0.5, 46), (6.0, 40 + 72), (60.0, 4 * 40)])
def test_a_trace_gets_additional_time_for_its_start_up_to_a_bound(start_s: float, most_s: float) -> None:
    census = replace(census_of((1, 1, 1.0)), before_first_region_s=start_s)
    assert TraceBudget(trace_s=40.0).with_start_s(census) == pytest.approx(most_s)


def test_room_for_the_census_is_taken_before_the_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may take the room at any time: this stands for one that does so just then."""

    def none_left(path: os.PathLike[str]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path)

    monkeypatch.setattr(tracing, "reserve_file", none_left)
    with pytest.raises(
        UnwritableError, match=r"cannot write temporary files in .*: No space left on device; free some"
    ):
        tracing.take_census(program_of(("/bin/true",)), TraceBudget())
