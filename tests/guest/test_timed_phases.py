"""A plan that moves an array comes out of real commands, and is the fastest way in a timed guest."""

from pathlib import Path

import pytest

from tests.benchmarks.timed_phases import measured
from tests.guest.timed.configuration import Timing, timed_machine
from tests.guest.timed_phases import PLAN
from tests.openmp import GCC

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("guests"),
]
KILOBYTES, ROUNDS, PASSES, WALKS = 512, 2, 80, 6


def test_phases_that_want_an_array_on_other_nodes_have_it_there(tmp_path: Path) -> None:
    sizes = tuple(map(str, (KILOBYTES, ROUNDS, PASSES, WALKS)))
    found = measured(Timing(timed_machine("guest-2x2")), tmp_path, sizes, 1)
    assert found.plan is not None
    (move,) = found.plan.moves
    assert (move.name, move.pages, move.times) == ("array", KILOBYTES // 4, 2 * ROUNDS - 1)
    assert sorted(name.split(",")[0] for place in move.places for name in place.regions) == ["stream", "walk"]
    assert len(found.computed) == 1
    (placement,) = found.placements
    # At most once more than between the phases: it begins where the longer one wants it.
    assert sum(one["times"] for one in placement["moves"]) in {2 * ROUNDS - 1, 2 * ROUNDS}
    assert placement["pages"]["right"] == placement["pages"]["looked_at"]
    assert min(its for (its,) in found.times.values()) == found.times[PLAN][0]
