"""Names of bindings in place of labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.binding import BINDINGS, mapping_on, threads_asked
from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.placement import resolve
from numapredict.collect.space import fits
from numapredict.native.errors import InvalidMappingError
from tests.samples import topology_of
from tests.shapes import shape

FOUR = topology_of((4, 4, 4, 4))
SMT = shape((4, 4), pus=2)
UNEVEN = topology_of((2, 4))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("close", "16x4-contiguous-first-touch"),
        ("spread", "16x4-contiguous-first-touch"),
        ("compact", "16x4-contiguous-first-touch"),  # one PU a core
        ("close:6", "6x2-contiguous-first-touch"),
        ("spread:6", "6x4-contiguous-first-touch"),
        ("spread:3", "3x3-contiguous-first-touch"),
        ("close:4-interleave", "4x1-contiguous-interleave"),
        ("spread:8-bind", "8x4-contiguous-bind@1"),
        ("8x4-scatter-balance@2", "8x4-scatter-balance@2"),
    ],
)
def test_a_name_is_a_mapping_of_the_machine(text: str, label: str) -> None:
    assert mapping_on(FOUR, text).label == label


def test_compact_fills_the_threads_of_a_core_first() -> None:
    assert mapping_on(SMT, "compact").label == "16x2-contiguous-first-touch-smt2"
    assert mapping_on(SMT, "compact:8").label == "8x1-contiguous-first-touch-smt2"
    assert mapping_on(SMT, "close:8").label == "8x2-contiguous-first-touch"


def test_spread_takes_all_caches_of_the_nodes() -> None:
    one, two = shape([8], pus=2, l3_cores=2), shape([4, 4], l3_cores=2)
    assert mapping_on(one, "spread:4").label == "4x1-contiguous-first-touch-4l3"
    assert resolve(mapping_on(one, "spread:2"), one).pus == (0, 4)
    assert mapping_on(one, "spread").label == "8x1-contiguous-first-touch"
    assert mapping_on(two, "spread:4-interleave").label == "4x2-contiguous-interleave-4l3"
    assert mapping_on(two, "close:4").label == "4x1-contiguous-first-touch"


def test_without_a_number_the_programs_own_threads_count() -> None:
    assert mapping_on(FOUR, "spread", 8).label == "8x4-contiguous-first-touch"
    assert mapping_on(FOUR, "spread:2", 8).threads == 2


@given(st.sampled_from(BINDINGS), st.integers(1, 6), st.sampled_from([*PAGE_POLICIES, ""]))
def test_what_a_name_means_fits_and_has_its_threads(binding: str, threads: int, pages: str) -> None:
    if pages == "remote" and (binding == "spread" or threads > 2):
        return  # no node without threads is left
    mapping = mapping_on(UNEVEN, f"{binding}:{threads}" + (f"-{pages}" if pages else ""))
    if mapping.page_policy != "remote":
        assert fits(mapping, UNEVEN)
        assert len(resolve(mapping, UNEVEN).slots) == threads
    assert parse_label(mapping.label) == mapping


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("close:17", "mapping close:17 needs 17 cores; .* has 16 cores"),
        ("spread-nowhere", "'spread-nowhere' is not a mapping's label"),
        ("Close", "'Close' is not a mapping's label"),
        ("close:0", "is not a mapping's label"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidMappingError, match=why):
        mapping_on(FOUR, text)


@pytest.mark.parametrize(
    ("setting", "threads"),
    [(None, None), ("", None), ("8", 8), (" 16 ,2", 16), ("0", None), ("-4", None), ("all", None), ("9" * 5000, None)],
)
def test_the_threads_that_a_caller_asks_for(setting: str | None, threads: int | None) -> None:
    assert threads_asked(setting) == threads
