"""Mappings that a mapping's policies have cut: the program moves, grows and splits them as it would alone."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
# One node is enough: the kernel refuses policies for the second where it is missing, which cuts memory all the same.
MAPPING = f"cpus={CPU}*4;homes=0,0,1,1;threads=contiguous;nodes=0,1"
POLICIES = (
    "dataset;chunks=0,0,1,1",
    "dataset;chunks=0,1,0,1",
    "locality",
    "balance",
    "mix",
    "interleave",
    "first-touch;profile={folder}/profile",
    "locality;plan={folder}/plan",
)
PREFERRED = 1  # linux/mempolicy.h
MOST_MAPPINGS = Path("/proc/sys/vm/max_map_count")
BLOCKS_PER_MAPPING = 0.3  # each is cut into four pieces and its first page
PROFILED_BLOCKS_PER_MAPPING = 0.52  # of each, a page is watched that nobody touches: two pieces


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("remapped.c", tmp_path_factory.mktemp("remapped"), GCC)


def output(*command: object, environment: dict[str, str]) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True, timeout=120).stdout


def write_plan(program: Path, folder: Path) -> int:
    """Write a plan of two halves for every range that the program has, and return their number."""
    output(program, environment=placed(f"{MAPPING};pages=first-touch;map={folder / 'map'}", 4))
    found = read_map(folder / "map")
    assert found is not None
    keys = {(*known.key, known.pages) for known in found.ranges if known.kind != 4}  # verify.h
    lines = ["numaplace-plan 3"]
    for kind, site, slot, order, pages in sorted(keys):
        lines += [f"range {kind} {site:016x} {slot} {order} {pages}", f"run 0 {pages // 2} 0"]
        lines += [f"run {pages // 2} {pages - pages // 2} 1"]
    (folder / "plan").write_text("\n".join(lines) + "\n")
    return len(keys)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_call_answers_as_without_the_library(program: Path, tmp_path: Path, policy: str) -> None:
    if "plan" in policy:
        assert write_plan(program, tmp_path) > 5
    alone = output(program, environment={**os.environ, "OMP_NUM_THREADS": "4"})
    assert alone.count("refused, errno") == 3
    settings = f"{MAPPING};pages={policy.format(folder=tmp_path)}"
    assert output(program, environment=placed(settings, 4)) == alone


def test_what_has_grown_or_is_left_is_placed_anew(program: Path) -> None:
    modes = output(program, "modes", environment=placed(f"{MAPPING};pages=dataset;chunks=0,0,1,1", 4))
    assert [int(mode) for mode in modes.split()] == [PREFERRED] * 6


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("crowded.c", tmp_path_factory.mktemp("crowded"), GCC)


@pytest.mark.parametrize("policy", POLICIES[1:7])
def test_half_of_the_mappings_are_the_programs(crowded: Path, tmp_path: Path, policy: str) -> None:
    most = int(MOST_MAPPINGS.read_text())
    if most > 2 * 65530:
        pytest.skip(f"{MOST_MAPPINGS} is {most}: to come up to it takes too long")
    blocks = round(most * (PROFILED_BLOCKS_PER_MAPPING if "profile" in policy else BLOCKS_PER_MAPPING))
    alone = output(crowded, blocks, environment={**os.environ, "OMP_NUM_THREADS": "4"})
    assert alone.endswith("1000 mappings\n")
    settings = f"{MAPPING};pages={policy.format(folder=tmp_path)};map={tmp_path / 'map'}"
    assert output(crowded, blocks, environment=placed(settings, 4)) == alone
    found = read_map(tmp_path / "map")
    assert found is not None
    least = blocks / 10 if "dataset" in policy else 0  # next touch comes back to what it had no room for
    assert least <= found.left < blocks * 9 / 10
    if policy.startswith(("interleave", "first-touch")):
        assert found.left == 0


def test_memory_that_comes_and_goes_leaves_its_room_to_others(crowded: Path, tmp_path: Path) -> None:
    """One after the other, more blocks are cut than there is room for at a time: 6553."""
    churn = tmp_path / "churn"
    source = tmp_path / "churn.c"
    source.write_text(
        "#include <stdlib.h>\n#include <omp.h>\n"
        "int main(void) { for (int i = 0; i < 8000; i++) { volatile char *block = malloc(200000); block[0] = 1;"
        " free((void *)block); } return omp_get_max_threads() < 1; }\n"
    )
    subprocess.run([GCC, "-O1", "-fno-builtin", "-fopenmp", "-o", churn, source], check=True)
    output(churn, environment=placed(f"{MAPPING};pages=dataset;chunks=0,1,0,1;map={tmp_path / 'map'}", 4))
    found = read_map(tmp_path / "map")
    assert found is not None
    assert found.left == 0
