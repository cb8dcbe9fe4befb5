"""`numapredict run` as a user meets it: the program's output, exit code and signals, and what is said beside them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.preloaded import built
from tests.profiles import profile_bytes

pytestmark = pytest.mark.native

NUMAPREDICT = (
    sys.executable,
    "-c",
    "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())",
)
ONE = ("run", "--mapping", "1x1-contiguous-bind")
WAYS = {"replaced": (), "reported on": ("--regions",)}
"""The program takes the command's place, or is its child."""
CORES = len(os.sched_getaffinity(0))

OPENMP = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int most = 0;
    const size_t count = 1 << 18;
    double *a = malloc(count * sizeof *a), sum = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel for reduction(+ : sum)
        for (size_t n = 0; n < count; n++)
            sum += a[n] = i;
    }
#pragma omp parallel reduction(max : most)
    most = omp_get_num_threads();
    printf("%d threads, %.0f\n", most, sum);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""

CRASH = r"""
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    free(block);
#pragma omp parallel
    abort();
}
"""


def run(*words: str, way: str = "replaced", **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command under a mapping of one thread."""
    return placed(*ONE, *WAYS[way], "--", *words, **settings)


def placed(
    *words: str, environment: dict[str, str] | None = None, **settings: object
) -> subprocess.CompletedProcess[str]:
    options: dict[str, object] = {"capture_output": True, "text": True, "timeout": 120} | settings
    merged = {**os.environ, **(environment or {})}
    return subprocess.run([*NUMAPREDICT, *words], env=merged, check=False, **options)  # type: ignore[call-overload,no-any-return]


@contextlib.contextmanager
def started(*words: str, **settings: object) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and wait until it has written `ready`."""
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | settings
    process: subprocess.Popen[str] = subprocess.Popen([*NUMAPREDICT, *words], **options)  # type: ignore[call-overload]
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    (folder / "app.c").write_text(OPENMP)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", folder / "app", folder / "app.c"], check=True)
    subprocess.run(["gcc", "-O2", "-static", "-fopenmp", "-o", folder / "static", folder / "app.c"], check=True)
    (folder / "crash.c").write_text(CRASH)
    subprocess.run(["gcc", "-O0", "-fopenmp", "-o", folder / "crash", folder / "crash.c"], check=True)
    return folder / "app"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("/nowhere/app",), "/nowhere/app: no such file"),
        (("no-such-program-here",), "no such program in PATH"),
        (("/",), "is a folder"),
    ],
)
def test_a_missing_program_gets_one_line(way: str, words: tuple[str, ...], expected: str) -> None:
    done = run(*words, way=way)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--mapping", "1x1-contiguous", "ls"), "is not a mapping's label"),
        (("--mapping", "1x1-contiguous-bind", "--use-profile", "/nowhere", "ls"), "cannot be read"),
        (("--mapping", "1x1-contiguous-bind", "--use-profile", "/bin/sh", "ls"), "no whole page-access profile"),
        (("--mapping", "1x1-contiguous-bind", "--use-profile", "/dev/zero", "ls"), "no regular file"),
        (
            ("--mapping", "1x1-contiguous-bind", "--use-profile", "/proc/self/status", "ls"),
            "no whole page-access profile",
        ),
        (("--mapping", "1x1-contiguous-bind", "--profile", "/dev/null", "ls"), "no regular file"),
        (("--mapping", "1x1-contiguous-bind", "--profile", "", "ls"), "no regular file"),
        (("--mapping", "1x1-contiguous-bind", "--", ""), "name is empty"),
        (("--mapping", "1x1-contiguous-bind", "--profile", "a", "--use-profile", "b", "ls"), "exclude each other"),
        (("--mapping", "1x1-contiguous-bind", "--plan", "a", "--use-profile", "b", "ls"), "exclude each other"),
        (("--mapping", "1x1-contiguous-first-touch", "--plan", "/nowhere", "ls"), "variables --plan"),
        (("--mapping", "1x1-contiguous-first-touch", "--plan", "/dev/zero", "ls"), "no regular file"),
        (("--mapping", "1x1-contiguous-first-touch", "--plan", "/bin/sh", "ls"), "is no plan"),
        (("--plan", "/nowhere", "ls"), "regions --plan"),
    ],
)
def test_a_mistake_gets_one_line_and_starts_nothing(words: tuple[str, ...], expected: str) -> None:
    done = placed("run", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert expected in done.stderr


def test_a_profile_that_cannot_be_written_is_said_before_anything_is_started() -> None:
    done = placed("run", "--mapping", "1x1-contiguous-bind", "--profile", "/proc/profile", "ls")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
    assert "/proc/profile cannot be written" in done.stderr


def test_a_pipe_is_no_profile_and_nobody_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for option in ("--profile", "--use-profile"):
        done = placed(*ONE, option, str(tmp_path / "pipe"), "--", "true", timeout=240)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
        assert "no regular file" in done.stderr


def test_a_large_file_that_is_no_profile_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    done = placed(*ONE, "--use-profile", str(tmp_path / "sparse"), "--", "true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    assert "no whole page-access profile" in done.stderr


def test_a_profile_goes_where_a_link_leads(app: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    assert placed(*ONE, "--profile", str(tmp_path / "link"), "--", str(app)).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_size > 0
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~umask()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_is_not_utf8_runs(app: Path, tmp_path: Path, way: str) -> None:
    program = tmp_path / os.fsdecode(b"caf\xe9 x;y%z")
    shutil.copy(app, program)
    done = placed(*ONE, *WAYS[way], "--", str(program), "3")
    assert (done.returncode, done.stdout) == (3, "1 threads, 786432\n"), done.stderr
    assert placed(*ONE, "--", os.fsdecode(b"caf\xe9")).returncode == 2
    verified = placed(*ONE, "--verify", "--profile", str(tmp_path / os.fsdecode(b"\xe9")), "--", str(program), "3")
    assert (verified.returncode, verified.stdout) == (3, "1 threads, 786432\n"), verified.stderr
    assert (tmp_path / os.fsdecode(b"\xe9")).stat().st_size > 0


def test_what_is_not_looked_at_is_counted(tmp_path: Path) -> None:
    program = built("unseen.c", tmp_path, "gcc")
    done = placed(*ONE, "--verify", "--", str(program), "1000", "0")
    shared, before = (int(number) for number in re.findall(r"(\d+) pages of (?:shared|other) memory", done.stderr))
    assert 2000 <= shared < 2100  # memfd and System V; the library knows of shared memory without a file
    done = placed(*ONE, "--verify", "--", str(program), "1000", "2000")
    shared, after = (int(number) for number in re.findall(r"(\d+) pages of (?:shared|other) memory", done.stderr))
    assert 2000 <= shared < 2100
    assert 1950 <= after - before < 2100  # reserved first; stacks differ by a page or two from run to run


def test_a_crashed_program_is_not_said_to_have_had_no_threads(app: Path) -> None:
    done = placed(*ONE, "--verify", "--", "sh", "-c", f"{app}; kill -SEGV $$")
    assert done.returncode == -signal.SIGSEGV
    done = placed(*ONE, "--verify", "--", str(app.parent / "crash"))
    assert done.returncode == -signal.SIGABRT
    assert "0 of 0" not in done.stderr


def test_an_openmp_program_runs_as_the_mapping_says_and_nothing_is_said(app: Path) -> None:
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "--", str(app), "3")
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{CORES} threads, 786432\n", "")


def test_what_placed_it_is_verified(app: Path) -> None:
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "--verify", "--", str(app), "3")
    assert (done.returncode, done.stdout) == (3, f"{CORES} threads, 786432\n")
    threads, pages, unseen = done.stderr.splitlines()
    assert threads == f"numapredict: verify: {CORES} of {CORES} threads were bound to their PU at each check"
    assert pages.startswith("numapredict: verify: ")
    assert "(100%) were on node 0" in pages
    assert re.search(r"not placed and not checked: [1-9]\d* pages of other memory \(stacks", unseen)  # at least those
    assert "shared" not in unseen


def test_regions_are_listed_by_time(app: Path) -> None:
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "--regions", "--", str(app))
    assert done.returncode == 0
    first, head, *rows = done.stderr.splitlines()
    rows, remarks = [row for row in rows if "regions: " not in row], [row for row in rows if "regions: " in row]
    assert "build it with -g" in remarks[-1]
    assert "in 2 parallel regions" in first
    assert "instances" in head
    assert len(rows) == 2
    assert sorted(row.split()[1] for row in rows) == ["1", "3"]
    assert all(row.split()[4] == str(CORES) for row in rows)
    assert all("main, app+0x" in row for row in rows)
    assert "no OpenMP parallel region" in run("true", way="reported on").stderr


def test_a_profile_is_written_and_said_to_be_of_no_use_on_one_node(app: Path, tmp_path: Path) -> None:
    profile = tmp_path / "a profile;1"
    mapping = ("run", "--mapping", f"{CORES}x1-contiguous-bind")
    done = placed(*mapping, "--profile", str(profile), "--", str(app), "3")
    assert (done.returncode, done.stdout) == (3, f"{CORES} threads, 786432\n")
    assert f"profile: {profile}: " in done.stderr
    assert profile.stat().st_size > 0
    again = placed(*mapping, "--use-profile", str(profile), "--", str(app))
    assert (again.returncode, again.stderr.count("\n")) == (0, 1)
    assert "places pages without a profile" in again.stderr


def test_variables_that_give_way_are_said_once(app: Path) -> None:
    own = {"OMP_NUM_THREADS": "7,2", "OMP_PLACES": "cores", "KMP_AFFINITY": "compact", "OMP_SCHEDULE": "static"}
    done = placed(*ONE, "--", str(app), environment=own)
    assert (done.returncode, done.stdout) == (0, "1 threads, 786432\n")
    (line,) = done.stderr.splitlines()
    assert "OMP_NUM_THREADS=7,2 becomes 1,2" in line
    assert "KMP_AFFINITY=compact, OMP_PLACES=cores left out" in line
    assert "OMP_SCHEDULE" not in line


@pytest.mark.parametrize(
    ("label", "asked"),
    [
        ("2x2-scatter-interleave", "cpus=0,1;homes=0,1;threads=contiguous;pages=interleave;nodes=0,1"),
        ("2x2-contiguous-dataset", "cpus=0,1;homes=0,1;threads=contiguous;pages=dataset;nodes=0,1;chunks=0,1"),
        ("2x1-contiguous-remote", "cpus=0,2;homes=0*2;threads=contiguous;pages=remote;nodes=1"),
        ("2x1-contiguous-locality", "cpus=0,2;homes=0*2;threads=contiguous;pages=bind;nodes=0"),
    ],
)
def test_a_computer_with_two_nodes_gets_every_mapping(label: str, asked: str) -> None:
    two = {"HWLOC_SYNTHETIC": "node:2 core:2 pu:1(indexes=0,2,1,3)"}
    done = placed("run", "--mapping", label, "--", "sh", "-c", 'echo "${NUMAPLACE%;claims=*}"', environment=two)
    assert (done.returncode, done.stderr) == (0, "")
    expected = f"version=1;{asked}\n"
    assert done.stdout == (expected.replace("contiguous", "scatter") if "scatter" in label else expected)


def test_a_static_program_comes_as_near_as_it_can(app: Path) -> None:
    two = {"HWLOC_SYNTHETIC": "node:2 core:1 pu:1"}
    words = ("run", "--mapping", "2x2-contiguous-locality", "--", str(app.parent / "static"), "3")
    done = placed(*words, environment=two)
    assert (done.returncode, done.stdout) == (3, "2 threads, 786432\n")
    assert "without it page policy locality becomes first-touch" in done.stderr


def test_a_profile_of_two_nodes_becomes_a_plan(app: Path, tmp_path: Path) -> None:
    (tmp_path / "profile").write_bytes(profile_bytes([(8, [(0, 0, 1.0), (7, 3, 1.0)])]))
    two = {"HWLOC_SYNTHETIC": "node:2 core:1 pu:1"}
    words = ("run", "--mapping", "2x2-contiguous-locality", "--use-profile", str(tmp_path / "profile"))
    script = 'plan="${NUMAPLACE##*;plan=}"; cat "${plan%;claims=*}"'
    done = placed(*words, "--", "sh", "-c", script, environment=two)
    assert done.returncode == 0
    assert done.stdout.startswith("numaplace-plan 3\nmachine ")
    assert done.stdout.endswith("range 1 0000000000000001 0 0 8\nrun 0 4 0\nrun 4 4 1\nend\n")
    pages, rescaled = done.stderr.splitlines()
    assert pages.endswith("plan: 8 pages of 1 of 1 ranges, in 2 runs")
    assert "profile is of 4 threads and the mapping has 2" in rescaled
    (tmp_path / "profile").write_bytes(profile_bytes([(8, [])]))
    done = placed(*words, "--", "sh", "-c", 'text="${NUMAPLACE%;claims=*}"; echo "${text##*;}"', environment=two)
    assert done.stdout == "nodes=0,1\n"
    assert "has no samples" in done.stderr


def test_the_callers_preloaded_library_stays(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(
        '#include <unistd.h>\n__attribute__((constructor)) static void f(void) { (void)!write(2, "own\\n", 4); }'
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "own.so", tmp_path / "own.c"], check=True)
    script = f'LD_PRELOAD={tmp_path}/own.so exec "$@"'
    command = ["sh", "-c", script, "sh", *NUMAPREDICT, *ONE, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    assert done.stderr.count("own\n") >= 2  # numapredict itself, and true


@pytest.mark.parametrize("way", WAYS)
def test_a_static_program_runs_and_its_other_placement_is_reported(app: Path, way: str) -> None:
    words = ("run", "--mapping", f"{CORES}x1-contiguous-bind", *WAYS[way], "--", str(app.parent / "static"), "3")
    done = placed(*words)
    assert (done.returncode, done.stdout) == (3, f"{CORES} threads, 786432\n")
    assert "it is statically linked; its threads are placed by OMP_PLACES" in done.stderr.splitlines()[0]
    assert ("left out without the library: --regions" in done.stderr) == (way == "reported on")


def test_a_sanitized_program_runs(app: Path, tmp_path: Path) -> None:
    program = tmp_path / "sanitized"
    command = ["gcc", "-fsanitize=address", "-fopenmp", "-o", program, app.parent / "app.c"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the sanitizers are not installed")
    done = placed(*ONE, "--", str(program), "3", environment={"ASAN_OPTIONS": "detect_leaks=0"})
    assert (done.returncode, done.stdout) == (3, "1 threads, 786432\n")
    assert "the address sanitizer" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
def test_a_program_with_other_rights_runs(app: Path) -> None:
    program = app.parent / "rights"
    shutil.copy(app, program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    for folder in list(program.parents)[:3]:
        folder.chmod(0o755)
    done = placed(*ONE, "--", str(program), "3")
    assert (done.returncode, done.stdout) == (3, "1 threads, 786432\n")
    assert "other rights" in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_balancing_is_switched_back_when_interrupted(tmp_path: Path, name: str) -> None:
    setting = tmp_path / "numa_balancing"
    setting.write_text("1\n")
    code = (
        "import sys, pathlib; from numapredict.collect.placing import reported_run;"
        "from numapredict.predictor.command_line import main;"
        f"reported_run.NUMA_BALANCING = pathlib.Path({str(setting)!r});"
        f"reported_run.SHARED = pathlib.Path({str(tmp_path / 'shared')!r}); sys.exit(main.main())"
    )
    script = f"cat {setting} >&2; echo ready; exec sleep 100"
    with subprocess.Popen(
        [sys.executable, "-c", code, *ONE, "--no-numa-balancing", "--", "sh", "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, name))
        _, errors = process.communicate(timeout=240)
    assert process.returncode == -getattr(signal, name)
    assert errors.strip() == "0"
    assert setting.read_text().strip() == "1"


@pytest.mark.parametrize("way", WAYS)
def test_a_script_hands_the_library_on(app: Path, tmp_path: Path, way: str) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{app} 0 && exec {app} 4\n")
    script.chmod(0o755)
    done = run(str(script), way=way)
    assert (done.returncode, done.stdout) == (4, "1 threads, 786432\n" * 2)
