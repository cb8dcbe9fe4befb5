"""Heap memory that a program has given back under the library: the mapping's memory policy goes with it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.preloaded import GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
# One node is enough: the kernel refuses policies for the second where it is missing, and all pages go to the first.
MAPPING = f"cpus={CPU}*2;homes=0*2;threads=contiguous;nodes=0,1"
DEFAULT, PREFERRED = 0, 1  # linux/mempolicy.h
TURNS = [PREFERRED, DEFAULT, PREFERRED, DEFAULT]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("freed.c", tmp_path_factory.mktemp("freed"), GCC)


def modes(program: Path, environment: dict[str, str]) -> list[int]:
    """Return the modes that the program has found."""
    done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True, timeout=240)
    return [int(mode) for mode in done.stdout.split()]


def test_without_the_library_no_memory_has_a_policy(program: Path) -> None:
    assert modes(program, dict(os.environ)) == [DEFAULT] * 4


def test_freed_memory_loses_the_policy_of_its_chunk(program: Path) -> None:
    assert modes(program, placed(f"{MAPPING};pages=dataset;chunks=0*2", 2)) == TURNS


def test_freed_memory_loses_the_policy_of_its_plan(program: Path, tmp_path: Path) -> None:
    modes(program, placed(f"{MAPPING};pages=first-touch;map={tmp_path / 'map'}", 2))
    lines = (line.split() for line in (tmp_path / "map").read_text().splitlines())
    keys = dict.fromkeys(tuple(words[1:6]) for words in lines if words[0] == "range" and words[1] != "4")  # verify.h
    plan = "".join(f"range {' '.join(key)}\nrun 0 {key[-1]} 0\n" for key in keys)
    (tmp_path / "plan").write_text(f"numaplace-plan 3\n{plan}")
    assert modes(program, placed(f"{MAPPING};pages=locality;plan={tmp_path / 'plan'}", 2)) == TURNS


def test_small_blocks_in_freed_memory_are_found_turn_by_turn(tmp_path: Path) -> None:
    program = built("reused.c", tmp_path, GCC)
    assert modes(program, placed(f"{MAPPING};pages=dataset;chunks=0*2", 2)) == [PREFERRED] * 4
