"""Real programs with real traces as a user meets them: advised on, run, or refused with one clear line."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.command import SANDY, cold, numapredict, refusal
from tests.workloads import example_program


def compiled(folder: Path, name: str, text: str, *options: str, compiler: str = "gcc") -> Path:
    source = folder / f"{name}.c"
    source.write_text(text)
    program = folder / name
    subprocess.run([compiler, "-O2", str(source), "-o", str(program), *options], check=True, capture_output=True)
    return program


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped example, with nested data that one thread initialises, built with plain gcc."""
    return example_program(tmp_path_factory.mktemp("heat"))


@pytest.fixture(scope="module")
def particles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The other example, built with clang and so with libomp."""
    program = example_program(tmp_path_factory.mktemp("particles"), "particles", "clang")
    linked = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    assert "libomp" in linked
    return program


@pytest.mark.native
@pytest.mark.parametrize("example", ["heat", pytest.param("particles", marks=pytest.mark.thorough)])
def test_advice_on_a_program_that_is_no_codelet(example: str, request: pytest.FixtureRequest) -> None:
    program: Path = request.getfixturevalue(example)
    done = numapredict(*SANDY, "--json", str(program))
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)
    assert advice["machine"] == "sandybridge-4x8"
    assert advice["modelled"] is True
    assert advice["default"] == "32x4-contiguous-first-touch"
    assert 0 < advice["low"] <= advice["speedup"] <= advice["high"]
    assert len(advice["similar"]["members"]) >= 1
    assert len({run["mapping"] for run in advice["runs"]}) == len(advice["runs"]) > 1
    assert advice["command"] == f"numapredict run --mapping {advice['mapping']} -- {program}"
    alternative = advice["alternative"]
    assert f"OMP_NUM_THREADS={alternative['mapping'].split('x')[0]} " in alternative["command"]
    assert alternative["command"].endswith(str(program))
    assert "run 1 of 4" in done.stderr
    if example == "heat":  # its first thread fills all arrays
        assert (advice["explanation"]["pages"], advice["explanation"]["binds"]) == ("one node", "one node's bandwidth")
        assert advice["explanation"]["findings"][0]["evidence"]["home_share"] > 0.9

    words = numapredict(*SANDY, "--explain", f"./{program.name}", cwd=program.parent)
    assert advice["mapping"] in words.stdout
    assert "(modelled)" in words.stdout
    assert "\n  why               " in words.stdout
    (hwloc,) = (other for other in advice["alternatives"] if other["tool"] == "hwloc")
    emitted = numapredict(*SANDY, "--emit", "hwloc", str(program))
    assert emitted.stdout == hwloc["command"] + "\n"
    assert ("cannot express" in emitted.stderr) != hwloc["exact"]
    assert ("keep what you have" if advice["keep"] else f"{advice['speedup']:.2f}x") in words.stdout


@pytest.mark.native
def test_the_program_keeps_its_own_options(tmp_path: Path) -> None:
    text = '#include <string.h>\nint main(int c, char **v) { return c == 3 && !strcmp(v[1], "--json") ? 5 : 6; }'
    program = compiled(tmp_path, "options", text)
    done = numapredict("run", "--mapping", "1x1-contiguous-bind", "--", str(program), "--json", "--machine")
    assert done.returncode == 5
    assert refusal(numapredict(*SANDY, str(program), "--json", "x")).count("exit code 5") == 1


@pytest.mark.native
def test_run_is_the_program_itself(tmp_path: Path) -> None:
    text = (
        "#include <stdio.h>\n#include <omp.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n"
        '#pragma omp parallel\n#pragma omp single\nprintf("%d threads\\n", omp_get_num_threads());\n'
        "fflush(stdout); if (c > 1) abort(); return 3; }"
    )
    program = compiled(tmp_path, "placed", text, "-fopenmp")
    done = cold("run", "--mapping", "2x1-contiguous-bind", "--", str(program))
    assert (done.returncode, done.stdout, done.stderr) == (3, "2 threads\n", "")
    assert cold("run", "--mapping", "1x1-contiguous-bind", str(program), "x").returncode == -signal.SIGABRT


BROKEN = {
    "missing": ("no such file", None),
    "script": ("is a script", "#!/bin/sh\nexit 0\n"),
    "text": ("is neither an ELF program nor a script", "hello\n"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_program_gets_one_line(tmp_path: Path, kind: str) -> None:
    expected, text = BROKEN[kind]
    program = tmp_path / kind
    if text is not None:
        program.write_text(text)
        program.chmod(0o755)
    assert expected in refusal(numapredict(*SANDY, str(program)))


def test_a_file_that_may_not_be_executed_gets_one_line(tmp_path: Path) -> None:
    program = tmp_path / "plain"
    program.write_text("hello\n")
    assert "is not executable" in refusal(numapredict(*SANDY, str(program)))


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        ("static", "int main(void) { return 0; }", ("-static",), "statically linked"),
        ("crash", "#include <stdlib.h>\nint main(void) { abort(); }", (), "SIGABRT"),
        ("serial", "int main(void) { return 0; }", (), "no OpenMP parallel region"),
        ("hang", "int main(void) { for (;;); }", (), "no parallel region within"),
    ],
)
def test_programs_that_cannot_be_advised_on(
    tmp_path: Path, name: str, text: str, options: tuple[str, ...], expected: str
) -> None:
    program = compiled(tmp_path, name, text, *options)
    assert expected in refusal(numapredict(*SANDY, "--cpu-seconds", "5", str(program)))


@pytest.mark.native
def test_a_program_that_prints_megabytes_is_advised_on(tmp_path: Path) -> None:
    text = (
        "#include <stdio.h>\nint main(void) { static double a[1 << 20]; for (int k = 0; k < 4; k++)\n"
        "#pragma omp parallel for\nfor (int i = 0; i < 1 << 20; i++) a[i] += i;\n"
        'for (int i = 0; i < 300000; i++) { puts("0123456789 0123456789"); fputs("warning\\n", stderr); }'
        "return a[5] < 0; }"
    )
    program = compiled(tmp_path, "wordy", text, "-fopenmp")
    done = numapredict(*SANDY, str(program))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) + len(done.stderr) < 10_000


@pytest.mark.native
def test_limits_hold_for_the_answer_and_its_command(heat: Path) -> None:
    done = numapredict(*SANDY, "--threads", "8", "--only", "numactl", "--json", str(heat), "64", "2")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {run["mapping"].split("x")[0] for run in found["runs"]} == {"8"}
    assert " numactl " in found["command"]
    assert "numapredict" not in found["command"]
    assert "22 mappings of 191 within the limits" in done.stderr
    none = numapredict(*SANDY, "--threads", "7", str(heat), "64", "2")
    assert "--threads 7: the mappings of sandybridge-4x8 have 1, 2, 4, 8, 16, 32 threads" in refusal(none)


@pytest.mark.native
def test_omp_num_threads_counts_on_a_described_machine_too(heat: Path) -> None:
    done = numapredict(*SANDY, "--runs", "2", "--json", str(heat), "64", "2", OMP_NUM_THREADS="6")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["baseline"] == "6x4-contiguous-first-touch"
    assert "OMP_NUM_THREADS=6: compared with the program on 6 threads" in done.stderr
    more = numapredict(*SANDY, str(heat), "64", "2", OMP_NUM_THREADS="33")
    assert "OMP_NUM_THREADS=33: sandybridge-4x8 has 32 hardware threads on 4 nodes" in refusal(more)


@pytest.mark.native
def test_an_answer_goes_on_without_a_trace_cache(heat: Path, tmp_path: Path) -> None:
    """It keeps its traces for as long as it runs: each number of threads is traced once."""
    done = numapredict(*SANDY, str(heat), NUMAPREDICT_CACHE="/proc/nowhere", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "cannot write the trace cache /proc/nowhere/traces: " in line]
    assert len(told) == 1, done.stderr
    assert "going on without it (NUMAPREDICT_CACHE=FOLDER names another)" in told[0]
    assert done.stderr.count("one native run") == 1
    assert done.stderr.count("tracing with 32 threads") == 1
    assert list(tmp_path.glob("numapredict-work-*")) == []
