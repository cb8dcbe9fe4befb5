"""Pages that the preload library protects for a moment, and that the program cannot tell."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.profile_file import read_profile
from numapredict.native.library import placement_library
from tests.preloaded import built

SOURCES = Path(__file__).parents[2]
NATIVE = SOURCES / "native" / "placement"
GCC = shutil.which("gcc") or ""
COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
PARTS = (
    *("protection/arming", "protection/blocks", "protection/calls", "protection/delays", "protection/holds"),
    *("protection/masks", "protection/protection", "protection/signals"),
    *(
        "process/loaded_module",
        "process/lock",
        "process/next_call",
        "process/other_threads",
        "process/side_thread",
        "memory/mapping_budget",
        "policy/moves",
        "policy/next_touch",
    ),
    "threads/processes",
    *("profile/block_firsts", "blocks/block_groups", "blocks/block_table", "blocks/placed_stacks"),
    *("blocks/call_stacks", "profile/counts", "profile/first_touches", "profile/known_ranges"),
    *(
        "profile/known_regions",
        "profile/pace",
        "profile/profile",
        "profile/profile_writer",
        "profile/short_lived",
        "stack/call_stack",
        "stack/frame_rules",
    ),
)
CASES = (
    *("together", "refused", "handlers", "alternate_stack", "own_protection", "blocked", "full_mask", "suspended"),
    *("cancellation", "deaths", "system_calls", "processes", "locality", "balance", "mix"),
)
BUILDS = {
    "plain": ("-O2",),
    "address": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-O1", "-g", "-fsanitize=thread", "-Wno-tsan"),
}
# SIGSEGV is the program's, and neither runtime calls our sigaltstack before it is ready.
OPTIONS = {
    "ASAN_OPTIONS": "handle_segv=0:allow_user_segv_handler=1",
    "TSAN_OPTIONS": "handle_segv=0:allow_user_segv_handler=1:use_sigaltstack=0",
}
PROFILED = 4  # threads

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and NATIVE.is_dir()), reason="gcc or the C sources are missing"),
]


@pytest.fixture(scope="module", params=BUILDS)
def stress(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("protection") / request.param
    tests = sorted((SOURCES / "tests" / "native").glob("protection_*.c"))
    sources = [*tests, *(NATIVE / f"{part}.c" for part in PARTS)]
    flags = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", *BUILDS[request.param], "-pthread", f"-I{NATIVE}")
    subprocess.run([GCC, *flags, *sources, "-o", program], check=True)
    return program


@pytest.mark.parametrize("case", CASES)
def test_protected_memory_is_as_any_other(stress: Path, case: str) -> None:
    if stress.name == "thread" and case in {"full_mask", "suspended"}:
        return  # the thread sanitizer blocks all signals in handlers, by a call that nobody sees
    ended = subprocess.run([stress, case], env={**os.environ, **OPTIONS}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("pages") / "pages"
    source = Path(__file__).parent / "placement" / "pages.c"
    subprocess.run([GCC, "-O2", "-fopenmp", source, "-o", program], check=True)
    return program


def ran(pages: Path, folder: Path, iterations: int, **environment: str) -> str:
    command = [str(pages), str(iterations), str(folder / "data")]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout


def placed(pages: str) -> dict[str, str]:
    cpus = sorted(os.sched_getaffinity(0))
    slots = ",".join(str(cpus[slot % len(cpus)]) for slot in range(PROFILED))
    return {
        "OMP_NUM_THREADS": str(PROFILED),
        "LD_PRELOAD": str(placement_library()),
        "NUMAPLACE": f"version=1;cpus={slots};homes=0,1,0,1;threads=contiguous;nodes=0,1;pages={pages}",
    }


@pytest.mark.parametrize("policy", ["locality", "balance", "mix"])
def test_a_program_computes_the_same_under_next_touch(pages: Path, tmp_path: Path, policy: str) -> None:
    alone = ran(pages, tmp_path, 20, OMP_NUM_THREADS=str(PROFILED))
    assert ran(pages, tmp_path, 20, **placed(policy)) == alone


@pytest.mark.parametrize("policy", ["locality", "mix", "dataset", "first-touch;profile"])
def test_a_program_may_have_its_own_sbrk(tmp_path: Path, policy: str) -> None:
    program = built("own_break.c", tmp_path, GCC)
    alone = subprocess.run(
        [program], env=os.environ | {"OMP_NUM_THREADS": str(PROFILED)}, capture_output=True, text=True, check=True
    )
    settings = f"{policy}={tmp_path / 'profile'}" if "profile" in policy else policy
    ended = subprocess.run([program], env=os.environ | placed(settings), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, alone.stdout, "")
    assert alone.stdout.endswith(" 2 1\n")


def test_a_profile_knows_which_thread_has_which_part(pages: Path, tmp_path: Path) -> None:
    environment = placed(f"first-touch;profile={tmp_path / 'profile'}")
    alone = ran(pages, tmp_path, 300, OMP_NUM_THREADS=str(PROFILED))
    assert ran(pages, tmp_path, 300, **environment) == alone
    profile = read_profile(tmp_path / "profile")
    large = [known for known in profile.ranges if known.pages == 2047]
    assert profile.slots == PROFILED
    assert profile.dropped == 0
    assert len(large) == 2
    assert profile.touched > 0
    assert large[0].first_slot >= 0
    # b is written in equal parts, thread by thread; the other accesses are to a and to the small array.
    of_b = profile.samples[large[1].first : large[1].first + large[1].count]
    touched = of_b[of_b["touches"] > 0]
    assert len(touched) > 0
    by_thread = touched["slot"] == touched["page"].astype(int) * PROFILED // large[1].pages
    assert by_thread.mean() > 0.8  # thread 0 writes all of it to the file as well


def test_a_streaming_program_is_seen_all_the_while(tmp_path: Path) -> None:
    """The thread that protects pages must not open them again by what it calls itself, its sleep above all."""
    triad = tmp_path / "triad"
    subprocess.run([GCC, "-O2", "-fopenmp", SOURCES / "tests" / "benchmarks" / "triad.c", "-o", triad], check=True)
    environment = {**os.environ, **placed(f"first-touch;profile={tmp_path / 'profile'}")}
    subprocess.run([triad, "5000000", "100", tmp_path / "times"], env=environment, check=True)
    profile = read_profile(tmp_path / "profile")
    assert profile.touched > 20  # one a turn of the thread would be 60 or more; all in vain, it was one or two
    assert profile.touched <= profile.armed


@pytest.mark.parametrize("compiler", COMPILERS)
def test_openmp_that_is_loaded_later_is_looked_after_from_then_on(tmp_path: Path, compiler: str) -> None:
    sources, module, loader = Path(__file__).parent / "placement", tmp_path / "module.so", tmp_path / "loader"
    subprocess.run([compiler, "-O2", "-fopenmp", "-shared", "-fPIC", sources / "module.c", "-o", module], check=True)
    subprocess.run([compiler, "-O2", sources / "loader.c", "-o", loader, "-ldl"], check=True)
    command = [str(loader), str(module)]
    environment = {**os.environ, **placed(f"locality;map={tmp_path / 'map'}")}
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == alone
    found = parse_map((tmp_path / "map").read_text())
    assert not found.late  # under another policy its memory from before the first region is not known
    assert {thread.slot for thread in found.threads} == set(range(PROFILED))
    assert not any(thread.wrong for thread in found.threads)
    arrays = [known for known in found.ranges if known.module == str(module) and known.pages >= 255]
    assert len(arrays) == 2  # one was there before the library knew of OpenMP
    # The second: libomp makes itself ready in the first region, by calls for which everything is open.
    decided = sum(run.count for run in arrays[1].runs if run.wanted >= 0)
    assert decided >= 255


def test_a_program_without_a_region_writes_no_profile(tmp_path: Path) -> None:
    ended = subprocess.run(["true"], env={**os.environ, **placed(f"locality;profile={tmp_path / 'p'}")}, check=False)
    assert ended.returncode == 0
    assert not (tmp_path / "p").exists()
