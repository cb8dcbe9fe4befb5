"""The PUs that a program hears of, sets and hands on are those it would have without the library."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.preloaded import GCC, built, built_by, placed

CPUS = sorted(os.sched_getaffinity(0))
FIRST, OTHER = CPUS[0], CPUS[-1]

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(len(CPUS) != 2, reason="the mapping of these tests is of all the PUs that they may use"),
]
SETTINGS = f"cpus={FIRST},{OTHER};homes=0*2;threads=contiguous;pages=bind;nodes=0"


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "affinity.c", tmp_path_factory.mktemp("affinity"))


def both(program: Path, *words: object) -> tuple[list[str], list[str]]:
    """Return the lines of a run without the library and of one with it."""
    plain = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [str(program), *map(str, words)]
    runs = (
        subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=240)
        for env in (plain, placed(SETTINGS, 2))
    )
    first, second = (run.stdout.splitlines() for run in runs)
    return first, second


def kernel(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("kernel")]


def heard(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("kernel")]


def test_a_program_hears_of_all_pus_of_the_mapping(program: Path) -> None:
    plain, under = both(program, "ask")
    assert under == plain
    assert f"0 self {FIRST} {OTHER}" in under
    assert f"0 other {FIRST} {OTHER}" in under


def test_what_a_program_sets_holds_until_it_sets_all(program: Path) -> None:
    plain, under = both(program, "set", OTHER)
    assert heard(under) == heard(plain)
    assert f"0 when set {OTHER}" in under
    region = "kernel in a region"
    (child,) = (line for line in plain if "child" in line)  # libomp gives a child all PUs
    assert kernel(under) == [
        *(f"{region} {FIRST}",) * 2,
        f"kernel when set {OTHER}",
        *(f"{region} {OTHER}",) * 2,
        child,
        f"kernel when set back {FIRST}",
        *(f"{region} {FIRST}",) * 2,
    ]


def test_a_thread_that_is_given_a_mask_keeps_it(program: Path) -> None:
    plain, under = both(program, "attributes", FIRST)  # its slot is the other PU
    assert heard(under) == heard(plain)
    # The last one has the main thread's attributes, and so the library's choice.
    assert kernel(under) == [f"kernel in a thread {pu}" for pu in (FIRST, FIRST, OTHER)]


def test_children_begin_with_all_pus_of_the_mapping(program: Path) -> None:
    plain, under = both(program, "start")
    assert heard(under) == heard(plain)
    assert len(heard(under)) == 6
    assert kernel(under) == [f"kernel again {FIRST}"]  # where no program was found


def test_a_mask_that_another_thread_sets_meanwhile_holds(tmp_path: Path) -> None:
    """The first region of a thread binds it to the first slot; the mask may come before, after, or in the middle."""
    threads = 2000
    command = [str(built("set_by_another.c", tmp_path, GCC)), str(OTHER), str(threads)]
    done = subprocess.run(command, env=placed(SETTINGS, 2), check=True, capture_output=True, text=True, timeout=240)
    assert done.stdout == f"{threads}\n"
