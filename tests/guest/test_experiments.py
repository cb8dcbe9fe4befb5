"""Experiments on a real NUMA kernel: starts, balancing, teams, masks and arrays, with the library and without."""

import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.placement import resolve
from numapredict.collect.program import Program
from tests.guest import experiments
from tests.guest.batch import Batch, answer_of, topology_of
from tests.guest.experiments import (
    CROWD,
    OWN_MAPPINGS,
    ROW_LABELS,
    ROWS,
    ArraysRequest,
    Prepared,
    pages_of,
    read_addresses,
)
from tests.guest.placements import NOWHERE
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import BUDGET, CLANG, GCC
from tests.preloaded import built
from tests.traces import machine_of

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]

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

# Of static arrays, which take ten times as long, each policy once: other teams and nodes are the same code for them.
AGREEMENT_OF_STATIC = (
    "16x4-contiguous-first-touch",
    "16x4-contiguous-locality",
    "16x4-contiguous-dataset@2",
    "4x2-contiguous-bind@1",
    "4x2-contiguous-remote@1",
    "8x2-contiguous-interleave@4",
    "8x2-scatter-balance@4",
    "16x4-contiguous-mix",
)


def built_early(folder: Path) -> Path:
    """Build a program whose library has arrays from before the preload library's start."""
    library, program = folder / "libearly.so", folder / "early"
    subprocess.run([GCC, "-O1", "-shared", "-fPIC", "-o", library, SOURCES / "early_library.c"], check=True)
    sources = (SOURCES / "early.c", library, f"-Wl,-rpath,{folder}", "-lnuma")
    subprocess.run([GCC, "-O1", "-fopenmp", "-fPIE", "-pie", "-o", program, *sources], check=True)
    return program


def built_where(folder: Path) -> Path:
    """Build a program that says where its serially initialised pages are, with clang."""
    program = folder / "where"
    subprocess.run([CLANG, "-O2", "-fopenmp", "-o", program, SOURCES / "where.c", "-lnuma"], check=True)
    return program


def built_by(compiler: str, source: str, folder: Path) -> Path:
    program = folder / f"{source}-{Path(compiler).name}"
    subprocess.run([compiler, "-g", "-O1", "-fopenmp", "-o", program, SOURCES / f"{source}.c", "-lnuma"], check=True)
    return program


def built_to_decline(folder: Path) -> Path:
    """Build the program of `where`, and beside it one that runs another without huge pages."""
    subprocess.run([GCC, "-O1", "-o", folder / "declining", SOURCES / "declining.c"], check=True)
    return built_where(folder)


def built_replayed(folder: Path) -> Path:
    """Build the programs whose regions are replayed, in a folder of their own."""
    own = folder / "replayed"
    own.mkdir()
    for compiler, source in ((GCC, "replayed"), (CLANG, "replayed"), (GCC, "touched")):
        built_by(compiler, source, own)
    return own


def built_arrays(folder: Path, source: str) -> Path:
    """Build a program that names its arrays, and write the request to run it.

    Under next touch a page that two threads share goes to the first of them, in the model to the one that uses it more.
    The grid has one such page on every border, and so many rows that these are few; static arrays have none.
    """
    program, request = folder / source.removesuffix(".c"), folder / f"{source}.request"
    subprocess.run(
        [
            GCC,
            "-O2",
            "-fopenmp",
            "-DLENGTH=262144L",
            "-DALIGNMENT=ARRAY_PAGE",
            "-o",
            program,
            SOURCES / source,
            "-lnuma",
        ],
        check=True,
    )
    request.write_bytes(msgspec.json.encode(ArraysRequest((str(program), "1024", "2"), ARRAYS[source])))
    return request


STEPS_OF_ROWS = [("first", ROWS), ("second", ROWS), ("third", ROWS)] * 3
GROWN_ROWS = [("first", 2 * ROWS), ("second", ROWS), ("third", ROWS)]
ARRAYS = {"grid.c": AGREEMENT, "static_arrays.c": AGREEMENT_OF_STATIC}
EXPERIMENTS: dict[str, tuple[Callable[[Path, Batch], Prepared[Any]], Callable[[Path], Path]]] = {
    "early": (experiments.early, built_early),
    "starts": (experiments.starts, built_where),
    "crowded": (experiments.crowded, lambda folder: built("crowded.c", folder, GCC)),
    "masks": (experiments.masks, lambda folder: built("affinity.c", folder, GCC)),
    **{f"teams {compiler}": (experiments.teams, partial(built_by, compiler, "nested")) for compiler in (GCC, CLANG)},
    **{f"shares {compiler}": (experiments.shares, partial(built_by, compiler, "shares")) for compiler in (GCC, CLANG)},
    **{f"arrays {source}": (experiments.arrays, partial(built_arrays, source=source)) for source in ARRAYS},
    "replays": (experiments.replays, built_replayed),
    "rows": (experiments.rows, partial(built_by, GCC, "block_rows")),
    "variables": (experiments.variables, partial(built_by, GCC, "spread")),
    # These change a setting of the kernel while they run, and come last.
    "declined": (experiments.declined, built_to_decline),
    "userfaults": (experiments.userfaults, lambda folder: built("userfaults.c", folder, GCC)),
    "balancing": (experiments.balancing, built_where),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    """What the experiments found in one guest: a boot takes longer than most of them."""
    written = folder / "guest"
    written.mkdir()
    batch = Batch(Shape.parse("4x4"), written)
    prepared = {name: experiment(build(folder), batch) for name, (experiment, build) in EXPERIMENTS.items()}
    for one in prepared.values():
        next(one)
    batch.run(SMALL_PAGES, 1800)
    return {name: answer_of(one) for name, one in prepared.items()}


def test_pages_that_were_there_before_the_library_are_placed_too(answers: dict[str, Any]) -> None:
    """By the kernel's own answer; the program starts on the last node, so that what nobody moves lies there."""
    found = answers["early"]
    assert len(found) == 7
    for label, arrays in found.items():
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


def test_early_binding_ends_the_two_kinds_of_runs(answers: dict[str, Any]) -> None:
    # ICS'19 sec. 4.2: the runtime binds the main thread too late for what it initialises before the first region.
    found = answers["starts"]
    assert len(set(found["runtime"])) > 1
    assert set(found["library"]) == {"0:256 nowhere:0"}


def test_numa_balancing_leaves_placed_pages_alone(answers: dict[str, Any]) -> None:
    found = answers["balancing"]
    assert len(re.findall(r"\d+:\d+", found["runtime"])) > 1  # it was at work: all were on one node
    assert found["library"] == "0: 0:1024 nowhere:0\n"


ALWAYS_ASKED = 64
"""Of the ranges that a program frees: native/placement/policy/verify.c."""


def test_the_program_keeps_half_of_its_mappings(answers: dict[str, Any]) -> None:
    alone, *placed = answers["crowded"].values()
    assert alone["output"].endswith(f"{OWN_MAPPINGS} mappings\n")
    assert len(placed) == 3
    assert placed[0]["left"] > 0  # dataset; next touch comes back to what it had no room for
    for answer in placed:
        assert answer["output"] == alone["output"]
        assert answer["left"] < CROWD
        assert answer["decided"] >= CROWD - answer["left"] - answer["unasked"]  # a touched page each
        assert answer["unasked"] <= CROWD - ALWAYS_ASKED
        assert answer["astray"] <= answer["decided"] / 100


def test_a_program_with_userfaultfd_gets_every_fault(answers: dict[str, Any]) -> None:
    reported = answers["userfaults"]
    assert reported["alone"].count("\n128 faults, sum ") == 3
    assert reported == dict.fromkeys(reported, reported["alone"])
    assert len(reported) == 4


ENDINGS = {
    "replayed": {
        "4x4-contiguous-first-touch": "",
        "4x4-contiguous-interleave": "it ended by SIGSEGV",
        "4x1-contiguous-remote": "it ended by SIGILL",
        "4x4-contiguous-bind@1": "",
    },
    "touched": {
        "4x4-contiguous-first-touch": "",
        "4x4-contiguous-locality": "it ended by SIGFPE",
        "4x4-contiguous-balance": "it ended by SIGILL",
        "4x4-contiguous-mix": "it ended by SIGSEGV",
        "4x4-contiguous-dataset": "it ended by SIGTRAP",
    },
}


@pytest.mark.parametrize(
    ("program", "least", "output"),
    [("replayed-gcc", 1024, "9"), ("replayed-clang", 1024, "9"), ("touched-gcc", 768, "9 9")],
)
def test_replays_have_their_pages_where_their_mapping_wants_them(
    answers: dict[str, Any], program: str, least: int, output: str
) -> None:
    """By the kernel's answer to the program, in the replay: it crashes in another way for each place of its pages."""
    found = answers["replays"][program]
    problems = {label: problem for label, (problem, *_) in found.items()}
    assert problems == ENDINGS[program.partition("-")[0]]
    for _, pages, astray, said in found.values():
        assert pages > least
        assert astray <= 0.01 * pages  # such as stacks, which the fork itself has written to
        assert said == f"0: {output}\n"  # the program's own pages stay where they are


def test_a_program_that_declines_huge_pages_is_placed_by_small_ones(answers: dict[str, Any]) -> None:
    assert answers["declined"]["huge"] >= 512
    assert answers["declined"]["declined"] < 512


def test_pages_of_variables_are_where_the_kernel_says(answers: dict[str, Any]) -> None:
    """Thread 0 touched all of both first; by that alone both would be on node 0, and three quarters remote."""
    found = answers["variables"]
    heaped, spread = found["heaped"], found["spread"]
    assert not found[""]["modelled"]
    assert heaped["by_node"][0] == pytest.approx(sum(heaped["by_node"]))
    assert heaped["remote"] == pytest.approx(0.75, abs=0.25)
    assert max(spread["by_node"]) < 0.4 * sum(spread["by_node"])
    assert spread["remote"] == pytest.approx(0.75, abs=0.1)


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_teams_of_the_programs_own_choice_spread_over_the_nodes(compiler: str, answers: dict[str, Any]) -> None:
    # Four teams of four inside a team of four, then a team of eight; and the PUs that the program is told of.
    assert answers[f"teams {compiler}"] == {
        "contiguous": "0000 1111 2222 3333 00112233 16",
        "scatter": "0000 1111 2222 3333 01230123 16",
    }


@pytest.mark.parametrize("label", [*ROW_LABELS, "plan"])
def test_each_array_of_rows_is_cut_as_one_array(label: str, answers: dict[str, Any]) -> None:
    """Also rows that are allocated again in each step, and when an array gets more rows; of a plan only the former."""
    found, planned = answers["rows"][label], label == "plan"
    assert [(name, len(nodes)) for name, *nodes in found] == STEPS_OF_ROWS + ([] if planned else GROWN_ROWS)
    there = resolve(parse_label(ROW_LABELS[0] if planned else label), topology_of(Shape.parse("4x4")))
    chunks = there.os_indices(there.chunks)
    for name, *nodes in found:
        wanted = [chunks[row * len(chunks) // len(nodes)] for row in range(len(nodes))]
        right = sum(int(node) == chunk for node, chunk in zip(nodes, wanted, strict=True))
        assert right >= 0.97 * len(nodes), (name, nodes)


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_pages_follow_a_thread_when_its_share_ends(compiler: str, answers: dict[str, Any]) -> None:
    # While the main thread is still in the region, and before the next thread touches its own.
    assert answers[f"shares {compiler}"] == ["0:", "1:1:1", "2:2:2", "3:3:3"]


def test_a_program_hears_of_its_pus_as_if_restricted_to_the_mapping(answers: dict[str, Any]) -> None:
    found = answers["masks"]
    assert len(found) == 2
    for label, (restricted, placed) in found.items():
        assert placed == restricted, label
        assert len(placed.splitlines()[0].split()) == 2 + parse_label(label).threads, label


@pytest.mark.parametrize("source", ARRAYS)
def test_the_modelled_machine_places_pages_likewise(
    source: str, answers: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    request = msgspec.json.decode((folder / f"{source}.request").read_bytes(), type=ArraysRequest)
    placed, described = answers[f"arrays {source}"], machine_of((4, 4, 4, 4))
    machine = ModelledMachine(described, TraceStore(described, BUDGET))
    assert tuple(placed) == ARRAYS[source]
    for label in ARRAYS[source]:
        mapping = parse_label(label)
        addresses = tmp_path / f"addresses-{mapping.threads}"  # one trace for all mappings of as many threads
        modelled = _modelled(mapping, request.command, addresses, machine)
        assert _agreement(mapping, modelled, placed[label]) >= 0.99, label


def _modelled(mapping: Mapping, command: tuple[str, ...], file: Path, machine: ModelledMachine) -> dict[str, list[int]]:
    """Return the node of each page of each array in the model; -1 where it follows no line of the page."""
    program = Program(name="traced", command=command, environment=(("ADDRESSES", str(file)),))
    pages, nodes = machine.placement(program, mapping)
    node_of = dict(zip(pages.tolist(), nodes.tolist(), strict=True))
    latest = {name: (start, size) for name, start, size in read_addresses(file)}
    return {name: [node_of.get(page, NOWHERE) for page in pages_of(*where)] for name, where in latest.items()}


def _agreement(mapping: Mapping, modelled: dict[str, list[int]], placed: dict[str, list[int]]) -> float:
    """Return the share of pages with the same node in both, of those that both know.

    Addresses are not the same in two runs, and a round robin by address begins anywhere: it may be turned. Balancing
    takes pages in the order of the addresses or of the touches: there the pages of each node are counted.
    """
    same = total = 0
    nodes = mapping.page_nodes
    for name, expected in modelled.items():
        pairs = [(a, b) for a, b in zip(expected, placed[name], strict=False) if NOWHERE not in (a, b)]
        assert len(pairs) > len(expected) // 2, f"{name}: {len(pairs)} of {len(expected)} pages are known to both"
        total += len(pairs)
        if mapping.page_policy == "balance":
            same += sum(min(sum(a == n for a, _ in pairs), sum(b == n for _, b in pairs)) for n in range(4))
        elif mapping.page_policy == "interleave":
            same += max(sum((a + turn) % nodes == b for a, b in pairs) for turn in range(nodes))
        else:
            same += sum(a == b for a, b in pairs)
    return same / total
