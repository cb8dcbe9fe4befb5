"""The preload library on a real NUMA kernel: every thread and page where the mapping says, and nothing else changed."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from tests.guest.experiments import ArraysRequest, pages_of, read_addresses
from tests.guest.machine import Guest, python_environment
from tests.guest.placements import NOWHERE, Outcome, Request, Subject
from tests.guest.shape import Shape
from tests.guest.sweep import (
    HUGE_PAGES,
    SMALL_PAGES,
    SOURCES,
    Errand,
    built_subjects,
    codelet_subjects,
    problems,
    run,
)
from tests.openmp import BUDGET, CLANG, GCC
from tests.preloaded import built
from tests.traces import machine_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]

# `python -m tests.guest.sweep` runs all programs under all mappings, which takes the better part of half an hour. Here
# every mapping of the smaller shape and every second one of the larger runs with one of our programs in turn, and some
# with the codelets.
CODELETS_EVERY = 32
AGREEMENT = (
    "16x4-contiguous-first-touch",
    "16x4-contiguous-locality",
    "16x4-scatter-locality",
    "8x2-contiguous-locality",
    "8x4-scatter-dataset",
    "16x4-contiguous-dataset@2",
    "4x2-contiguous-bind@1",
    "4x2-contiguous-remote@1",
    "16x4-contiguous-interleave",
    "8x2-contiguous-interleave@4",
    "16x4-contiguous-balance",
    "8x2-scatter-balance@4",
    "16x4-contiguous-mix",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> tuple[tuple[str, Outcome], ...]:
    own, codelets = built_subjects(folder), codelet_subjects()
    errands = [
        # Every second mapping of the larger shape, for the gate's sake: `python -m tests.guest.sweep` takes them all.
        Errand("4x4", Request(own, part=0, of=2, lock=True)),
        Errand("2x4", Request(own, lock=True)),
        Errand("2x4", Request(codelets, part=7, of=CODELETS_EVERY)),
    ]
    return run(errands)


@pytest.mark.parametrize(("shape", "mappings"), [("4x4", 69), ("2x4", 49)])
def test_the_mappings_stand(outcomes: tuple[tuple[str, Outcome], ...], shape: str, mappings: int) -> None:
    here = [(where, outcome) for where, outcome in outcomes if where == shape]
    assert len({outcome.label for _, outcome in here}) == mappings
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
        told = outcome.told_loads.values()
        assert len(told) == len(outcome.loads), outcome
        assert max(told) - min(told) <= 20, outcome


def test_huge_pages_stand_as_a_whole(folder: Path) -> None:
    labels = (
        "16x4-contiguous-locality",
        "8x4-scatter-dataset",
        "4x2-contiguous-bind@1",
        "16x4-contiguous-interleave",
        "8x4-contiguous-balance@2",
    )
    big = msgspec.structs.replace(built_subjects(folder)[0], command=(str(folder / "grid-gcc"), "4096", "2"))
    found = run([Errand("4x4", Request((big,), labels=labels), HUGE_PAGES)])
    assert len(found) == len(labels)
    assert all(outcome.huge > 0 for _, outcome in found)
    assert problems(found) == []


def test_what_is_allocated_later_follows_its_users_too(folder: Path) -> None:
    later = built_subjects(folder)[-1]
    labels = ("8x4-contiguous-locality", "8x4-scatter-locality", "8x4-contiguous-mix", "16x4-contiguous-balance")
    found = run([Errand("4x4", Request((later,), labels=labels))])
    assert len(found) == len(labels)
    assert problems(found) == []
    assert all(outcome.decided >= 4 * 64 for _, outcome in found)  # four arrays: none is left to the kernel


def test_pages_follow_plain_threads(folder: Path) -> None:
    """Without OpenMP the threads that the program creates are what pages follow, from the first one on."""
    program = folder / "workers"
    subprocess.run([GCC, "-O2", "-pthread", "-o", program, SOURCES / "workers.c"], check=True)
    subject = Subject("workers", (str(program), "{threads}", "128"), owned=True, tells=True)
    labels = ("8x4-contiguous-locality", "8x4-scatter-locality", "4x2-contiguous-mix", "8x4-contiguous-balance")
    found = run([Errand("4x4", Request((subject,), labels=labels))])
    assert len(found) == len(labels)
    assert problems(found) == []
    assert all(outcome.decided >= 128 for _, outcome in found)


def test_a_mapping_that_grows_is_placed_anew(folder: Path) -> None:
    program = folder / "grown"
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", program, SOURCES / "grown.c"], check=True)
    subject = Subject("grown", (str(program), "64"), owned=True)
    labels = (
        "16x4-contiguous-dataset",
        "8x4-scatter-dataset",
        "8x4-contiguous-locality",
        "8x4-scatter-locality",
        "8x4-contiguous-mix",
        "16x4-contiguous-balance",
    )
    found = run([Errand("4x4", Request((subject,), labels=labels))])
    assert len(found) == len(labels)
    assert problems(found) == []
    assert all(outcome.decided >= (64 + 128 + 256) for _, outcome in found)  # the array in each of its sizes


def test_pages_that_were_there_before_the_library_are_placed_too(folder: Path) -> None:
    """By the kernel's own answer; the program starts on the last node, so that what nobody moves lies there."""
    library, program = folder / "libearly.so", folder / "early"
    subprocess.run([GCC, "-O1", "-shared", "-fPIC", "-o", library, SOURCES / "early_library.c"], check=True)
    sources = (SOURCES / "early.c", library, f"-Wl,-rpath,{folder}")
    subprocess.run([GCC, "-O1", "-fopenmp", "-fPIE", "-pie", "-o", program, *sources], check=True)
    answers = in_guest("early", program, folder)
    assert len(answers) == 7
    for label, arrays in answers.items():
        mapping = parse_label(label)
        assert set(arrays) == {"pointers", "static", "mapped", "heap"}
        for name, counts in arrays.items():
            there = sum(counts)
            assert there >= 120, (label, name, counts)
            if mapping.page_policy in {"bind", "remote"}:
                assert sorted(counts) == [0, 0, 0, there], (label, name, counts)
            elif mapping.page_policy in {"interleave", "balance"}:
                most, least = max(counts), sorted(counts)[-mapping.page_nodes]
                assert most - least <= (2 if mapping.page_policy == "interleave" else 20), (label, name, counts)
                assert counts.count(0) == 4 - mapping.page_nodes, (label, name, counts)
            elif mapping.page_policy == "dataset" and name in {"pointers", "static"}:
                assert max(counts) - min(counts) <= 2, (label, name, counts)
            else:  # with the main thread, which has touched it
                assert counts[0] == there, (label, name, counts)


def test_memory_only_node_and_uneven_distances(folder: Path) -> None:
    subject = built_subjects(folder)[0]
    labels = (
        "4x2-contiguous-remote@1",
        "4x2-contiguous-interleave@3",
        "4x2-contiguous-dataset@3",
        "4x2-scatter-locality",
    )
    distances = "10,16,22;17,10,31;22,31,10"
    found = run([Errand("2x2", Request((subject,), labels=labels), distances=distances, memory_only=1)])
    assert problems(found) == []
    assert found[0][1].loads == {2: found[0][1].pages - found[0][1].rest}


def in_guest(
    experiment: str, argument: Path | str, folder: Path, options: Sequence[str] = SMALL_PAGES
) -> dict[str, Any]:
    environment = python_environment()
    command = [sys.executable, "-m", "tests.guest.experiments", experiment, str(argument)]
    result = Guest(Shape.parse("4x4"), options).run(command, folder, environment, 900)
    assert result.exit_code == 0, result.stderr.decode()
    answers: dict[str, Any] = json.loads(result.stdout)
    return answers


@pytest.fixture(scope="module")
def where(folder: Path) -> Path:
    """Return a program that says where its serially initialised pages are, built with clang."""
    program = folder / "where"
    subprocess.run([CLANG, "-O2", "-fopenmp", "-o", program, SOURCES / "where.c"], check=True)
    return program


def test_early_binding_ends_the_two_kinds_of_runs(where: Path, tmp_path: Path) -> None:
    # ICS'19 sec. 4.2: the runtime binds the main thread too late for what it initialises before the first region.
    answers = in_guest("starts", where, tmp_path)
    assert len(set(answers["runtime"])) > 1
    assert set(answers["library"]) == {"0:256 nowhere:0"}


def test_numa_balancing_leaves_placed_pages_alone(where: Path, tmp_path: Path) -> None:
    answers = in_guest("balancing", where, tmp_path, ("transparent_hugepage=never",))
    assert set(answers["runtime"].split()) != {"0:1024", "nowhere:0"}  # it was at work
    assert answers["library"] == "0:1024 nowhere:0"


def test_the_program_keeps_half_of_its_mappings(tmp_path: Path) -> None:
    program = built("crowded.c", tmp_path, GCC)
    alone, *placed = in_guest("crowded", program, tmp_path).values()
    assert alone["output"].endswith("1000 mappings\n")
    assert len(placed) == 3
    assert placed[0]["left"] > 0  # dataset; next touch comes back to what it had no room for
    for answer in placed:
        assert answer["output"] == alone["output"]
        assert answer["left"] < 900
        assert answer["decided"] >= 900 - answer["left"]  # a touched page each
        assert answer["astray"] <= answer["decided"] / 100


def test_a_program_that_fills_in_its_pages_is_told_of_each(tmp_path: Path) -> None:
    told = in_guest("userfaults", built("userfaults.c", tmp_path, GCC), tmp_path, HUGE_PAGES)
    assert told["alone"].count("\n128 faults, sum ") == 3
    assert told == dict.fromkeys(told, told["alone"])
    assert len(told) == 4


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_teams_of_the_programs_own_choice_spread_over_the_nodes(compiler: str, tmp_path: Path) -> None:
    program = tmp_path / "nested"
    subprocess.run([compiler, "-O1", "-fopenmp", "-o", program, SOURCES / "nested.c"], check=True)
    # Four teams of four inside a team of four, then a team of eight; and the PUs that the program is told of.
    assert in_guest("teams", program, tmp_path) == {
        "contiguous": "0000 1111 2222 3333 00112233 16",
        "scatter": "0000 1111 2222 3333 01230123 16",
    }


def test_a_program_hears_of_its_pus_as_if_restricted_to_the_mapping(tmp_path: Path) -> None:
    answers = in_guest("masks", built("affinity.c", tmp_path, GCC), tmp_path)
    assert len(answers) == 2
    for label, (restricted, placed) in answers.items():
        assert placed == restricted, label
        assert len(placed.splitlines()[0].split()) == 2 + parse_label(label).threads, label


def test_plain_threads_take_slots_by_creation_order(tmp_path: Path) -> None:
    program = tmp_path / "numbered"
    subprocess.run([GCC, "-O1", "-pthread", "-o", program, SOURCES / "numbered.c"], check=True)
    subject = Subject("numbered", (str(program), "{threads}"), owned=True, touched_by_owner=True, tells=True)
    labels = (
        "8x4-contiguous-first-touch",
        "8x2-scatter-first-touch",
        "16x4-contiguous-dataset",
        "4x2-contiguous-bind@1",
    )
    found = run([Errand("4x4", Request((subject,), labels=labels))])
    assert problems(found) == []
    assert {outcome.label: len(outcome.threads) for _, outcome in found} == dict(
        zip(labels, (8, 8, 16, 4), strict=True)
    )


@pytest.mark.parametrize("source", ["grid.c", "static_arrays.c"])
def test_the_modelled_machine_places_pages_likewise(source: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    # Under next touch a page that two threads share goes to the first of them, in the model to the one that uses it
    # more: there is one such page on every border, so the arrays are large enough for these to be few.
    subprocess.run([GCC, "-O2", "-fopenmp", "-DLENGTH=1048576L", "-o", program, SOURCES / source], check=True)
    command = (str(program), "1024", "2")
    (tmp_path / "request").write_bytes(msgspec.json.encode(ArraysRequest(command, AGREEMENT)))
    truly = in_guest("arrays", tmp_path / "request", tmp_path)
    machine = machine_of((4, 4, 4, 4))
    for label in AGREEMENT:
        mapping = parse_label(label)
        addresses = tmp_path / f"addresses-{mapping.threads}"  # one trace for all mappings of as many threads
        modelled = _modelled(mapping, command, addresses, ModelledMachine(machine, TraceStore(machine, BUDGET)))
        assert _agreement(mapping, modelled, truly[label]) >= 0.99, label


def _modelled(mapping: Mapping, command: tuple[str, ...], file: Path, machine: ModelledMachine) -> dict[str, list[int]]:
    """Return the node of each page of each array in the model; -1 where it follows no line of the page."""
    program = Program(name="traced", command=command, environment=(("ADDRESSES", str(file)),))
    pages, nodes = machine.placement(program, mapping)
    node_of = dict(zip(pages.tolist(), nodes.tolist(), strict=True))
    latest = {name: (start, size) for name, start, size in read_addresses(file)}
    return {name: [node_of.get(page, NOWHERE) for page in pages_of(*where)] for name, where in latest.items()}


def _agreement(mapping: Mapping, modelled: dict[str, list[int]], truly: dict[str, list[int]]) -> float:
    """Return the share of pages with the same node in both, of those that both know.

    Addresses are not the same in two runs, and a round robin by address begins anywhere: it may be turned. Balancing
    takes pages in the order of the addresses or of the touches: there the pages of each node are counted.
    """
    same = total = 0
    nodes = mapping.page_nodes
    for name, expected in modelled.items():
        pairs = [(a, b) for a, b in zip(expected, truly[name], strict=False) if NOWHERE not in (a, b)]
        assert len(pairs) > len(expected) // 2, f"{name}: {len(pairs)} of {len(expected)} pages are known to both"
        total += len(pairs)
        if mapping.page_policy == "balance":
            same += sum(min(sum(a == n for a, _ in pairs), sum(b == n for _, b in pairs)) for n in range(4))
        elif mapping.page_policy == "interleave":
            same += max(sum((a + turn) % nodes == b for a, b in pairs) for turn in range(nodes))
        else:
            same += sum(a == b for a, b in pairs)
    return same / total
