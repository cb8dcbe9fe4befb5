"""The preload library on a real NUMA kernel: every thread and page where the mapping says, and nothing else changed."""

import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import USUAL
from numapredict.collect.space import full_space
from tests.guest.placements import Outcome, Request, Subject
from tests.guest.sweep import SOURCES, Errand, built_subjects, codelet_subjects, problems, run
from tests.openmp import CLANG, GCC
from tests.shapes import shape

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]

# `python -m tests.guest.sweep` runs all programs under all mappings, which takes the better part of half an hour. Here
# every mapping of the smaller shape and a choice of those of the larger run with one of our programs in turn, and some
# with the codelets.
CODELETS_EVERY = 32
LATER = ("8x4-contiguous-locality", "8x4-scatter-locality", "8x4-contiguous-mix", "16x4-contiguous-balance")
WORKERS = ("8x4-contiguous-locality", "8x4-scatter-locality", "4x2-contiguous-mix", "8x4-contiguous-balance")
NUMBERED = {  # threads by mapping
    "8x4-contiguous-first-touch": 8,
    "8x2-scatter-first-touch": 8,
    "16x4-contiguous-dataset": 16,
    "4x2-contiguous-bind@1": 4,
}
GROWN = (
    "16x4-contiguous-dataset",
    "8x4-scatter-dataset",
    "8x4-contiguous-locality",
    "8x4-scatter-locality",
    "8x4-contiguous-mix",
    "16x4-contiguous-balance",
)
MEMORY_ALONE = (
    "8x2-contiguous-remote@1",
    "8x2-contiguous-interleave@3",
    "8x2-contiguous-dataset@3",
    "4x2-scatter-locality",
)
HUGE = (
    "16x4-contiguous-locality",
    "8x4-scatter-dataset",
    "4x2-contiguous-bind@1",
    "16x4-contiguous-interleave",
    "8x4-contiguous-balance@2",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


Found = tuple[tuple[str, Outcome], ...]


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Found]:
    """What one guest of each shape found, which answers all requests: a boot takes longer than most of them.

    The smaller shape has a third node, of memory alone, which only the last request uses.
    """
    own, codelets = built_subjects(folder), codelet_subjects()
    smaller = tuple(mapping.label for mapping in full_space(shape((4, 4))))
    asked = {
        "4x4": {
            "huge": huge_request(own[0]),  # first: memory is whole yet
            "all": Request(own, labels=covering(), lock=True),
            "later": Request(own[-1:], labels=LATER),
            "workers": Request((plain_threads(folder, "workers", "{threads}", "128"),), labels=WORKERS),
            "numbered": Request((plain_threads(folder, "numbered", "{threads}", first=True),), labels=tuple(NUMBERED)),
            "grown": Request((grown(folder),), labels=GROWN),
        },
        "2x4": {
            "all": Request(own, labels=smaller, lock=True),
            "codelets": Request(codelets, labels=smaller, part=7, of=CODELETS_EVERY),
            "memory alone": Request(own[:1], labels=MEMORY_ALONE),
        },
    }
    errands = {shape: Errand(shape, tuple(requests.values())) for shape, requests in asked.items()}
    errands["2x4"] = replace(errands["2x4"], distances="10,16,22;17,10,31;22,31,10", memory_only=1, order=(0, 2, 1))
    answers = run(tuple(errands.values()))
    names = [f"{shape} {name}" for shape, requests in asked.items() for name in requests]
    return dict(zip(names, answers, strict=True))


@pytest.fixture(scope="module")
def outcomes(found: dict[str, Found]) -> Found:
    return (*found["4x4 all"], *found["2x4 all"], *found["2x4 codelets"])


def covering() -> tuple[str, ...]:
    """Choose mappings of 4x4: each page policy with each thread policy on each number of nodes that it exists on.

    Of the mappings with the same three, that differ in threads and page nodes, each choice takes the next one.
    """
    alike: dict[tuple[str, str, int], list[str]] = {}
    for mapping in full_space(shape((4, 4, 4, 4))):
        kind = (mapping.page_policy, mapping.thread_policy, mapping.thread_nodes)
        alike.setdefault(kind, []).append(mapping.label)
    return tuple(labels[turn % len(labels)] for turn, labels in enumerate(alike.values()))


def plain_threads(folder: Path, name: str, *arguments: str, first: bool = False) -> Subject:
    """Return a program without OpenMP; ``first``: its threads touch their pages first."""
    program = folder / name
    subprocess.run([GCC, "-O2", "-pthread", "-o", program, SOURCES / f"{name}.c", "-lnuma"], check=True)
    return Subject(name, (str(program), *arguments), owned=True, touched_by_owner=first, tells=True)


def huge_request(grid: Subject) -> Request:
    """Return the request for a grid of some megabytes, on huge pages."""
    big = msgspec.structs.replace(grid, command=(grid.command[0], "4096", "2"))
    return Request((big,), labels=HUGE, huge=True)


def grown(folder: Path) -> Subject:
    program = folder / "grown"
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", program, SOURCES / "grown.c", "-lnuma"], check=True)
    return Subject("grown", (str(program), "64"), owned=True)


@pytest.mark.parametrize(("shape", "mappings"), [("4x4", 35), ("2x4", 49)])
def test_the_mappings_stand(outcomes: tuple[tuple[str, Outcome], ...], shape: str, mappings: int) -> None:
    here = [(where, outcome) for where, outcome in outcomes if where == shape]
    assert len({outcome.label for _, outcome in here}) == mappings
    assert {parse_label(outcome.label).page_policy for _, outcome in here} == set(USUAL)
    assert problems(here) == []


def test_threads_have_the_slots_of_the_mapping(outcomes: tuple[tuple[str, Outcome], ...]) -> None:
    for _, outcome in outcomes:
        assert set(outcome.threads) == set(range(parse_label(outcome.label).threads)), outcome.label


def test_balance_gives_every_node_its_share(outcomes: tuple[tuple[str, Outcome], ...]) -> None:
    found = [o for _, o in outcomes if "-balance" in o.label and o.subject in {"grid-gcc", "grid-clang"}]
    assert found
    for outcome in found:
        assert len(outcome.loads) == parse_label(outcome.label).page_nodes, outcome
        assert max(outcome.loads.values()) - min(outcome.loads.values()) <= 20, outcome
        reported = outcome.reported_loads.values()
        assert len(reported) == len(outcome.loads), outcome
        assert max(reported) - min(reported) <= 20, outcome


def test_huge_pages_stand_as_a_whole(found: dict[str, Found]) -> None:
    huge = found["4x4 huge"]
    assert len(huge) == len(HUGE)
    assert all(outcome.huge > 0 for _, outcome in huge)
    assert problems(huge) == []


def test_what_is_allocated_later_follows_its_users_too(found: dict[str, Found]) -> None:
    later = found["4x4 later"]
    assert len(later) == len(LATER)
    assert problems(later) == []
    assert all(outcome.decided >= 4 * 64 for _, outcome in later)  # four arrays: none is left to the kernel


def test_pages_follow_plain_threads(found: dict[str, Found]) -> None:
    """Without OpenMP the threads that the program creates are what pages follow, from the first one on."""
    workers = found["4x4 workers"]
    assert len(workers) == len(WORKERS)
    assert problems(workers) == []
    assert all(outcome.decided >= 128 for _, outcome in workers)


def test_plain_threads_take_slots_by_creation_order(found: dict[str, Found]) -> None:
    numbered = found["4x4 numbered"]
    assert problems(numbered) == []
    assert {outcome.label: len(outcome.threads) for _, outcome in numbered} == NUMBERED


def test_a_mapping_that_grows_is_placed_anew(found: dict[str, Found]) -> None:
    outcomes = found["4x4 grown"]
    assert len(outcomes) == len(GROWN)
    assert problems(outcomes) == []
    assert all(outcome.decided >= (64 + 128 + 256) for _, outcome in outcomes)  # the array in each of its sizes


def test_memory_only_node_and_uneven_distances(found: dict[str, Found]) -> None:
    alone = found["2x4 memory alone"]
    assert len(alone) == len(MEMORY_ALONE)
    assert problems(alone) == []
    assert alone[0][1].loads == {2: alone[0][1].pages - alone[0][1].rest}
