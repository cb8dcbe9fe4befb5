"""The codelets' program: its list, its own checks, its errors, and results that no thread count changes."""

import functools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.campaign.codelets import codelets as codelets_found
from numapredict.native.errors import MissingNativePartError
from numapredict.native.library import codelets_program

pytestmark = pytest.mark.native

# fmt: off
NAMES = (
    "stream-copy", "stream-scale", "stream-add", "stream-triad", "nested-stream", "twisted-stream",
    "imbalanced-stream", "memory-copy", "memory-set", "jacobi-2d", "jacobi-2d-9", "jacobi-3d-7", "jacobi-3d-27",
    "rhs-3d", "gauss-seidel", "red-black", "hotspot", "srad", "line-solve-x", "line-solve-y", "line-solve-z",
    "penta-solve-x", "adi-step", "lu-wavefront", "spmv-csr", "cg-dot", "cg-axpy", "mg-restrict", "mg-prolong",
    "mg-smooth", "fft-pass", "fft-transpose", "is-ranking", "radix-sort", "prefix-sum", "kmeans-assignment", "pgain",
    "nearest-neighbour", "bfs-level", "sssp-relax", "pagerank", "connected-components", "triangle-count",
    "matrix-product", "matrix-transpose", "lu-decomposition", "triangular-solve", "needleman-wunsch", "pathfinder",
    "nbody-cells", "particle-push", "particle-filter", "mesh-gather-scatter", "btree-search", "hash-build",
    "hash-join", "table-lookup", "histogram", "reduction-tree", "shared-table", "false-sharing", "task-recursion",
    "ep-pairs", "pointer-chase",
)
# fmt: on
RESULT = re.compile(
    r"(?P<name>\S+) size=(?P<size>\w+) threads=(?P<threads>\d+) iterations=(?P<iterations>\d+) "
    r"seconds=(?P<seconds>[\d.]+) checksum=(?P<checksum>\S+)\n"
)


def codelets(*arguments: str, threads: int = 2) -> subprocess.CompletedProcess[str]:
    # More threads than cores would otherwise spin while they wait for each other.
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
    command = [str(codelets_program()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def result_of(*arguments: str, threads: int = 2) -> dict[str, str]:
    finished = codelets(*arguments, threads=threads)
    assert finished.returncode == 0, finished.stderr
    line = RESULT.fullmatch(finished.stdout)
    assert line, finished.stdout
    assert int(line["threads"]) == threads
    return line.groupdict()


@functools.cache
def listed() -> tuple[dict[str, object], ...]:
    finished = codelets("--list", "--json")
    assert finished.returncode == 0, finished.stderr
    return tuple(json.loads(finished.stdout))


def test_the_list_names_all() -> None:
    assert [codelet["name"] for codelet in listed()] == list(NAMES)


def test_a_listed_codelet_says_all_about_itself() -> None:
    for codelet in listed():
        name, sizes = codelet["name"], codelet["sizes"]
        assert set(codelet) == {"name", "family", "summary", "sizes", "initialisations", "schedules"}
        assert codelet["family"], name
        assert re.fullmatch(r"[A-Z].{30,120}\.", str(codelet["summary"])), name
        assert isinstance(sizes, dict)
        assert list(sizes) == ["tiny", "small", "medium", "large"], name
        assert 0 < sizes["small"] < 20_000_000, name  # fits one node's last-level cache
        assert sizes["small"] < sizes["medium"] < sizes["large"] < 420_000_000, name
        assert codelet["initialisations"] == ["serial", "parallel"], name
        assert codelet["schedules"] == ["static", "dynamic", "guided"], name


# These wait for arithmetic or for each other's cache lines, not for memory.
SMALLER_THAN_CACHES = {"nbody-cells", "false-sharing", "ep-pairs"}


def test_tiny_exceeds_small_caches_and_is_at_most_a_fifth_of_small() -> None:
    """An emulated machine has caches of 256 KB a node, and takes a thousand times as long for each access."""
    for codelet in listed():
        name, sizes = codelet["name"], codelet["sizes"]
        assert isinstance(sizes, dict)
        if name in SMALLER_THAN_CACHES:
            assert 0 < sizes["tiny"] < 1_000_000, name
        else:
            assert 1_000_000 <= sizes["tiny"] < 2_150_000, name
        # A matrix of 16 rows of tiles, one for each of 16 threads, is half as wide as small's.
        assert sizes["tiny"] * (4 if name == "matrix-product" else 5) <= sizes["small"], name


def test_the_list_for_people_has_a_line_for_each() -> None:
    lines = codelets("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(NAMES)


# Each result is checked against an independent answer, too; odd teams share the units unevenly.
TEAMS = ((1, "serial"), (1, "parallel"), (2, "serial"), (3, "serial"), (3, "parallel"), (4, "parallel"))
TINY_TEAMS = ((1, "serial"), (2, "parallel"), (4, "serial"), (4, "parallel"), (7, "serial"), (16, "parallel"))


@pytest.mark.parametrize(
    ("size", "teams"),
    [("tiny", TINY_TEAMS), pytest.param("small", TEAMS, marks=pytest.mark.thorough)],
    ids=["tiny", "small"],
)
@pytest.mark.parametrize("name", NAMES)
def test_results_are_right_and_the_same_with_any_number_of_threads(
    name: str, size: str, teams: tuple[tuple[int, str], ...]
) -> None:
    found = [
        result_of(name, "--size", size, "--check", "--init", initialisation, threads=threads)
        for threads, initialisation in teams
    ]
    assert len({(result["checksum"], result["iterations"]) for result in found}) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_results_are_right_under_every_schedule_and_other_data(name: str) -> None:
    checked = ("--size", "tiny", "--check", "--iterations", "7")
    one, same = (
        result_of(name, *checked, "--seed", "20130427", "--schedule", schedule) for schedule in ("dynamic", "guided")
    )
    other = result_of(name, *checked, "--seed", "2", "--schedule", "guided")
    assert one["checksum"] == same["checksum"] != other["checksum"]


def test_options_show_in_the_result() -> None:
    result = result_of("matrix-product", "--size", "small", "--iterations", "5", threads=3)
    assert (result["name"], result["size"], result["iterations"]) == ("matrix-product", "small", "5")
    assert float(result["seconds"]) > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "NAME"),
        (("no-such-codelet",), "unknown codelet 'no-such-codelet'"),
        (("pgain", "histogram"), "too many arguments 'histogram'"),
        (("pgain", "--size", "huge"), "unknown size 'huge'"),
        (("pgain", "--size"), "no value for option '--size'"),
        (("pgain", "--init", "both"), "unknown initialisation 'both'"),
        (("pgain", "--schedule", "auto"), "unknown schedule 'auto'"),
        (("pgain", "--iterations", "0"), "bad number of iterations '0'"),
        (("pgain", "--iterations", "3x"), "bad number of iterations '3x'"),
        (("pgain", "--iterations", "99999999999999999999"), "bad number of iterations"),
        (("pgain", "--seed", "-1"), "bad seed '-1'"),
        (("pgain", "--fast"), "unknown option '--fast'"),
        (("--json",), "--list --json"),
        (("--list", "pgain"), "too many arguments 'pgain'"),
    ],
)
def test_bad_usage_gets_one_line(arguments: tuple[str, ...], said: str) -> None:
    finished = codelets(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("numapredict-codelets: ")
    assert finished.stderr.count("\n") == 1
    assert said in finished.stderr


def test_too_many_threads_get_one_line() -> None:
    finished = codelets("pgain", "--size", "small", threads=1025)
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert "OMP_NUM_THREADS" in finished.stderr


def test_a_failed_allocation_gets_one_line() -> None:
    limited = ["prlimit", "--as=300000000", str(codelets_program()), "jacobi-2d", "--size", "large"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    finished = subprocess.run(limited, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 1
    assert finished.stderr == (
        "numapredict-codelets: cannot allocate 379 MB for jacobi-2d --size large; choose a smaller size\n"
    )


def test_a_missing_openmp_runtime_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader meets an empty file in its place."""
    (tmp_path / "libgomp.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(MissingNativePartError, match=r"libgomp\.so\.1: .*; install libgomp \("):
        codelets_found()
