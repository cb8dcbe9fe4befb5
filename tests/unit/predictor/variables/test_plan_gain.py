"""The pages of a trace that a plan places, found by what the placement library knows their allocation by."""

import numpy as np

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.page_plan import PagePlan, PlannedRange
from numapredict.collect.placing.profile_file import ProfiledRange
from numapredict.predictor.variables.plan_gain import planned_nodes
from tests.shapes import shape
from tests.traces import trace_of

PLACEMENT = resolve(parse_label("4x2-contiguous-first-touch"), shape([2, 2]))  # nodes 10 and 11 to the system
SITE, OTHER = 1 << 63 | 7, 9
# Of each page: its number, who touched it first, and its allocation: first page, pages, site, order, kind.
PAGES = trace_of(
    [],
    [
        *((100 + n, 0, 100, 4, SITE, 1, 1) for n in (3, 1, 0)),
        (200, 0, 200, 4, SITE, 0, 1),
        (300, 0, 300, 4, OTHER, 1, 1),
        (400, 0, 400, 4, SITE, 1, 3),
        (500, 0, 500, 8, SITE, 1, 1),
    ],
).pages
ADDRESS = np.array([500, 100, 101, 102, 103, 200, 300, 400])  # in the model's order, of all but page 103 traced


def plan(site: int, *runs: tuple[int, int, int]) -> PagePlan:
    known = ProfiledRange(1, site, 3, 1, 4, 0, 0, "app", 64)
    return PagePlan((PlannedRange(known, runs),), 1, None)


def placed(asked: PagePlan) -> list[int] | None:
    found = planned_nodes(asked, PLACEMENT, PAGES, ADDRESS, np.zeros(len(ADDRESS), dtype=np.int32))
    return None if found is None else found.tolist()


def test_pages_of_the_allocation_go_where_the_plan_says_and_no_others() -> None:
    assert placed(plan(SITE, (0, 1, 10), (1, 3, 11))) == [0, 0, 1, 0, 1, 0, 0, 0]
    assert placed(plan(SITE, (0, 2, 11))) == [0, 1, 1, 0, 0, 0, 0, 0]  # of the others the plan says nothing


def test_a_plan_of_other_allocations_places_nothing() -> None:
    assert placed(plan(12345, (0, 4, 11))) is None
