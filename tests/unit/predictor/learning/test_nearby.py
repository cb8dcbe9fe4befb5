"""How far expectations are off for one program: by its neighbours, by side, and by number of threads."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import mapping_named
from numapredict.predictor.learning import gain_model as ex
from numapredict.predictor.learning import nearby as nb
from numapredict.predictor.learning.kinds import RELATIVES, choose_relative, kinds_of, without_kind
from tests.evaluations import DEFAULT, PROBE

OTHERS = ("32x4-scatter-interleave", "8x4-contiguous-mix", "8x2-contiguous-mix")
MAPPINGS = (DEFAULT, PROBE, *map(mapping_named, OTHERS))
GROUPS = [f"g{n}" for n in range(20)]
AT_HOME, AWAY = np.zeros(3), np.full(3, 9.0)


def learned(residual: np.ndarray) -> nb.Nearby:
    """Ten programs read 0 at the probes and ten read 9."""
    standard = np.repeat([AT_HOME, AWAY], 10, axis=0)
    weights = np.full(20, 0.05)
    return nb.learn_nearby(standard, residual, MAPPINGS, weights, 20)


def test_threads_are_those_of_the_mappings() -> None:
    assert nb.threads_of([*MAPPINGS, mapping_named("BW_ROUND_ROBIN/48")]).tolist() == [
        32,
        32,
        32,
        8,
        8,
        nb.UNKNOWN_THREADS,
    ]


def test_a_program_is_less_certain_where_its_neighbours_were_off_and_no_more_certain_elsewhere() -> None:
    residual = np.full((20, 5), 0.1)
    residual[:10, 3:] = [[0.9, -0.9]] * 10  # with 8 threads, of those that read 0
    found = learned(residual)
    here, there = nb.widening_of(found, AT_HOME, MAPPINGS), nb.widening_of(found, AWAY, MAPPINGS)
    assert here.both[3:] == pytest.approx([1.9] * 2, rel=0.05)
    assert here.both[:3] == pytest.approx([1.0] * 3, abs=0.01)
    assert there.both == pytest.approx([1.0] * 5, abs=0.01)
    assert here.above[3] == pytest.approx(here.below[3], abs=0.01)


def test_gains_above_what_was_expected_widen_the_upper_end() -> None:
    residual = np.tile([[0.1, -0.1], [-0.1, 0.1]], (10, 3))[:, :5]
    residual[:10, 3:] = 0.9
    found = nb.widening_of(learned(residual), AT_HOME, MAPPINGS)
    assert found.above[3] > 3
    assert found.below[3] < 1
    assert found.above[0] == pytest.approx(found.below[0], abs=0.3)


@given(st.integers(0, 10_000))
def test_no_side_is_narrower_than_for_all_programs_and_both_add_up(seed: int) -> None:
    generator = np.random.default_rng(seed)
    residual = generator.normal(size=(20, 5))
    found = learned(residual)
    errors, above, weights = np.array(found.errors), np.array(found.above), np.array(found.weights)
    assert (above <= 2 * errors + 1e-3).all()
    for at in (AT_HOME, AWAY, generator.normal(size=3)):
        wide = nb.widening_of(found, at, MAPPINGS)
        column = [found.threads.index(count) for count in nb.threads_of(MAPPINGS)]
        assert (wide.both >= 1 - 1e-3).all()
        assert (wide.above >= (weights @ above / 20)[column] - 1e-9).all()
        assert (wide.below >= (weights @ (2 * errors - above) / 20)[column] - 1e-9).all()


def test_held_out_programs_do_not_widen_their_own_intervals() -> None:
    standard, residual = np.tile(AT_HOME, (20, 1)), np.full((20, 5), 0.1)
    residual[0, 3:] = 5.0
    own = nb.held_out_widening(standard, residual, MAPPINGS, GROUPS)
    assert own.both[0] == pytest.approx(np.ones(5), abs=0.01)
    assert own.both[1, 3] > 1
    variants = nb.held_out_widening(standard, residual, MAPPINGS, ["g0", "g0", *GROUPS[2:]])
    assert variants.both[1] == pytest.approx(np.ones(5), abs=0.01)


def test_an_inferred_gain_is_as_uncertain_as_it_is_large() -> None:
    found = nb.spread_of(np.array([0.3, 0.3]), np.ones(2), np.array([0.0, -4.0]), 0.1)
    assert found == pytest.approx([0.3, 0.5])


def test_the_part_that_is_uncertain_is_larger_where_kinds_differ_by_it() -> None:
    """Programs read the same and gain in proportion to a factor that the readings do not tell."""
    generator = np.random.default_rng(3)
    readings, groups = generator.normal(size=(40, 3)), [f"g{n}" for n in range(40)]
    slopes = [[0.0, 1.0, 1.0, -2.0, -2.0], [0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0, 2.0]]
    exact = readings @ slopes
    close = exact + generator.normal(scale=0.3, size=exact.shape)
    wild = exact * generator.uniform(0.3, 1.7, 40)[:, None]
    certain, doubtful = (choose_relative(readings, gains, groups, MAPPINGS, (0, 1)) for gains in (close, wild))
    assert certain < doubtful
    assert {certain, doubtful} <= set(RELATIVES)


def test_a_kind_is_expected_by_programs_of_other_kinds_alone() -> None:
    gains = np.vstack([np.tile([0.0, 1.0], (6, 1)), np.tile([0.0, -3.0], (6, 1)), np.tile([0.0, 5.0], (6, 1))])
    kinds = kinds_of(gains)
    assert len(set(kinds.tolist())) == 3
    names = [f"g{n}" for n in range(18)]
    found = without_kind(np.zeros((18, 1)), gains, names, kinds)
    assert found[:, 1] == pytest.approx(np.repeat([1.0, 3.0, -1.0], 6))
    shared = without_kind(np.zeros((18, 1)), gains, ["g0", *names[1:17], "g0"], kinds)
    assert shared[1, 1] == pytest.approx((6 * -3 + 5 * 5) / 11)  # a variant of one that is left out is no other


def test_what_a_program_may_expect_is_as_uncertain_as_its_neighbours_were_off() -> None:
    residual = np.full((20, 5), 0.1)
    residual[:10, 3:] = [[0.9, -0.9]] * 10  # with 8 threads, of those that read 0
    plain = ex.GainModel(
        mappings=MAPPINGS,
        centre=(0.0,) * 3,
        scale=(1.0,) * 3,
        gain=(0.0,) * 5,
        slopes=((0.0,) * 5,) * 3,
        deviation=(0.1,) * 5,
        floors_GBps=(1.0, 1.0),
    )
    own = msgspec.structs.replace(plain, nearby=learned(residual))

    def width(gain_model: ex.GainModel, times: tuple[float, float], extra: tuple[float, float]) -> list[float]:
        found = ex.predict_gains(gain_model, times, extra, (DEFAULT, PROBE), DEFAULT)
        return [float(value) for value in (found.below + found.above)[2:] / 2]

    at_home, away = ((1.0, 1.0), (1.0, 1.0)), ((2.0**9, 1.0), (2.0**9, 2.0**9))
    assert width(plain, *at_home) == pytest.approx([0.1] * 3)
    thirty_two, *eight = width(own, *at_home)
    assert thirty_two == pytest.approx(0.1, rel=0.1)
    assert min(eight) > 0.13
    assert width(own, *away) == pytest.approx([0.1] * 3, rel=0.1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weights": ()}, "a row a program"),
        ({"errors": ((1.0, 1.0),) * 19}, "a row a program"),
        ({"readings": ((0.0,),) * 19 + ((0.0, 1.0),)}, "as many readings"),
        ({"above": ((1.0,),) * 20}, "as many readings and errors"),
        ({"weights": (0.0,) * 20}, "must be positive"),
        ({"errors": ((-1.0, 1.0),) * 20}, "not negative"),
        ({"above": ((float("inf"), 1.0),) * 20}, "finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, object], says: str) -> None:
    good = learned(np.full((20, 5), 0.1))
    with pytest.raises(ValueError, match=says):
        nb.Nearby(**{**msgspec.structs.asdict(good), **change})


def test_an_expectation_wants_neighbours_of_its_readings_and_threads() -> None:
    found = learned(np.full((20, 5), 0.1))
    parts: dict[str, object] = {
        "mappings": MAPPINGS,
        "centre": (0.0,) * 3,
        "scale": (1.0,) * 3,
        "gain": (0.0,) * 5,
        "slopes": ((0.0,) * 5,) * 3,
        "deviation": (0.1,) * 5,
        "floors_GBps": (1.0, 1.0),
    }
    ex.GainModel(**parts, nearby=found)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every number of threads"):
        ex.GainModel(**{**parts, "mappings": (*MAPPINGS[:4], mapping_named("4x4-contiguous-mix"))}, nearby=found)  # type: ignore[arg-type]
    few = {**parts, "centre": (0.0,), "scale": (1.0,), "slopes": ((0.0,) * 5,), "floors_GBps": ()}
    with pytest.raises(ValueError, match="as many readings"):
        ex.GainModel(**few, nearby=found)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="relative"):
        ex.GainModel(**parts, relative=-0.1)  # type: ignore[arg-type]
