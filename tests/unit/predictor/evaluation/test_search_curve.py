from dataclasses import replace
from itertools import pairwise, permutations

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.counterparts import Counterparts
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import applicable, mapping_named
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping, full_space
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation.calibration import calibration_of
from numapredict.predictor.evaluation.evaluate import evaluate_held_out, together
from numapredict.predictor.evaluation.evaluation_text import evaluations_in_words
from numapredict.predictor.evaluation.search_curve import (
    RUNS,
    Sources,
    Space,
    after_runs,
    forecasts,
    foreign_knowledge,
    knowledge,
    neighbours_run,
    over_all,
    own_knowledge,
    portfolio_run,
    random_search,
    searched,
    space_of,
)
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of
from numapredict.predictor.searching.known_gains import known_gains
from tests.planted import planted_dataset
from tests.shapes import shape

DEFAULT = mapping_named("32x4-contiguous-first-touch")


def observed(gains: np.ndarray, groups: list[str], topology: Topology) -> Observations:
    """Return programs with these gains over the first column, under as many mappings of the topology."""
    default = default_mapping(topology)
    others = [mapping for mapping in full_space(topology) if mapping != default]
    return Observations(
        programs=tuple(Program(name=f"p{n}", command=("p",), group=group) for n, group in enumerate(groups)),
        mappings=(default, *others[: gains.shape[1] - 1]),
        time_s=2.0**-gains,
    )


def made_up(programs: int = 12, mappings: int = 10, seed: int = 0) -> Observations:
    """Return programs of two kinds in groups of two; a kind gains from some mappings and loses from the others."""
    generator = np.random.default_rng(seed)
    kind = generator.normal(0, 2, (2, mappings))
    gains = kind[np.arange(programs) % 2] + generator.normal(0, 0.1, (programs, mappings))
    gains[:, 0] = 0
    return observed(gains, [f"g{n // 2}" for n in range(programs)], shape([8, 8]))


def elsewhere_of(observations: Observations) -> MachineGains:
    """Return what these programs gained, as from another machine of two nodes with eight cores each."""
    return MachineGains(
        machine="another",
        modelled=True,
        topology=shape([8, 8]),
        default=observations.mappings[0].label,
        mappings=tuple(mapping.label for mapping in observations.mappings),
        groups=observations.groups,
        numbers=numbers_of(gains_of(observations.time_s, 0)),
    )


def test_random_search_is_the_mean_over_all_orders() -> None:
    gains = np.random.default_rng(3).normal(0, 1, (2, 5))
    gains[:, 0] = 0
    found = random_search(observed(gains, ["a", "b"], shape([8, 8])), 0)
    for row in range(2):
        orders = [np.maximum.accumulate([0.0, *gains[row, list(order)]]) for order in permutations(range(1, 5))]
        assert found.gain[row, :5] == pytest.approx(np.mean(orders, axis=0))
    assert found.gain[:, 5:] == pytest.approx(np.repeat(gains.max(axis=1, keepdims=True), 3, axis=1))


def test_each_run_costs_at_most_the_best_run_before_it() -> None:
    # The runs in order of columns, as each adds most: 2 times as fast, 4 times as slow as the default, as the default.
    gains = np.array([[0.0, 1.0, -2.0, 0.0]] * 3)
    found = searched(
        observed(gains, ["a", "b", "c"], shape([8])), 0, own_knowledge(observed(gains, ["a", "b", "c"], shape([8])), 0)
    )
    assert found.gain[0, :2].tolist() == [0.0, 1.0]
    assert found.cost[0].tolist() == [1.0, 1.5, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5]  # all 4 mappings have run


def test_a_search_knows_nothing_of_the_group_that_it_is_asked_about() -> None:
    observations = made_up()
    changed = observed(gains_of(observations.time_s, 0).copy(), list(observations.groups), shape([8, 8]))
    knows, knew = own_knowledge(observations, 0), own_knowledge(changed, 0)
    changed.time_s[:2] = 1.0
    assert knows("g0").gains == pytest.approx(knew("g0").gains)
    assert len(knows("g0").gains) == 10
    topology = shape([8, 8])
    space = Space(tuple(map(applicable, observations.mappings)), topology)
    foreign = foreign_knowledge(space, 0, [elsewhere_of(observations)] * 2)
    assert len(foreign("g0").gains) == 20
    assert foreign("g0").weights.sum() == pytest.approx(1.0)


def test_what_other_machines_know_counts_where_asked_or_where_groups_or_mappings_are_few() -> None:
    topology, many, few = shape([8, 8]), made_up(36, 15), made_up(8, 15)
    space = Space(tuple(map(applicable, many.mappings)), topology)
    elsewhere = (elsewhere_of(made_up(6, seed=1)),)
    assert len(knowledge(many, 0, space, Sources(elsewhere))("g0").gains) == 34
    assert len(knowledge(many, 0, space, Sources(elsewhere, without_machine=True))("g0").gains) == 4
    assert len(knowledge(few, 0, space, Sources(elsewhere))("g0").gains) == 6 + 4
    short = Space(space.mappings[:14], topology)
    assert len(knowledge(made_up(18, 14), 0, short, Sources(elsewhere))("g0").gains) == 16 + 4
    for known in (None, space):
        with pytest.raises(InsufficientDataError, match="--without-machine"):
            knowledge(few, 0, known, Sources(() if known else elsewhere, without_machine=True))


def test_opaque_mappings_are_known_by_their_counterparts() -> None:
    topology = shape([8, 8])
    plain = made_up(8)
    opaque = replace(plain, mappings=tuple(mapping_named(f"m{n}") for n in range(len(plain.mappings))))
    pairs = tuple(zip(opaque.mappings, plain.mappings, strict=True))
    dataset = Dataset(
        machine="a table's",
        modelled=False,
        topology=None,
        made_by="a test",
        created="2026-11-23T00:00:00+00:00",
        counterparts=Counterparts(topology, pairs),
    )
    space = space_of(dataset, opaque)
    assert space is not None
    assert space.mappings == plain.mappings
    assert space_of(msgspec.structs.replace(dataset, counterparts=None), opaque) is None
    sources = Sources((elsewhere_of(made_up(6, seed=1)),), without_machine=True)
    itself = Space(tuple(map(applicable, plain.mappings)), topology, modelled=False)
    found = knowledge(opaque, 0, space, sources)("g0")
    assert found.gains.tolist() == knowledge(plain, 0, itself, sources)("g0").gains.tolist()


def test_forecasts_count_what_came_within_and_what_was_faster() -> None:
    gains = np.array([[0.0, 1.0, -3.0]] * 9 + [[0.0, 1.0, 9.0]])
    observations = observed(gains, [f"g{n}" for n in range(10)], shape([8]))
    own = own_knowledge(observations, 0)
    by_program = forecasts(observations, 0, own, searched(observations, 0, own))
    assert [len(each) for each in by_program] == [2] * 10
    found = calibration_of([each for program in by_program for each in program])
    assert (found.runs, found.faster) == (20, 11)
    assert found.within == 19  # that one program gains from the last mapping, no other shows
    assert found.stated == pytest.approx(11, abs=0.1)


def test_a_search_tells_kinds_apart_by_a_run_that_loses() -> None:
    kind, column = np.arange(24)[:, None] % 4, np.arange(4)[None, :]
    away = (column - kind) % 4  # each kind gains from a mapping of its own, and loses differently from the others
    gains = np.column_stack([np.zeros(24), np.where(away == 0, 2.0, -2.0 * away)])
    observations = observed(gains, [f"g{n}" for n in range(24)], shape([8, 8]))
    best = gains.max(axis=1)
    ours = after_runs(searched(observations, 0, own_knowledge(observations, 0)), best, observations.groups)
    fixed = after_runs(
        searched(observations, 0, own_knowledge(observations, 0), portfolio_run), best, observations.groups
    )
    assert [each.runs for each in ours] == list(RUNS)
    assert ours[1].gain_captured == pytest.approx(1.0)  # the second run, the third, says which kind it is
    assert (
        fixed[2].gain_captured == 0.0
    )  # without its own group, a program's kind is the rarest: its mapping comes last
    assert fixed[3].gain_captured == pytest.approx(1.0)
    assert ours[1].speedup == pytest.approx(4.0)
    assert ours[1].cost_in_default_runs < fixed[3].cost_in_default_runs
    assert all(each.slower_than_default == 0.0 for each in (*ours, *fixed))


def test_the_three_programs_with_the_nearest_gains_choose_the_next_run() -> None:
    near, far = [0.0, 0.5, 2.0, -1.0, 0.0], [0.0, -2.0, -1.0, 3.0, 0.0]
    known = known_gains(np.array([far, near, far, near, near, far, far]), list("abcdefg"))
    for seen, column in (([0.0, 0.4], 2), ([0.0, -2.2], 3)):
        found = neighbours_run(known, [0, 1], seen)
        assert found is not None
        assert found.column == column
    for columns, seen in (([0], [0.0]), ([0, 1, 2], [0.0, 0.4, 2.0])):  # all are equally near, the nearest gain nothing
        found = neighbours_run(known, columns, seen)
        assert found is not None
        assert found.column == 3


@pytest.mark.usefixtures("few_trees")
def test_an_evaluation_has_the_curve_of_its_programs_and_of_all_together() -> None:
    one, other = (evaluate_held_out(planted_dataset(10, seed=seed)) for seed in (1, 2))
    observations = observe(planted_dataset(10, seed=1), DEFAULT)
    for held in one.held_out:
        assert held.after_runs[0] == 1.0
        assert list(held.after_runs) == sorted(held.after_runs)
        assert max(held.after_runs) <= held.oracle_speedup * (1 + 1e-12)
    curves = {Strategy.PORTFOLIO, Strategy.NEIGHBOURS, Strategy.FOREST, Strategy.RANDOM_SEARCH}
    assert set(one.by_runs_of) == curves | {Strategy.FIXED, Strategy.THESIS}
    for name in curves:
        assert [each.runs for each in one.by_runs_of[name]] == list(RUNS)
        assert one.by_runs_of[name][0].cost_in_default_runs <= 2
    for name, runs in ((Strategy.FIXED, 1), (Strategy.THESIS, 2)):
        (point,) = one.by_runs_of[name]
        assert (point.runs, point.gain_captured) == (runs, one.baselines[name].gain_captured)
    assert one.by_runs[-1].gain_captured == pytest.approx(
        np.log([held.after_runs[-1] for held in one.held_out]).sum()
        / np.log([held.oracle_speedup for held in one.held_out]).sum()
    )
    forecast = one.calibration
    assert forecast.runs == len(one.held_out) * (RUNS[-1] - 1)
    faster = sum(after > before for held in one.held_out for before, after in pairwise(held.after_runs))
    assert forecast.faster == faster
    assert forecast.within / forecast.runs >= 0.87
    assert f"{forecast.within} came out within the interval that should hold" in evaluations_in_words(together([one]))
    both = together([one, other])
    assert both.by_runs[0].speedup == pytest.approx(np.sqrt(one.by_runs[0].speedup * other.by_runs[0].speedup))
    assert len(observations.mappings) == one.mappings
    assert set(both.by_runs_of) == set(one.by_runs_of)
    fixed_captures = both.by_runs_of[Strategy.FIXED][0].gain_captured
    assert fixed_captures == pytest.approx(both.baselines[Strategy.FIXED].gain_captured)
    summed, also = both.calibration, other.calibration
    assert (summed.runs, summed.within) == (forecast.runs + also.runs, forecast.within + also.within)
    assert (summed.faster, summed.stated) == (
        forecast.faster + also.faster,
        pytest.approx(forecast.stated + also.stated),
    )
    last = evaluations_in_words(both).partition("all 2 datasets together")[2]
    assert f"of the search's {summed.runs} further runs, {summed.within} came out within" in last
    assert sum(line.startswith(Strategy.RANDOM_SEARCH) for line in last.splitlines()) == len(RUNS)
    fixed = {Strategy.FIXED.value: other.by_runs_of[Strategy.FIXED]}
    fewer = msgspec.structs.replace(other, by_runs_of=fixed)
    assert set(together([one, fewer]).by_runs_of) == {Strategy.FIXED}


@pytest.mark.usefixtures("few_trees")
def test_a_curve_over_all_datasets_is_that_of_all_their_programs() -> None:
    parts = [evaluate_held_out(planted_dataset(count, seed=count)) for count in (8, 14)]
    both = together(parts)
    found = over_all([(part.programs, part.by_runs) for part in parts], both.oracle_speedup.geometric)
    for one, other in zip(found, both.by_runs, strict=True):
        assert (one.low, one.high) == (None, None)
        assert msgspec.structs.astuple(msgspec.structs.replace(one, low=0.0, high=0.0)) == pytest.approx(
            msgspec.structs.astuple(msgspec.structs.replace(other, low=0.0, high=0.0))
        )
