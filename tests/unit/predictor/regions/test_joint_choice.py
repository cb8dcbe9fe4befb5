"""The joint choice: as good as trying all, never worse than what is known, and arrays in two places only at a cost."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.predictor.regions import joint_choice
from numapredict.predictor.regions.joint_choice import Choices, Option, Problem, choose

TEAMS, PAGES = 3, 3
times = st.floats(0.001, 10, allow_nan=False)


@st.composite
def problems(draw: st.DrawFn, most_regions: int = 4) -> Problem:
    """A problem in which every region can run with team 0 and pages 0, as the baseline."""
    arrays = draw(st.integers(1, 3))
    regions = []
    for _ in range(draw(st.integers(1, most_regions))):
        used = draw(st.frozensets(st.integers(0, arrays - 1), max_size=arrays))
        others = draw(
            st.lists(st.builds(Option, st.integers(0, TEAMS - 1), st.integers(0, PAGES - 1), times), max_size=4)
        )
        regions.append(Choices(used, (Option(0, 0, draw(times)), *others)))
    allowed = tuple(draw(st.frozensets(st.integers(0, PAGES - 1))) | {0} for _ in range(arrays))
    change_s = np.array(draw(st.lists(times, min_size=TEAMS * TEAMS, max_size=TEAMS * TEAMS))).reshape(TEAMS, TEAMS)
    change_s *= draw(st.sampled_from([0.0, 0.01, 1.0]))
    np.fill_diagonal(change_s, 0)
    many = len(regions)
    follows = np.array(draw(st.lists(st.floats(0, 5), min_size=many * many, max_size=many * many)))
    moves = st.sampled_from([0.0, 0.01, 0.5, 3.0, 1e6, np.inf])
    moves_s = np.array(draw(st.lists(moves, min_size=many * many, max_size=many * many)))
    return Problem(tuple(regions), allowed, change_s, follows.reshape(many, many), moves_s.reshape(many, many))


def all_answers(problem: Problem) -> list[tuple[int, ...]]:
    numbers = (range(len(region.options)) for region in problem.regions)
    return [answer for answer in itertools.product(*numbers) if problem.is_possible(answer)]


@settings(max_examples=150, deadline=None)
@given(problems())
def test_nothing_is_better_than_what_the_program_solves(problem: Problem) -> None:
    chosen = choose(problem)
    assert chosen is not None
    assert problem.is_possible(chosen)
    best_s = min(map(problem.cost_s, all_answers(problem)))
    assert problem.cost_s(chosen) == pytest.approx(best_s, rel=1e-5)


@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_the_search_of_large_problems_is_never_worse_than_a_start_and_cannot_be_improved(
    problem: Problem, data: st.DataObject
) -> None:
    start = data.draw(st.sampled_from(all_answers(problem)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_choice, "MOST_PAIRS", -1)
        chosen = choose(problem, [start])
    assert chosen is not None
    assert problem.is_possible(chosen)
    assert problem.cost_s(chosen) <= problem.cost_s(start)
    near = [each for each in all_answers(problem) if sum(a != b for a, b in zip(each, chosen, strict=True)) == 1]
    assert all(problem.cost_s(chosen) <= problem.cost_s(each) for each in near)


def test_an_array_that_two_regions_want_elsewhere_goes_where_more_time_is_saved() -> None:
    first = Choices(frozenset({0}), (Option(0, 0, 10.0), Option(0, 1, 4.0)))
    second = Choices(frozenset({0, 1}), (Option(0, 0, 3.0), Option(0, 1, 8.0)))
    both = frozenset({0, 1})
    free, fixed = np.zeros((1, 1)), np.array([[0, np.inf], [0, 0]])
    together = Problem((first, second), (both, both), free, np.zeros((2, 2)), fixed)
    assert choose(together) == (1, 1)
    assert together.pages_of((1, 0)) == {0: {0, 1}, 1: {0}}
    assert not together.is_possible((1, 0))
    apart = Problem((first, second), (both, both), free, np.zeros((2, 2)), np.zeros((2, 2)))
    assert choose(apart) == (1, 0)
    kept = Problem((first, second), (frozenset({0}), both), free, np.zeros((2, 2)), fixed)
    assert choose(kept) == (0, 0)


def test_an_array_moves_only_where_that_is_worth_it() -> None:
    first = Choices(frozenset({0}), (Option(0, 0, 10.0), Option(0, 1, 4.0)))
    second = Choices(frozenset({0}), (Option(0, 0, 3.0), Option(0, 1, 8.0)))

    def chosen(there_s: float, back_s: float) -> tuple[int, ...] | None:
        moves_s = np.array([[0, there_s], [back_s, 0]])
        problem = Problem((first, second), (frozenset({0, 1}),), np.zeros((1, 1)), np.zeros((2, 2)), moves_s)
        found = choose(problem)
        assert found is not None
        assert problem.moved_s(found) == (there_s + back_s if found == (1, 0) else 0)
        return found

    assert chosen(2.0, 2.9) == (1, 0)  # 5 s are saved over (1, 1)
    assert chosen(2.0, 3.1) == (1, 1)
    assert chosen(1e9, 0.0) == (1, 1)


def test_a_team_changes_only_where_that_is_worth_it() -> None:
    wide = Choices(frozenset(), (Option(0, 0, 4.0), Option(1, 0, 8.0)))
    narrow = Choices(frozenset(), (Option(0, 0, 3.0), Option(1, 0, 1.0)))
    follows = np.array([[0.0, 100.0], [100.0, 0.0]])

    def chosen(grow_s: float) -> tuple[int, ...] | None:
        return choose(Problem((wide, narrow), (), np.array([[0.0, 0.0], [grow_s, 0.0]]), follows, np.zeros((2, 2))))

    assert chosen(0.019) == (0, 1)
    assert chosen(0.021) == (0, 0)


def test_without_regions_there_is_nothing_to_choose_and_without_options_no_answer() -> None:
    free = np.zeros((1, 1))
    assert choose(Problem((), (), free, np.zeros((0, 0)), np.zeros((0, 0)))) == ()
    only = Choices(frozenset({0}), (Option(0, 1, 1.0),))
    impossible = Problem((only,), (frozenset({0}),), free, np.zeros((1, 1)), np.zeros((1, 1)))
    assert choose(impossible) is None
