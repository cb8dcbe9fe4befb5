import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping, full_space
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.few_runs import (
    LEAST_MAPPINGS,
    Few,
    FewRuns,
    few_within,
    portfolio,
    standing_for_most,
)
from numapredict.predictor.searching.gains_file import read_gains
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import prior_of, shipped_file, shipped_gains
from tests.shapes import shape


@given(st.integers(1, 5000), st.integers(1, 200), st.integers(2, 900))
def test_few_runs_are_never_more_than_the_budget(runs: int, programs: int, mappings: int) -> None:
    least = min(LEAST_MAPPINGS, mappings)
    if runs < least:
        with pytest.raises(UsageError, match=f"at least {least}"):
            few_within(runs, programs, mappings)
        return
    few = few_within(runs, programs, mappings)
    assert 1 <= few.programs <= programs
    assert least <= few.mappings <= mappings
    assert few.programs * few.mappings <= runs
    if few.programs < programs and few.mappings < mappings:
        assert few.programs * few.mappings > runs / 2


def test_budgets_by_hand() -> None:
    found = {runs: few_within(runs, 128, 489) for runs in (3, 20, 50, 100, 200, 400)}
    assert found == {3: Few(1, 3), 20: Few(6, 3), 50: Few(10, 5), 100: Few(14, 7), 200: Few(20, 10), 400: Few(28, 14)}
    assert few_within(200, 4, 489) == Few(4, 50)  # with so few programs more mappings
    assert few_within(200, 128, 5) == Few(40, 5)


def test_each_mapping_of_a_portfolio_adds_most_to_those_before() -> None:
    gains = np.array([[0, 3.0, 2.9, 0, 0.1], [0, 3.0, 2.9, 0, 0.1], [0, -1, -1, 1, 0.1]])
    known = known_gains(gains, ["a", "b", "c"])
    assert portfolio(known, 0, 3) == [0, 1, 3]
    assert sorted(portfolio(known, 0, 99)) == [0, 1, 2, 3, 4]


def test_programs_that_stand_for_most_come_first() -> None:
    # Three react alike, two as each other, one hardly reacts: the default's zero stands for it.
    gains = np.array([[0.01, 0], [2, 2], [2.1, 2.1], [2.2, 2.2], [-3, 0], [-3.1, 0.0]])
    order = standing_for_most(gains)
    assert order[0] == 2
    assert order[1] in (4, 5)
    assert sorted(order) == list(range(6))


def test_on_a_new_machine_the_first_runs_are_those_of_a_search_that_learns_nothing() -> None:
    new, shipped = shape([6] * 4, name="new"), shipped_gains(shape([6] * 4))
    mappings = full_space(new, smt=False)
    few = FewRuns(mappings, default_mapping(new), new, shipped, modelled=True)
    prior = prior_of("new", new, shipped_file(), lambda _: True, modelled=True)
    assert few.mappings(6) == tuple(prior.mappings[column] for column in portfolio(prior.known, prior.default, 6))
    assert few.mappings(6)[0] == default_mapping(new)


def test_programs_differ_by_group_and_initialisation_and_own_ones_come_first() -> None:
    new, shipped = shape([6] * 4, name="new"), read_gains(shipped_file())
    names = sorted(set(shipped[0].groups))
    programs = [Program(name=f"{name} ({init})", command=("x",), group=name) for name in names for init in "sp"]
    programs.append(Program(name="mine", command=("./mine",)))
    few = FewRuns(full_space(new, smt=False), default_mapping(new), new, shipped, modelled=True)
    order = few.programs(programs)
    assert sorted(each.name for each in order) == sorted(each.name for each in programs)
    assert order[0].name == "mine"
    first = [each.group for each in order[1 : len(names) + 1]]
    assert sorted(filter(None, first)) == names
    assert {each.name[-2] for each in order[1:5]} == {"s", "p"}
    assert first != names  # not simply in the order given
