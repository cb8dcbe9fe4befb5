"""What the preload library notes of a program's allocations, and that the program cannot tell."""

import subprocess
from pathlib import Path

import pytest

from tests.ranges_only import (
    CLANG,
    CLANGXX,
    GCC,
    GXX,
    HEAP,
    MAPPED,
    NATIVE,
    STATIC,
    Ended,
    build,
    build_library,
    ended,
)

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and GXX and NATIVE.is_dir()), reason="gcc, g++ or the C sources are missing"),
]


LARGE = 300000  # allocate.c
LEAST = 64 << 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("allocations")


@pytest.fixture(scope="module")
def library(folder: Path) -> str:
    return str(build_library(folder))


@pytest.fixture(scope="module")
def allocate(folder: Path) -> Path:
    return build("allocate.c", folder, GCC)


@pytest.fixture(scope="module")
def allocate_cpp(folder: Path) -> Path:
    return build("allocate.cpp", folder, GXX, "-std=c++20")


@pytest.fixture(scope="module")
def churn(folder: Path) -> Path:
    return build("churn.c", folder, GCC)


def noted(library: str, tmp_path: Path, *command: object, **environment: str) -> Ended:
    return ended(*command, LD_PRELOAD=library, RANGES=str(tmp_path / "ranges"), **environment)


def unnoticed(library: str, tmp_path: Path, *command: object) -> Ended:
    """Run a program alone, with the library idle, noting ranges, and protecting them: always the same."""
    alone = ended(*command)
    runs = (
        ended(*command, LD_PRELOAD=library),
        noted(library, tmp_path, *command),
        noted(library, tmp_path, *command, ARMED="1"),
    )
    for run in runs:
        assert (run.code, run.output) == (alone.code, alone.output)
    assert not runs[0].ranges
    assert runs[2].ranges
    return runs[1]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_c_program_runs_as_without_the_library(library: str, folder: Path, tmp_path: Path, compiler: str) -> None:
    path = {"gcc": GCC, "clang": CLANG}[compiler]
    if not path:
        pytest.skip(f"{compiler} is not installed")
    run = unnoticed(library, tmp_path, build("allocate.c", folder, path))
    assert run.code == 3
    assert run.dropped == 0


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_cpp_program_runs_as_without_the_library(library: str, folder: Path, tmp_path: Path, compiler: str) -> None:
    path = {"g++": GXX, "clang++": CLANGXX}[compiler]
    if not path:
        pytest.skip(f"{compiler} is not installed")
    run = unnoticed(library, tmp_path, build("allocate.cpp", folder, path, "-std=c++20"))
    assert run.code == 4
    assert "refused: std::bad_alloc" in run.output


def test_operators_of_a_library_loaded_locally_are_found(library: str, folder: Path, tmp_path: Path) -> None:
    loader = build("local_loader.c", folder, GCC)
    loaded = build("local_library.cpp", folder, GXX, "-shared", "-fPIC")
    run = unnoticed(library, tmp_path, loader, loaded)
    assert run.output.startswith("refused: std::bad_alloc\n1005\n")
    large = [r for r in run.ranges if r.size_bytes == 4 << 20]
    assert {r.module for r in large} == {str(loaded)}
    assert [r.order for r in large] == [0, 1, 2]


def test_keys_are_the_same_in_every_run(library: str, tmp_path: Path, allocate: Path, allocate_cpp: Path) -> None:
    for program in (allocate, allocate_cpp):
        first, second = (noted(library, tmp_path, program) for _ in range(2))
        heap = [r.key for r in first.ranges if r.kind == HEAP]
        put_back = int(program == allocate)  # the block whose realloc was refused
        assert len(set(heap)) == len(heap) - put_back > 20
        assert {r.key for r in first.ranges} == {r.key for r in second.ranges}


def test_a_site_counts_its_allocations(library: str, tmp_path: Path, allocate: Path) -> None:
    ranges = [r for r in noted(library, tmp_path, allocate).ranges if r.kind == HEAP and r.size_bytes == LARGE]
    loops = [r.offset for r in ranges if r.order == 2]
    assert len(loops) == 1
    assert [r.order for r in ranges if r.offset == loops[0]] == [0, 1, 2]
    others = {r.offset for r in ranges} - set(loops)
    assert len(others) >= 7  # malloc, posix_memalign, memalign, valloc, pvalloc, kept, the one freed at once


def test_all_kinds_of_allocation_are_noted_at_the_programs_calls(
    library: str, tmp_path: Path, allocate: Path, allocate_cpp: Path
) -> None:
    run = noted(library, tmp_path, allocate)
    assert {r.module for r in run.ranges} == {str(allocate)}
    assert all(r.size_bytes >= LEAST for r in run.ranges)
    # The second grew out of the first; a page of it is protected, and then its half is unmapped: twice there is a rest.
    rests = [(2 << 20) - 3 * 4096, (1 << 20) - 3 * 4096]
    assert [r.size_bytes for r in run.ranges if r.kind == MAPPED] == [1 << 20, 2 << 20, *rests, 1 << 19, 1 << 20]
    assert sorted(r.size_bytes for r in run.ranges if r.size_bytes in (3 * LARGE, 4096 * 64)) == [
        4096 * 64,
        3 * LARGE,
        3 * LARGE,
    ]
    run = noted(library, tmp_path, allocate_cpp)
    own = [r for r in run.ranges if r.module == str(allocate_cpp)]
    assert sum(r.size_bytes == 100000 for r in own) == 4
    assert sum(r.size_bytes == 256000 for r in own) == 2
    assert sum(r.size_bytes == 160000 for r in own) == 8 * 200


def named_statics(program: Path) -> set[tuple[int, int]]:
    """Return address and size of the large objects in writable sections, as nm has them."""
    done = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    large = {(int(r[0], 16), int(r[1], 16), r[3]) for r in rows if len(r) == 4 and r[2] in "bBdD"}
    return {(at, size) for at, size, name in large if size >= LEAST and name != "big_names"}


@pytest.mark.parametrize("options", [(), ("-no-pie",), ("-fcommon", "-Wl,-z,now")])
def test_static_objects_are_those_of_the_symbol_table(
    library: str, folder: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    program = build("allocate.c", tmp_path, GCC, *options)
    statics = [r for r in noted(library, tmp_path, program).ranges if r.kind == STATIC]
    assert {(r.offset, r.size_bytes) for r in statics} == named_statics(program)
    assert len(statics) == 2
    assert all((r.slot, r.order) == (0, 0) for r in statics)


def test_without_symbols_a_segment_is_one_object(library: str, folder: Path, tmp_path: Path) -> None:
    program = build("allocate.c", tmp_path, GCC, "-s")
    known = named_statics(build("allocate.c", folder, GCC))
    run = unnoticed(library, tmp_path, program)
    statics = [r for r in run.ranges if r.kind == STATIC]
    assert len(statics) == 1
    start, end = statics[0].offset, statics[0].offset + statics[0].size_bytes
    assert all(start <= at and at + size <= end for at, size in known)


def test_threads_that_free_each_others_blocks(library: str, tmp_path: Path, churn: Path) -> None:
    run = noted(library, tmp_path, churn, 20000, 8, 0, ARMED="1")
    assert run.code == 0
    assert run.dropped == 0


@pytest.mark.thorough
def test_a_thousand_forks_while_others_allocate(library: str, tmp_path: Path, churn: Path) -> None:
    run = noted(library, tmp_path, churn, 200000, 4, 1000, ARMED="1")
    assert run.code == 0


@pytest.mark.thorough
def test_ten_million_blocks_from_eight_threads(library: str, tmp_path: Path, churn: Path) -> None:
    alone = ended(churn, 10_000_000, 8, 0)
    run = noted(library, tmp_path, churn, 10_000_000, 8, 0)
    assert run.code == alone.code == 0
    assert run.dropped == 0
