"""Weighted pages on a real NUMA kernel: by ranges and by the kernel's own policy each node has its share."""

from collections import Counter

import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from tests.guest.batch import topology_of
from tests.guest.placements import Outcome, Request
from tests.guest.shape import Shape
from tests.guest.sweep import Errand, built_subjects, problems, run
from tests.guest.test_placements import grown
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]

APART, ORDER = "10,20,30;20,10,40;30,40,10", (0, 2, 1)  # node 2 has memory alone; hwloc counts it with its nearest
LABELS = ("4x1-contiguous-weighted@3", "2x1-contiguous-weighted@2")
KINDS = ("ranges", "huge", "kernel")

Found = dict[str, tuple[tuple[str, Outcome], ...]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("programs")
    own = (*built_subjects(folder), grown(folder))
    big, full = (
        msgspec.structs.replace(own[0], command=(own[0].command[0], rows, iterations, "3"))
        for rows, iterations in (("16384", "2"), ("76800", "1"))  # pages of each of two arrays
    )
    requests = (
        Request((big,), labels=LABELS, huge=True),  # first: memory is whole yet
        Request(own, labels=LABELS),
        Request(own[:-1], labels=LABELS, weighing=True),  # what the kernel makes of moved mappings nobody foretells
        Request((full,), labels=LABELS[1:]),
    )
    huge, ranges, kernel, over = run((Errand("2x4", requests, distances=APART, memory_only=1, order=ORDER),))
    return {"ranges": ranges, "huge": huge, "kernel": kernel, "full": over}


def weights_of(label: str) -> dict[int, float]:
    """Return the share of each node in the pages of a mapping there."""
    placement = resolve(parse_label(label), topology_of(Shape.parse("2x4", APART, 1), ORDER))
    weights = Counter(placement.os_indices(placement.chunks))
    return {node: weight / weights.total() for node, weight in weights.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_has_its_share(found: Found, kind: str) -> None:
    assert problems(found[kind]) == []
    for _, outcome in found[kind]:
        wanted = weights_of(outcome.label)
        assert len(set(wanted.values())) > 1, outcome.label
        loads = outcome.reported_loads or outcome.loads
        pages = sum(loads.values())
        assert pages > 100, outcome
        for node, share in wanted.items():
            slack = 512 * 5 if kind == "huge" else 10  # pages: of each array, a part of one turn
            assert abs(loads.get(node, 0) - share * pages) <= slack, (outcome, wanted)


def test_a_full_node_leaves_the_rest_to_others(found: Found) -> None:
    """Its share of 600 MB is more than the 384 MB of a node."""
    ((_, outcome),) = found["full"]
    assert outcome.same, outcome.message
    loads = outcome.reported_loads
    assert sum(loads.values()) == outcome.reported >= 2 * 76800 - 4
    assert 0.5 < loads[0] / outcome.reported < weights_of(outcome.label)[0] - 0.01, loads
    assert sum(loads[node] for node in (0, 1)) == outcome.reported_right > 0.9 * outcome.reported, loads
