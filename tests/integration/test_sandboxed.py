"""Programs that forbid themselves system calls (seccomp) live on under every policy, and are measured until the end."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.census import parse_census
from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.profile_file import read_profile
from tests.preloaded import CLANG, GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
MAPPING = f"cpus={CPU}*3;homes=0,1,0;threads=contiguous;nodes=0,1"
ENDED, REGIONS = 3, 40  # sandboxed.c: its exit code, and the instances of its region before and afterwards
POLICIES = (
    "first-touch",
    "bind",
    "interleave",
    "locality",
    "balance",
    "mix",
    "dataset;chunks=0,1,0",
    "first-touch;profile={folder}/profile",
    "locality;profile={folder}/profile;report={folder}/report;map={folder}/map",
)
WAYS = ("strict", "strict first", "filter", "call", "together", "threads", "threads first")


@pytest.fixture(scope="module", params=[compiler for compiler in (GCC, CLANG) if compiler])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sandboxed.c", tmp_path_factory.mktemp("sandboxed"), request.param)


def ended(program: Path, way: str, environment: dict[str, str]) -> tuple[int, str, str]:
    """Return exit code, output and errors."""
    command = [str(program), *way.split()]
    variables = {**environment, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    run = subprocess.run(command, env=variables, check=False, capture_output=True, text=True, timeout=120)
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("way", WAYS)
def test_it_is_not_killed(program: Path, tmp_path: Path, way: str) -> None:
    if way == "threads first" and program.name.endswith("clang"):
        return  # libomp itself begins with many more calls
    alone = ended(program, way, dict(os.environ))
    assert (alone[0], alone[2]) == (ENDED, "")
    for policy in POLICIES:
        settings = f"{MAPPING};pages={policy.format(folder=tmp_path)}"
        assert (policy, ended(program, way, placed(settings, 2))) == (policy, alone)


@pytest.mark.parametrize(("way", "instances"), [("filter", 2 * REGIONS), ("threads first", REGIONS)])
def test_what_was_measured_is_kept(tmp_path: Path, way: str, instances: int) -> None:
    """Regions are counted before and afterwards; profile and map are as they were when the calls were forbidden."""
    program = built("sandboxed.c", tmp_path, GCC)
    assert ended(program, way, placed(f"{MAPPING};pages={POLICIES[-1].format(folder=tmp_path)}", 2))[0] == ENDED
    census = parse_census((tmp_path / "report").read_bytes())
    assert census is not None
    assert [region.count for region in census.regions] == [instances]
    found = read_map(tmp_path / "map")
    assert found is not None
    assert len(found.ranges) >= 3
    if "first" not in way:
        assert len(read_profile(tmp_path / "profile").ranges) >= 3


def test_a_child_that_shares_the_memory_changes_nothing_for_its_parent(tmp_path: Path) -> None:
    """After vfork the child's calls run in the parent's memory, but the restriction is the child's alone."""
    pus = sorted(os.sched_getaffinity(0))
    if len(pus) < 2:
        pytest.skip("one core has one order only")
    program = built("vforked.c", tmp_path, GCC)
    mapping = f"cpus={pus[0]},{pus[1]};homes=0,0;threads=contiguous;nodes=0;pages=first-touch"
    code, output, errors = ended(program, "", placed(mapping, 2))
    assert (code, errors) == (ENDED, "")
    before, after = output.split()
    assert before == after
    assert int(before, 16).bit_count() == 1
