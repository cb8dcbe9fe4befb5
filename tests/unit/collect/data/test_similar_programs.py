"""Which programs may be one code base."""

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.similar_programs import similar_in_words, similar_programs
from tests.planted import four_by_eight
from tests.unit.collect.data.test_outliers import table_of


def rows(*more: np.ndarray) -> np.ndarray:
    """Return one program of 40 mappings, and others."""
    return np.vstack([first(), *more])


def first() -> np.ndarray:
    return np.asarray(2 ** np.random.default_rng(1).normal(0, 1, 40))


def jittered(factor: float, by: float = 0.01) -> np.ndarray:
    return np.asarray(first() * factor * 2 ** np.random.default_rng(2).normal(0, by, 40))


def in_groups(dataset: Dataset, **groups: str) -> Dataset:
    programs = tuple(msgspec.structs.replace(p, group=groups.get(p.name, "")) for p in dataset.programs)
    return msgspec.structs.replace(dataset, programs=programs)


def test_programs_that_react_alike_are_named_whatever_they_take() -> None:
    dataset = table_of(rows(jittered(8.0), jittered(0.01), jittered(1.0, by=1.0)))
    assert similar_programs(dataset) == (("p0", "p1"), ("p0", "p2"), ("p1", "p2"))
    assert similar_programs(in_groups(dataset, p0="one", p1="one")) == (("p0", "p2"), ("p1", "p2"))
    assert similar_programs(in_groups(dataset, p0="one", p1="one", p2="one")) == ()


def test_the_same_order_at_another_scale_is_no_sister() -> None:
    """What gains 2x where another gains 4x is ordered alike, and is another program."""
    assert similar_programs(table_of(rows(np.sqrt(first())))) == ()


def test_the_same_scale_in_another_order_is_no_sister() -> None:
    flat = 1 + np.random.default_rng(3).normal(0, 0.005, (2, 40))
    assert similar_programs(table_of(np.vstack([flat, np.ones((2, 40))]))) == ()


@pytest.mark.filterwarnings("error")
def test_gaps_leave_what_both_have() -> None:
    gaps = jittered(2.0)
    gaps[:20] = np.nan
    assert similar_programs(table_of(rows(gaps))) == (("p0", "p1"),)
    gaps[:33] = np.nan
    assert similar_programs(table_of(rows(gaps))) == ()  # of seven mappings


def test_a_campaign_names_its_groups_itself() -> None:
    dataset = msgspec.structs.replace(table_of(rows(jittered(1.0))), topology=four_by_eight())
    assert similar_programs(dataset) == ()


def test_one_line_names_the_pairs_and_the_option() -> None:
    pairs = tuple((f"a\n{n}", f"b{n}") for n in range(7))
    text = similar_in_words(pairs, "box")
    assert "\n" not in text
    assert text.count(" and b") == 5
    assert "; and 2 more pairs" in text
    assert "--groups FILE.csv" in text
