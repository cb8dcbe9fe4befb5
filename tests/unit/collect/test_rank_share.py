"""Ranks of a parallel job: the label's suffix, and what each of them has of a mapping."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.preload import settings_text
from numapredict.collect.rank_share import RanksPer, os_page_nodes_of, share_of, shared, slots_of, split_label
from numapredict.collect.space import full_space
from numapredict.collect.topology import Cache
from numapredict.native.errors import InvalidMappingError
from tests.shapes import shape

FOUR = shape([4, 4, 4, 4])
HALVES = tuple(Cache(3, 1 << 20, 64, (first, first + 1)) for first in range(0, 16, 2))
SPLIT = msgspec.structs.replace(FOUR, caches=HALVES)  # two level 3 caches a node
PACKAGES = (frozenset(range(8)), frozenset(range(8, 16)))


def placed(text: str) -> Placement:
    label, ranks = split_label(text)
    placement = resolve(parse_label(label), SPLIT)
    return placement if ranks is None else shared(placement, ranks, PACKAGES)


def pus(text: str, ranks: int) -> list[list[int]]:
    return [[slot.pu for slot in slots_of(placed(text), rank, ranks)] for rank in range(ranks)]


@pytest.mark.parametrize("suffix", ["-1pernode", "-2persocket", "-16perl3"])
def test_a_suffix_is_read_and_written_alike(suffix: str) -> None:
    label, ranks = split_label("16x4-contiguous-locality-smt2" + suffix)
    assert (label, str(ranks)) == ("16x4-contiguous-locality-smt2", suffix)


@pytest.mark.parametrize("text", ["16x4-contiguous-locality", "close", "16x4-scatter-bind@1-0pernode", "-1pernode"])
def test_other_texts_have_no_suffix(text: str) -> None:
    assert split_label(text) == (text, None)


def test_threads_of_a_rank_are_neighbours_in_thread_order() -> None:
    assert pus("16x4-contiguous-first-touch", 4) == [list(range(first, first + 4)) for first in (0, 4, 8, 12)]
    assert pus("16x4-scatter-first-touch", 4)[1] == [1, 5, 9, 13]
    assert pus("16x4-contiguous-first-touch", 3) == [list(range(5)), list(range(5, 10)), list(range(10, 16))]
    assert pus("2x2-contiguous-first-touch", 4) == [[0], [0], [4], [4]]  # more ranks than threads


def test_ranks_go_where_the_suffix_says() -> None:
    assert pus("16x4-scatter-interleave-1pernode", 4)[3] == [12, 13, 14, 15]
    assert pus("16x4-scatter-interleave-1persocket", 2)[1] == [8, 12, 9, 13, 10, 14, 11, 15]
    assert pus("16x4-contiguous-interleave-1persocket", 2)[1] == list(range(8, 16))
    assert pus("8x4-contiguous-locality-1perl3", 8) == [[first] for first in range(0, 16, 2)]
    assert pus("8x2-contiguous-locality-2pernode", 4) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_page_nodes_are_the_ranks_own_or_the_same_for_all() -> None:
    for text in ("16x4-contiguous-locality", "16x4-scatter-interleave-1pernode"):
        assert [os_page_nodes_of(placed(text), rank, 4) for rank in range(4)] == [(10,), (11,), (12,), (13,)]
    assert os_page_nodes_of(placed("16x4-scatter-interleave"), 2, 4) == (10, 11, 12, 13)
    for label in ("16x4-contiguous-bind@1", "8x2-contiguous-remote@1", "4x1-contiguous-interleave@3"):
        placement = placed(label)
        assert {os_page_nodes_of(placement, rank, 4) for rank in range(4)} == {placement.os_page_nodes}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "6x4-contiguous-locality-1pernode",
            "cannot be shared evenly by 4 ranks, 1 on each of 4 nodes; take a multiple",
        ),
        ("12x2-contiguous-locality-1pernode", "needs 12 cores"),
        ("16x4-contiguous-locality-16pernode", "a multiple of 64"),
        ("4x1-contiguous-locality-3pernode", "a multiple of 3"),
    ],
)
def test_ranks_that_do_not_fit_are_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidMappingError, match=said):
        placed(text)


def test_a_machine_without_such_parts_is_refused() -> None:
    bare = resolve(parse_label("16x4-contiguous-locality"), msgspec.structs.replace(FOUR, caches=()))
    with pytest.raises(InvalidMappingError, match="has no level 3 cache for each core; use -1pernode"):
        shared(bare, RanksPer(1, "l3"))
    with pytest.raises(InvalidMappingError, match="has no socket"):
        shared(bare, RanksPer(1, "socket"))


@given(st.sampled_from(full_space(FOUR)), st.integers(1, 6))
def test_shares_are_a_partition_and_placements_of_their_own(mapping: object, ranks: int) -> None:
    placement = placed(str(mapping))
    slots = [slot for rank in range(ranks) for slot in slots_of(placement, rank, ranks)]
    if placement.mapping.threads >= ranks:
        assert tuple(slots) == placement.slots
    for rank in range(ranks):
        share = share_of(placement, rank, ranks)
        own = slots_of(placement, rank, ranks)
        assert sorted(share.pus) == sorted(slot.pu for slot in own)
        assert set(share.os_page_nodes) <= set(os_page_nodes_of(placement, rank, ranks))


def test_the_librarys_settings_have_the_slots_in_the_ranks_order() -> None:
    placement = placed("16x4-scatter-locality-1persocket")
    assert applied(placement).slots == placement.slots
    text = settings_text(placement)
    assert "cpus=0,4,1,5,2,6,3,7,8,12,9,13,10,14,11,15;" in text
    assert text.endswith(";ranks=2;launcher=1")
    assert "ranks" not in settings_text(placed("16x4-scatter-locality"))  # as many as are started
    assert settings_text(share_of(placement, 1, 2)).endswith(";ranks=1")
