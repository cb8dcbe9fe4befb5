"""Where pages are: as the kernel said, only where the threads ran as they are asked about and pages were left alone."""

from dataclasses import replace

import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.profile_file import SAMPLE, Profile
from numapredict.predictor.variables.page_nodes import PageNodes, page_nodes_of
from tests.shapes import shape
from tests.unit.predictor.variables.test_pattern import touches

PLACEMENT = resolve(parse_label("4x2-contiguous-first-touch"), shape([2, 2]))  # nodes 10 and 11 to the system


def profile(*rows: tuple[int, int, int], placed: bool = False) -> Profile:
    """Return a profile of touches: the slot, and the OS numbers of the page's and the thread's node, -1 not known."""
    samples = np.zeros(len(rows), SAMPLE)
    for sample, (slot, page, thread) in zip(samples, rows, strict=True):
        sample["slot"], sample["page_node"], sample["thread_node"] = slot, page + 1, thread + 1
        sample["armed"] = sample["touches"] = 1
    return Profile(4, 4096, (), samples, 1, 1, 0, 1.0, placed=placed)


SEEN = ((0, 10, 10), (1, 11, 10), (2, 10, 11), (3, 10, 11))


def test_pages_that_were_seen_are_where_the_kernel_said() -> None:
    nodes = page_nodes_of(profile(*SEEN), PLACEMENT, is_here=True)
    assert nodes == PageNodes((0, 0, 1, 1), {10: 0, 11: 1})
    rows = replace(touches(np.arange(4), np.arange(4), 4), page_node=np.array([10, 11, -1, 12]))
    assert nodes.homes(rows, np.zeros(4, dtype=np.int64)).tolist() == [0, 1, -1, -1]
    assert nodes.all == (0, 1)


@pytest.mark.parametrize(
    ("found", "is_here"),
    [
        (profile(*SEEN), False),
        (profile(*SEEN, placed=True), True),
        (profile(*((slot, -1, -1) for slot in range(4))), True),
        (profile(*SEEN[:3], (3, 10, 10)), True),  # thread 3 ran on the other node
        (profile(*SEEN[:3], (3, 12, 11)), True),  # a node that the topology does not have
        (profile(), True),
    ],
)
def test_else_they_are_where_the_first_thread_ran(found: Profile, is_here: bool) -> None:
    nodes = page_nodes_of(found, PLACEMENT, is_here)
    assert nodes == PageNodes((0, 0, 1, 1))
    rows = replace(touches(np.arange(4), np.arange(4), 4), page_node=np.full(4, 11))
    assert nodes.homes(rows, np.array([0, 1, 3, -1])).tolist() == [0, 0, 1, -1]
