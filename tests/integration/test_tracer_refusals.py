"""What cannot be traced is said in one line, and neither a refusal nor an interrupt leaves anything behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.tracing import take_census, take_trace
from numapredict.collect.placing.census import Census, parse_census
from numapredict.collect.program import Program
from numapredict.native.errors import (
    MissingNativePartError,
    NumapredictError,
    TracingError,
    UnrunnableProgramError,
    UnwritableError,
)
from tests.integration.test_tracer_limits import SCRIPT, hostile, kernels, processes, pytestmark, remaining
from tests.openmp import BUDGET, GCC, MACHINE, build, program_of, traced
from tests.traces import census_of

__all__ = ["hostile", "kernels", "pytestmark"]  # fixtures, and what they need


def refusal(kind: type[NumapredictError], program: Program, threads: int = 2, **limits: float) -> str:
    with pytest.raises(kind) as error:
        traced(program, threads, limits=limits)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("double-free", ("failed when it ran here", "SIGABRT")),
        ("segfault", ("failed when it ran here", "SIGSEGV")),
        ("exit-early", ("failed when it ran here", "exit code 5")),
        ("no-region", ("ran no OpenMP parallel region", "-fopenmp")),
        ("serial-loop", ("began no parallel region within 2 CPU seconds", "--cpu-seconds")),
    ],
)
def test_a_failing_program_is_said_to_fail(hostile: Path, name: str, reasons: tuple[str, ...]) -> None:
    message = refusal(TracingError, program_of(hostile, name), census_s=1.0)
    assert message.startswith(hostile.name)
    for reason in reasons:
        assert reason in message
    assert remaining(str(hostile)) == []


def test_a_program_that_fails_with_this_many_threads_only_is_said_to(hostile: Path) -> None:
    message = refusal(TracingError, program_of(hostile, "four-fail"), threads=4)
    assert "SIGABRT" in message
    assert "OMP_NUM_THREADS=4" in message
    assert traced(program_of(hostile, "four-fail"), threads=3).trace.segments.size


def test_a_program_that_allows_itself_no_files_is_no_failed_program(tmp_path: Path) -> None:
    message = refusal(UnwritableError, program_of(build("small_files.c", tmp_path, GCC)))
    assert "File too large" in message
    assert "ulimit -f" in message


def test_a_run_that_the_emulator_lost_is_tried_again(hostile: Path, tmp_path: Path) -> None:
    program = program_of(hostile, "crash-once", tmp_path / "was-here")
    data = take_trace(program, 2, MACHINE, census_of((1, 1, 1.0)), BUDGET)
    assert (tmp_path / "was-here").exists()
    assert t.parse_trace(data, "x").end == 1


def test_a_program_whose_regions_come_too_late_is_said_to_need_time(kernels: Path) -> None:
    message = refusal(TracingError, program_of(kernels, "gather", 4_000_000), trace_s=0.05)
    assert "reached no parallel region within 0 CPU seconds" in message


def test_what_is_no_program_is_refused(kernels: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\nexec {kernels} regions\n")
    script.chmod(0o755)
    assert "is a script" in refusal(UnrunnableProgramError, program_of(script))
    static = build("kernels.c", tmp_path, GCC, "-static")
    assert "statically linked" in refusal(UnrunnableProgramError, program_of(static, "regions"))
    (tmp_path / "text").write_text("hello")
    assert "not executable" in refusal(UnrunnableProgramError, program_of(tmp_path / "text"))
    assert "no such file" in refusal(UnrunnableProgramError, program_of(tmp_path / "missing"))
    assert "no such folder" in refusal(
        UnrunnableProgramError, msgspec.structs.replace(program_of(kernels), directory=str(tmp_path / "missing"))
    )
    assert "cannot start" in refusal(UnrunnableProgramError, program_of(kernels, "a\0b"))


@pytest.mark.parametrize("starter", ["env A=1", "taskset -c {cpu}", "bash {folder}/wrap.sh", "nice", "numactl --all"])
def test_a_program_that_starts_another_is_told_to_name_that(kernels: Path, tmp_path: Path, starter: str) -> None:
    """Some become the other one, some wait for it: for all of them the message is the script's."""
    (tmp_path / "wrap.sh").write_text('"$@"; exit $?\n')
    words = starter.format(cpu=min(os.sched_getaffinity(0)), folder=tmp_path).split()
    program = Program(name=words[0], command=(*words, str(kernels), "regions"))
    message = refusal(UnrunnableProgramError, program)
    asked = f"a model traces one program: name the program that it starts, {kernels}"
    assert message == f"{words[0]} starts another program; {asked}"


def test_an_instruction_that_the_emulator_lacks_is_named(tmp_path: Path) -> None:
    """The native run is left out: this computer's processor may lack it, too."""
    program = program_of(build("wide.c", tmp_path, GCC, "-mavx512f"))
    with pytest.raises(TracingError, match=r"emulator lacks, such as AVX-512; build it with -march=x86-64-v3 in place"):
        take_trace(program, 2, MACHINE, census_of((1, 1, 1.0)), BUDGET)


def test_a_missing_emulator_is_named(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingNativePartError, match="packaging/install"):
        take_trace(program_of(kernels, "regions"), 2, MACHINE, Census((), 1.0, 0.0, complete=True), BUDGET)


@pytest.mark.parametrize("in_environment", [False, True])
@pytest.mark.parametrize(
    ("words", "message"),
    [  # of Ubuntu 24.04's QEMU, and of one in whose interface the tracer's version is too old
        ("qemu: unknown option 'plugin'", "built without plugins"),
        (
            "qemu-x86_64: Could not load plugin p.so: plugin requires API version 2, but this QEMU supports only a "
            "minimum version of 9",
            "another plugin interface than the tracer; use QEMU 7.2 to 10.0: .* minimum version of 9",
        ),
    ],
)
def test_an_emulator_that_cannot_trace_is_named(
    words: str, message: str, *, in_environment: bool, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one in the environment of this Python goes before that in the PATH."""
    emulator = tmp_path / "bin" / "qemu-x86_64"
    emulator.parent.mkdir()
    emulator.write_text(f'#!/bin/sh\necho "{words}" >&2\nexit 1\n')
    emulator.chmod(0o755)
    if in_environment:
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
    else:
        monkeypatch.setenv("PATH", str(emulator.parent), prepend=":")
    with pytest.raises(MissingNativePartError, match=f"{emulator}.*{message}"):
        take_trace(program_of(kernels, "regions"), 2, MACHINE, Census((), 1.0, 0.0, complete=True), BUDGET)


def test_a_relative_path_is_found_in_the_program_s_folder(kernels: Path) -> None:
    program = Program(name="k", command=(f"./{kernels.name}", "regions", "100"), directory=str(kernels.parent))
    assert [region.count for region in traced(program).census.regions] == [5, 2]


@pytest.mark.parametrize(
    ("what", "word", "left"), [(("loop-after",), "", []), (("regions", "300000000"), "qemu", ["census"])]
)
def test_an_interrupt_leaves_nothing_half_done(
    kernels: Path, hostile: Path, tmp_path: Path, what: tuple[str, ...], word: str, left: list[str]
) -> None:
    program = hostile if what[0] == "loop-after" else kernels
    temporary, cache = tmp_path / "temporary", tmp_path / "cache"
    temporary.mkdir()
    environment = dict(
        os.environ,
        TMPDIR=str(temporary),
        NUMAPREDICT_CACHE=str(cache),
        PYTHONPATH=os.pathsep.join(path for path in sys.path if path),
    )
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(program), *what], stderr=subprocess.PIPE, env=environment
    )
    try:
        while not processes(str(program), word):
            assert running.poll() is None
            time.sleep(0.02)
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate()
    finally:
        running.kill()
    assert running.returncode == -signal.SIGINT, errors.decode()
    assert b"KeyboardInterrupt" in errors
    assert list(temporary.iterdir()) == []
    assert [path.suffix[1:] for path in cache.rglob("*") if path.is_file()] == left
    assert remaining(str(program)) == []


def test_a_program_is_counted_with_the_census_file_gone_afterwards(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert parse_census(take_census(program_of(hostile, "well"), BUDGET)) is not None
    traced(program_of(hostile, "well"))
    assert list(tmp_path.iterdir()) == []
