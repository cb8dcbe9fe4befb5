"""Signs and order of interleaved over first-touch run times of NPB, from made-up modelled ones."""

import pytest

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.fidelity.npb import PUBLISHED, claims


def test_the_published_run_times_meet_all_claims() -> None:
    *signs, order = claims({name: share for name, (share, _) in PUBLISHED.items()})
    assert len(signs) == len(PUBLISHED)
    assert all(claim.met and claim.deviation == 0 for claim in signs)
    assert order.met
    assert order.modelled == pytest.approx(1)


def test_a_tie_is_no_gain() -> None:
    modelled = {name: share for name, (share, _) in PUBLISHED.items()} | {"ep": 0.99}
    met = {claim.quantity.split()[0]: claim.met for claim in claims(modelled)[:-1]}
    assert [name for name in met if not met[name]] == ["ep"]


def test_the_opposite_order_is_not_met() -> None:
    order = claims({name: 1 - share for name, (share, _) in PUBLISHED.items()})[-1]
    assert not order.met
    assert order.modelled == pytest.approx(-1)


def test_each_benchmark_is_stood_for_by_codelets_that_exist() -> None:
    names = [codelet for _, codelets in PUBLISHED.values() for codelet in codelets]
    assert len(codelet_programs(tuple(names), ("tiny",), ("serial",))) == len(set(names)) == len(names)
