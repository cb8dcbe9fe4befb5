"""What regions gained, kept for later searches: measured gains as they are, others as expected, a program one group."""

from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.mapping import parse_label
from numapredict.predictor.regions.kept_gains import gains_over_default, keep
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.searching.gains_file import read_gains
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import Prior, kept_gains_path, known_of, prior_of
from tests.shapes import shape

TOPOLOGY = shape([4, 4])
LABELS = BASELINE, HALF, SPREAD, BOUND = (
    "8x2-contiguous-first-touch",
    "4x1-contiguous-bind",
    "8x2-contiguous-interleave",
    "8x2-contiguous-bind@1",
)
PRIOR = Prior(
    tuple(map(parse_label, LABELS)),
    known_gains(np.array([[0.0, 1.0, 0.2, -1.0], [0.0, -1.0, 0.8, 0.6]]), ("a", "b")),
    0,
    "two programs",
)


def region(*gains: tuple[str, float | None]) -> ReplayedRegion:
    made = tuple(Gain(label, 1.0 if speedup else None, speedup) for label, speedup in gains)
    return ReplayedRegion("solve", "app", 16, 10, 1.0, 0.5, 8, gains=made)


def test_replayed_gains_are_as_they_were_and_the_others_are_expected() -> None:
    row = gains_over_default(region((BASELINE, 1.0), (HALF, 2.0), (BOUND, None)), PRIOR)
    assert row is not None
    assert row[:2].tolist() == [0.0, 1.0]
    assert row[3] == pytest.approx(-1.0, abs=0.4)  # as the program that gains by half of the threads, too
    assert gains_over_default(region((BASELINE, 1.0)), PRIOR) is None
    assert gains_over_default(region((HALF, 1.0), (SPREAD, 2.0)), PRIOR) is None  # another baseline than the default
    assert gains_over_default(region((BASELINE, None)), PRIOR) is None


def test_a_program_is_one_group_and_replaces_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "kept.regions"
    once, twice = region((BASELINE, 1.0), (HALF, 2.0)), region((BASELINE, 1.0), (SPREAD, 4.0))
    assert "nothing to keep" in keep(path, "app", [region()], PRIOR, TOPOLOGY)
    assert not path.exists()
    assert "2 of its regions" in keep(path, "app", [once, twice, region()], PRIOR, TOPOLOGY)
    keep(path, "other", [once], PRIOR, TOPOLOGY)
    keep(path, "app", [twice], PRIOR, TOPOLOGY)
    (kept,) = read_gains(path)
    assert kept.groups == ("other", "app")
    assert kept.gains[:, 1].tolist()[0] == 1.0
    assert kept.gains[:, 2].tolist()[1] == 2.0
    known = known_of(TOPOLOGY, None, [], lambda _: True, modelled=False, regions=kept).known
    assert known.related().tolist() == np.eye(2, dtype=bool).tolist()
    assert known.weights.tolist() == [0.5, 0.5]


def test_a_later_search_knows_them(tmp_path: Path) -> None:
    trained = tmp_path / "model.gains"

    def first_run() -> str:
        prior = prior_of(TOPOLOGY.name, TOPOLOGY, trained, lambda _: True, modelled=False)
        following = next_run(prior.known, [prior.default], [0.0])
        assert following is not None
        return prior.mappings[following.column].label

    before = prior_of(TOPOLOGY.name, TOPOLOGY, trained, lambda _: True, modelled=False)
    wanted = next(mapping.label for mapping in before.mappings if mapping.label not in (first_run(), BASELINE))
    for program in "abcdefgh":
        keep(kept_gains_path(trained), program, [region((BASELINE, 1.0), (wanted, 8.0))], before, TOPOLOGY)
    assert first_run() == wanted
    after = prior_of(TOPOLOGY.name, TOPOLOGY, trained, lambda _: True, modelled=False)
    assert after.known.weights.sum() == pytest.approx(1.0)
    modelled = prior_of(TOPOLOGY.name, TOPOLOGY, trained, lambda _: True, modelled=True)
    assert len(modelled.known.gains) == len(before.known.gains)
