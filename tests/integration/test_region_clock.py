"""What the region clock counts of real programs, however they are built, run and end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.placing.census import FILE_BYTES, reserve_file
from numapredict.collect.placing.region_times import RegionTimes, read_region_times
from numapredict.native.library import marks_library
from tests.openmp import CLANG, GCC, SOURCES, build

pytestmark = pytest.mark.native

Run = Callable[..., tuple[subprocess.CompletedProcess[str], RegionTimes | None]]


@pytest.fixture(scope="module", params=["gcc", "gcc -no-pie", "clang"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler, *options = request.param.split()
    found = {"gcc": GCC, "clang": CLANG}[compiler]
    if not found:
        pytest.skip(f"{compiler} is not installed")
    return build("instances.c", tmp_path_factory.mktemp("instances"), found, "-pthread", *options)


@pytest.fixture
def counted(tmp_path: Path) -> Run:
    """Return what runs a command under the clock, and gives how it ended and what was counted."""

    def run(*command: object) -> tuple[subprocess.CompletedProcess[str], RegionTimes | None]:
        file = tmp_path / "regions"
        environment = {**os.environ, "LD_PRELOAD": str(marks_library()), "NUMAPREDICT_CENSUS": str(file)}
        done = subprocess.run(
            [str(part) for part in command], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        return done, read_region_times(file)

    return run


def functions(program: Path) -> dict[str, int]:
    """Return the functions of a program, with the offsets from where it begins."""
    text = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    begin = 0x400000 if "-no-pie" in program.name else 0
    return {
        parts[2]: int(parts[0], 16) - begin
        for parts in map(str.split, text.splitlines())
        if len(parts) == 3 and parts[1] in "tT"
    }


def test_a_file_that_has_its_room_already_is_filled(program: Path, counted: Run, tmp_path: Path) -> None:
    reserve_file(tmp_path / "regions")
    made = (tmp_path / "regions").stat()
    assert made.st_blocks * 512 >= made.st_size == FILE_BYTES
    done, times = counted(program, "seven")
    assert (done.returncode, times and times.regions[0].count) == (0, 7)
    assert (tmp_path / "regions").stat().st_size == FILE_BYTES


def test_instances_times_teams_and_names_are_right(program: Path, counted: Run) -> None:
    done, times = counted(program, "seven")
    assert (done.returncode, done.stdout) == (0, "14\n")
    assert times is not None
    assert [(region.count, region.team) for region in times.regions] == [(7, 2)]
    region = times.regions[0]
    assert functions(program)[region.name] == region.offset
    assert "omp" in region.name
    assert Path(region.module) == program.resolve()
    assert times.complete
    assert 0 < times.region_time_s <= times.wall_s


def test_a_region_inside_another_is_part_of_it(program: Path, counted: Run, tmp_path: Path) -> None:
    for kind in ("nested", "tasks"):
        (tmp_path / "regions").unlink(missing_ok=True)
        done, times = counted(program, kind)
        assert done.returncode == 0
        assert times is not None
        assert [region.count for region in times.regions] == [3]


def test_arguments_and_results_are_passed_on(program: Path, counted: Run) -> None:
    done, times = counted(program, "wide")
    assert done.stdout == f"{2 * sum(n * n for n in range(1, 9))}\n0\n"
    assert times is not None
    assert [region.count for region in times.regions] == [1]


def test_regions_of_two_threads_at_a_time_are_all_counted(program: Path, counted: Run) -> None:
    done, times = counted(program, "pthreads", 50_000)
    assert done.stdout == "100000\n"
    assert times is not None
    assert [(region.count, region.team) for region in times.regions] == [(100_000, 1)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_what_was_counted_survives_a_signal(program: Path, counted: Run, number: int) -> None:
    done, times = counted(program, "killed", int(number))
    assert done.returncode == -number
    assert times is not None
    assert [region.count for region in times.regions] == [5]
    assert not times.complete


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(("what", "ended"), [("killed-inside", []), ("killed-in-thread", [(5, 0, 2)])])
def test_an_instance_that_a_signal_ends_has_its_time_so_far(
    program: Path, counted: Run, number: int, what: str, ended: list[tuple[int, int, int]]
) -> None:
    done, times = counted(program, what, int(number))
    assert done.returncode == -number
    assert times is not None
    *before, last = times.regions
    assert [(region.count, region.unfinished, region.team) for region in before] == ended
    assert (last.count, last.unfinished, last.team) == (1, 1, 2)
    assert 0.02 <= last.time_s <= times.wall_s
    assert not times.complete


def test_a_child_does_not_disturb_its_parents_file(program: Path, counted: Run) -> None:
    done, times = counted(program, "fork")
    assert done.returncode == 0
    assert times is not None
    assert [region.count for region in times.regions] == [7]
    assert times.complete


def test_the_file_is_for_the_first_process_that_has_a_region(program: Path, counted: Run, tmp_path: Path) -> None:
    done, times = counted(program, "launch")
    assert done.returncode == 0
    assert times is not None
    assert [region.count for region in times.regions] == [7]
    (tmp_path / "regions").unlink()
    done, times = counted("sh", "-c", f"echo before; {program} seven; {program} fork")
    assert times is not None
    assert [region.count for region in times.regions] == [7]


@pytest.mark.parametrize(("then", "counts"), [("seven", [11]), ("nested", [4, 3]), ("nothing", [4])])
def test_a_process_that_executes_another_program_goes_on_counting(
    program: Path, counted: Run, then: str, counts: list[int]
) -> None:
    _, times = counted(program, "exec", then)
    assert times is not None
    assert [region.count for region in times.regions] == counts
    assert times.complete
    assert times.region_time_s <= times.wall_s


def test_a_file_of_another_kind_is_left_alone(program: Path, counted: Run, tmp_path: Path) -> None:
    (tmp_path / "regions").write_text("precious")
    done, times = counted(program, "seven")
    assert (done.returncode, times) == (0, None)
    assert (tmp_path / "regions").read_text() == "precious"


def test_a_damaged_file_of_the_right_size_is_left_alone(program: Path, counted: Run, tmp_path: Path) -> None:
    file = tmp_path / "regions"
    counted(program, "seven")
    damaged = bytearray(file.stat().st_size)
    damaged[5 * 8 : 6 * 8] = (1 << 40).to_bytes(8, "little")  # so many entries in use, of nobody
    file.write_bytes(damaged)
    done, _ = counted(program, "seven")
    assert done.returncode == 0
    assert file.read_bytes() == damaged


def test_without_symbols_a_region_is_named_by_module_and_offset(program: Path, counted: Run, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    _, times = counted(stripped, "seven")
    assert times is not None
    region = times.regions[0]
    assert region.name == f"stripped+{region.offset:#x}"


def module(folder: Path, name: str, runtime: Path | None) -> Path:
    """Compile module.c, with a renamed copy of gcc's runtime for its own where one is given."""
    made = folder / f"{name}.so"
    options = ["-O2", "-fPIC", "-fopenmp"]
    if runtime is None:
        subprocess.run(["gcc", *options, "-shared", SOURCES / "module.c", "-o", made], check=True)
        return made
    subprocess.run(["gcc", *options, "-c", SOURCES / "module.c", "-o", folder / f"{name}.o"], check=True)
    link = ["gcc", "-shared", folder / f"{name}.o", runtime, f"-Wl,-rpath,{folder}", "-o", made]
    subprocess.run(link, check=True)
    return made


def runtime_copy(folder: Path, name: str) -> Path:
    """Return a copy of libgomp that the loader takes for another library, as wheels for Python bring one."""
    original = subprocess.run(
        ["gcc", "-print-file-name=libgomp.so.1"], check=True, capture_output=True, text=True
    ).stdout.strip()
    data = Path(original).resolve().read_bytes()
    assert b"\0libgomp.so.1\0" in data
    copy = folder / name
    copy.write_bytes(data.replace(b"\0libgomp.so.1\0", b"\0" + name.encode() + b"\0"))
    return copy


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
@pytest.mark.parametrize("own", [False, True])
def test_a_runtime_that_only_a_loaded_module_sees_is_found(tmp_path: Path, counted: Run, own: bool) -> None:
    copies = [runtime_copy(tmp_path, f"libgom{n}.so.1") if own else None for n in range(2)]
    modules = [module(tmp_path, f"module{n}", copy) for n, copy in enumerate(copies)]
    loader = tmp_path / "loader"
    subprocess.run(["gcc", SOURCES / "loader.c", "-o", loader, "-ldl"], check=True)
    alone = subprocess.run([loader, *modules], check=True, capture_output=True, text=True, timeout=120).stdout
    assert alone == "49500\n" * 6
    done, times = counted(loader, *modules)
    assert (done.returncode, done.stdout) == (0, alone)
    assert times is not None
    assert [region.count for region in times.regions] == [3] * 4
    assert [region.team for region in times.regions] == [2, 2, 3, 3]
    assert [Path(region.module) for region in times.regions] == [modules[0], modules[0], modules[1], modules[1]]


KMEANS = """
import numpy as np
from sklearn.cluster import KMeans
points = np.random.default_rng(0).normal(size=(4000, 4))
found = KMeans(5, n_init=2, random_state=0).fit(points)
print(found.inertia_, found.cluster_centers_.tolist(), found.labels_.tolist())
"""


def test_the_runtime_in_a_python_package_is_found(counted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    python = sys.executable
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    alone = subprocess.run([python, "-c", KMEANS], check=True, capture_output=True, text=True, timeout=300).stdout
    done, times = counted(python, "-c", KMEANS)
    assert (done.returncode, done.stdout) == (0, alone)
    assert times is not None
    assert any("k_means" in region.module and region.count > 1 for region in times.regions)
