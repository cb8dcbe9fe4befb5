"""Round trips: emitted commands are run in a guest, and the tools, the runtime and the kernel report the mapping.

srun is not among them: SLURM runs on this computer itself (tests/slurm/test_emitted.py).
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placing.tools.tools import Tool
from tests.guest.batch import Batch, answer_of
from tests.guest.emitted import Outcome, Round, prepared
from tests.guest.machine import ENVIRONMENT
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.skipif(not shutil.which("likwid-pin"), reason="likwid-pin is not installed"),
    pytest.mark.usefixtures("guests"),
]

RUNNABLE: tuple[Tool, ...] = ("env", "taskset", "numactl", "hwloc", "likwid")
SHAPE, ORDER = Shape.parse("4x4", memory_only_nodes=1), (0, 1, 2, 3, 4)
PAGES = 60  # of each thread: a multiple of the numbers of nodes
DISPLAY = {"OMP_DISPLAY_AFFINITY": "TRUE", "OMP_AFFINITY_FORMAT": "affinity %n %A"}
LABELS = (
    "16x4-contiguous-first-touch",
    "4x4-contiguous-first-touch",  # spread over all cores
    "8x2-contiguous-first-touch",  # close, on some of them
    "8x4-scatter-first-touch",
    "8x4-scatter-interleave",
    "6x2-contiguous-interleave",  # some nodes
    "6x2-contiguous-interleave@4",  # page nodes beyond the thread nodes
    "8x4-contiguous-interleave@2",  # and fewer
    "4x1-contiguous-bind",
    "8x2-scatter-bind@1",
    "4x2-contiguous-remote@1",
    "4x1-contiguous-remote",
)
# likwid-pin takes some seconds for each start, and more for each thread (TOOLS). Left out are labels that give it words
# of a kind it has from others: no option (threads in another order), and numactl's --preferred in it
# (`8x2-scatter-bind@1` and SAID have that).
NOT_LIKWID = {
    "4x4-contiguous-first-touch",
    "8x2-contiguous-first-touch",
    "8x4-scatter-first-touch",
    "4x2-contiguous-remote@1",
    "4x1-contiguous-remote",
    "6x2-contiguous-interleave",
}
# All commands that are found in the guest. LIKWID's pin library starts a shell with rm, nm and grep for each thread, to
# write what the thread is into /tmp. That cannot be written there, so their 2 s a thread changed nothing but the time.
TOOLS = ("sh", "env", "printf", "taskset", "numactl", "hwloc-bind", "likwid-pin")
# What each tool cannot do with pages; what is not here must be exact.
BEYOND = {
    "env": {"interleave", "bind@1", "remote@1", "remote"},
    "taskset": set[str](),
    "numactl": set[str](),
    "hwloc": set[str](),
    "likwid": set[str](),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for compiler in (GCC, CLANG):
        program = folder / f"witness-{Path(compiler).name}"
        subprocess.run([compiler, "-O2", "-fopenmp", "-o", program, SOURCES / "witness.c", "-lnuma"], check=True)
    return folder


# What tools say themselves of the policy that they set.
SHOW, BINDING, CPUS = ("numactl", "--show"), ("hwloc-bind", "--get", "--membind", "--nodeset"), ("hwloc-bind", "--get")
SPREAD, BOUND, AWAY = "8x2-scatter-interleave@4", "4x1-contiguous-bind", "8x2-scatter-remote@1"
SAID = {
    Round("numactl", SPREAD, SHOW): (r"policy: interleave\n.*interleavemask: 0 1 2 3 ?\n",),
    Round("numactl", AWAY, SHOW): (r"policy: preferred\n", r"preferred node: 2\n", r"physcpubind: 0 1 2 3 4 5 6 7 ?\n"),
    Round("likwid", SPREAD, SHOW): (r"policy: interleave\n.*interleavemask: 0 1 2 3 ?\n",),
    Round("likwid", BOUND, SHOW): (r"policy: default\n", r"nodebind: 0 ?\n"),
    Round("likwid", AWAY, SHOW): (r"policy: preferred\n", r"preferred node: 2\n"),
    Round("hwloc", SPREAD, BINDING): (r"0x0000000f \(interleave\)",),
    Round("hwloc", AWAY, BINDING): (r"0x00000004 \(bind\)",),
    Round("hwloc", AWAY, CPUS): (r"0x000000ff",),
}
WORDS = ("a b", "", "$HOME", "it's", 'say "x"', "back\\slash", "#no", "*", "tab\tnew\nline", "-c", "${PATH}", "\\_")
WITH_WORDS = tuple(Round(tool, "2x1-contiguous-bind", ("printf", "<%s>", *WORDS)) for tool in RUNNABLE)
WITH_MEMORY_ALONE = ("4x4-scatter-remote@1", "4x4-contiguous-interleave@5")


@pytest.fixture(scope="module")
def booted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Run all rounds in one guest: a boot takes longer than most of them."""

    def witnesses(label: str, turn: int) -> list[Round]:
        compilers = (GCC, CLANG) if "first-touch" in label else ((GCC, CLANG)[turn % 2],)
        programs = [(str(folder / f"witness-{Path(compiler).name}"), str(PAGES)) for compiler in compilers]
        rounds = [Round(tool, label, program) for tool in RUNNABLE for program in programs]
        likwid = () if label in NOT_LIKWID else programs[turn % len(programs)]  # other labels give it both compilers
        return [one for one in rounds if one.tool != "likwid" or one.command == likwid]

    program = (str(folder / "witness-gcc"), str(PAGES))
    rounds = [one for turn, label in enumerate(LABELS) for one in witnesses(label, turn)]
    rounds += [Round(tool, label, program) for tool in RUNNABLE for label in WITH_MEMORY_ALONE]
    rounds.append(Round("likwid", "8x2-contiguous-interleave", program, in_domains=True))
    return in_guest([*rounds, *WITH_WORDS, *SAID], tmp_path_factory.mktemp("guest"))


@pytest.fixture
def outcomes(booted: list[Outcome]) -> list[Outcome]:
    return [one for one in booted if one.round.label in LABELS and one.round not in SAID]


def in_guest(rounds: Sequence[Round], folder: Path) -> list[Outcome]:
    tools = folder / "tools"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    batch = Batch(SHAPE, folder, ORDER)
    answer = prepared(rounds, ENVIRONMENT | DISPLAY | {"PATH": str(tools)}, batch)
    next(answer)
    batch.run(SMALL_PAGES, 1200)
    outcomes = answer_of(answer)
    assert len(outcomes) == len(rounds)
    assert [(one.text, one.stderr) for one in outcomes if one.code] == []
    return outcomes


def witnessed(outcome: Outcome) -> dict[int, tuple[str, dict[int, int]]]:
    """Return each thread's PUs and its pages by node, as the kernel told the program."""
    found = {}
    for number, pus, nodes in re.findall(r"^(\d+) ([\d,]+)((?: -?\d+:\d+)+)$", outcome.stdout, re.MULTILINE):
        pairs = (pair.split(":") for pair in nodes.split())
        found[int(number)] = (pus, {int(node): int(pages) for node, pages in pairs})
    return found


def wanted_pages(outcome: Outcome, thread: int) -> dict[int, int]:
    """Return where the pages of a thread must be; pages are dealt out evenly under interleave."""
    mapping = parse_label(outcome.applied)
    if mapping.page_policy == "first-touch":
        return {outcome.homes[thread]: PAGES}
    return dict.fromkeys(sorted(outcome.page_nodes), PAGES // len(outcome.page_nodes))


def problems(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each thread that was not, or wrote pages that were not, where the mapping says."""
    found = []
    for outcome in outcomes:
        seen = witnessed(outcome)
        wanted = {i: (str(pu), wanted_pages(outcome, i)) for i, pu in enumerate(outcome.pus)}
        if seen != wanted:
            found.append(f"{outcome.text}\n  said {seen}\n  not {wanted}")
    return found


def test_threads_and_pages_are_where_the_mapping_says(outcomes: list[Outcome]) -> None:
    assert problems(outcomes) == []


def test_places_are_named_by_kind_where_that_is_the_same(outcomes: list[Outcome]) -> None:
    named = {
        "16x4-contiguous-first-touch": "OMP_PLACES=cores OMP_PROC_BIND=close ",
        "8x2-contiguous-first-touch": "OMP_PLACES=cores OMP_PROC_BIND=close ",
        "4x4-contiguous-first-touch": "OMP_PLACES=cores OMP_PROC_BIND=spread ",
        "8x4-scatter-first-touch": "OMP_PLACES='{0}:4:4,{1}:4:4' OMP_PROC_BIND=close ",
    }
    seen = [
        (one.text, named[one.round.label]) for one in outcomes if one.round.tool == "env" and one.round.label in named
    ]
    assert len(seen) == 2 * len(named)
    assert [pair for pair in seen if pair[1] not in pair[0]] == []


def test_likwids_domains_are_the_same_threads(booted: list[Outcome]) -> None:
    outcome = next(one for one in booted if one.round.in_domains)
    assert " -c M0:0-3@M1:0-3 " in outcome.text
    assert problems([outcome]) == []


def test_what_a_tool_can_do_is_exact(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        label = outcome.round.label
        beyond = BEYOND[outcome.round.tool]
        policy = label.split("-", 2)[2]
        short = label in beyond or policy in beyond or policy.split("@")[0] in beyond
        assert outcome.exact != short, (outcome.round.tool, label)
        assert (outcome.applied == label) == outcome.exact


def test_the_runtime_reports_the_places(outcomes: list[Outcome]) -> None:
    checked = 0
    for outcome in outcomes:
        if outcome.round.tool == "likwid":
            continue
        lines = re.findall(r"^affinity (\d+) (\S+)$", outcome.stdout + outcome.stderr, re.MULTILINE)
        assert {int(n): pus for n, pus in lines} == {n: str(pu) for n, pu in enumerate(outcome.pus)}, outcome.text
        checked += 1
    assert checked >= len(outcomes) // 2


def test_likwid_pin_reports_the_mapping(outcomes: list[Outcome]) -> None:
    found = [outcome for outcome in outcomes if outcome.round.tool == "likwid"]
    assert found
    for outcome in found:
        (first,) = re.findall(r"MAIN -> (\d+)", outcome.stdout)
        others = re.findall(r"threadid \d+ -> hwthread (\d+) - OK", outcome.stdout)
        assert [int(first), *map(int, others)] == list(outcome.pus), outcome.text


def test_tools_report_the_policy_that_they_set(booted: list[Outcome]) -> None:
    said = {outcome.round: outcome for outcome in booted if outcome.round in SAID}
    assert len(said) == len(SAID)
    for of, outcome in said.items():
        for pattern in SAID[of]:
            assert re.search(pattern, outcome.stdout, re.DOTALL), (outcome.text, outcome.stdout)


def test_a_node_of_memory_alone(booted: list[Outcome]) -> None:
    outcomes = [outcome for outcome in booted if outcome.round.label in WITH_MEMORY_ALONE]
    assert len(outcomes) == len(RUNNABLE) * len(WITH_MEMORY_ALONE)
    assert problems(outcomes) == []
    assert {one.round.tool for one in outcomes if one.exact} == {"taskset", "numactl", "hwloc", "likwid"}
    assert all(one.page_nodes == (4,) for one in outcomes if "remote" in one.applied)


def test_words_come_through_whole(booted: list[Outcome]) -> None:
    outcomes = [outcome for outcome in booted if outcome.round in WITH_WORDS]
    assert len(outcomes) == len(RUNNABLE)
    for outcome in outcomes:
        assert outcome.stdout.endswith("".join(f"<{word}>" for word in WORDS)), outcome.text
