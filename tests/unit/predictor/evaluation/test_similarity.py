"""Pairs of programs that react alike: distances by hand."""

import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.collect.program import Program
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation.similarity import like_pairs
from numapredict.predictor.learning.features import Observations
from numapredict.reports.commands.pairs import pairs_in_words

LABELS = ("32x4-contiguous-first-touch", "32x4-scatter-locality", "8x1-contiguous-bind")


def observed(
    times: dict[str, list[float]], bandwidth: dict[str, list[float]] | None = None, labels: tuple[str, ...] = LABELS
) -> Observations:
    programs = tuple(Program(name=name, command=("x",), group=name.partition(".")[0]) for name in times)
    local = None if bandwidth is None else np.array([bandwidth[name] for name in times])
    return Observations(programs, tuple(map(mapping_named, labels)), np.array(list(times.values())), local)


def test_a_longer_program_that_reacts_alike_is_no_different() -> None:
    pairs = like_pairs(observed({"a.s": [4, 2, 1], "b.s": [40, 20, 10], "c.s": [4, 2, 8]}), 0)
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (pairs[0].time, pairs[0].time_at_most, pairs[0].bandwidth, pairs[0].best) == (1.0, 1.0, None, True)
    # log2 differences 0, 0, 3: their root mean square is sqrt(3).
    assert pairs[1].time == pytest.approx(2 ** np.sqrt(3))
    assert pairs[1].time_at_most == pytest.approx(8)
    assert not pairs[1].best


def test_bandwidth_tells_apart_what_times_do_not() -> None:
    times = {"a.s": [4.0, 2.0], "b.s": [4.0, 2.0], "c.s": [4.0, 2.1]}
    local = {"a.s": [1.0, 1.0], "b.s": [4.0, 4.0], "c.s": [1.0, 1.0]}
    pairs = like_pairs(observed(times, local, LABELS[:2]), 0)
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "c"), ("a", "b"), ("b", "c")]
    assert pairs[1].bandwidth == pytest.approx(4)
    assert pairs[1].apart == pytest.approx(2)


def test_a_pair_is_as_far_apart_as_its_most_different_variant() -> None:
    times = {"a.s": [1, 1, 1], "a.p": [1, 2, 2], "b.p": [1, 1, 2], "b.s": [1, 1, 1], "c.other": [1, 1, 1]}
    (pair,) = like_pairs(observed({name: [float(t) for t in row] for name, row in times.items()}), 0)
    assert (pair.first, pair.second, pair.variant) == ("a", "b", "p")


def test_no_pair_is_one_clear_line() -> None:
    with pytest.raises(InsufficientDataError, match="collect more"):
        like_pairs(observed({"a.s": [1, 1, 1], "b.p": [1, 1, 1]}), 0)


def test_the_table_says_how_many_there_are() -> None:
    pairs = like_pairs(observed({"a.s": [4, 2, 1], "b.s": [40, 20, 10], "c.s": [4, 2, 8]}), 0)
    text = pairs_in_words(pairs[:2], len(pairs))
    assert text.startswith("The 2 pairs most alike of 3,")
    assert text.splitlines()[-1].split() == ["a,", "c", "s", "3.32x", "8.00x", "no"]
