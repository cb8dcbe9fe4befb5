"""Tracing is bounded, leaves nothing behind, and says in one line why a program cannot be traced."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled import tracing
from numapredict.collect.modelled.phases import phase_trace
from numapredict.collect.modelled.tracing import take_census, take_trace
from numapredict.collect.placing.allowance import TimeAllowance
from numapredict.collect.placing.census import parse_census
from numapredict.collect.placing.process import Ending
from numapredict.native.errors import TracingError
from numapredict.native.library import marks_library
from tests.openmp import BUDGET, CAN_TRACE, CLANG, GCC, MACHINE, Traced, build, program_of, traced
from tests.traces import census_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("kernels.c", tmp_path_factory.mktemp("kernels"), GCC)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("hostile.c", tmp_path_factory.mktemp("hostile"), GCC)


def limited(kernels: Path, *arguments: object, **limits: float) -> Traced:
    return traced(program_of(kernels, *arguments), limits=limits)


# ---- bounds ----


def test_a_trace_ends_when_every_region_was_seen_often_enough(kernels: Path) -> None:
    seen = limited(kernels, "many", 10_000, instances=2)
    assert seen.trace.end == 2
    segments = seen.trace.segments[seen.chosen(seen.region(), thread=0)]
    followed = segments[(segments["flags"] & t.MUTED) == 0]
    assert followed["instance"].tolist() == [0, 1]
    assert seen.census.regions[0].count == 10_000
    assert len(segments) < 5_000


def test_a_trace_goes_on_until_it_has_instances_of_every_size(kernels: Path) -> None:
    program = program_of(kernels, "many", 10_000)
    census = limited(kernels, "many", 10_000).census
    work_s = tuple(1e-9 if n % 10 else 1e-7 for n in range(100))
    region = msgspec.structs.replace(census.regions[0], work_s=work_s)
    data = take_trace(program, 2, MACHINE, replace(census, regions=(region,)), BUDGET)
    trace = t.parse_trace(data, "x")
    assert trace.end == 2
    followed = trace.segments[(trace.segments["flags"] & t.MUTED) == 0]
    assert np.unique(followed["instance"][followed["region"] == region.key]).tolist() == [*range(91)]


def test_a_trace_ends_when_its_time_is_spent(kernels: Path) -> None:
    seen = limited(kernels, "regions", 200_000_000, trace_s=1.0)
    assert seen.trace.end == 3
    assert (seen.trace.segments["flags"] & t.CUT_OFF).any()


def test_a_trace_ends_when_its_instructions_are_spent(kernels: Path) -> None:
    seen = limited(kernels, "split", 100_000_000, instructions=2_000_000)
    assert seen.trace.end == 4
    assert seen.trace.instructions > 2_000_000


def test_a_trace_that_wants_more_than_there_is_ends_with_the_program(kernels: Path) -> None:
    program = program_of(kernels, "regions", 1000)
    data = take_trace(program, 2, MACHINE, census_of((1, 1, 1.0)), BUDGET)
    trace = t.parse_trace(data, "x")
    assert trace.end == 1
    assert not (trace.segments["flags"] & t.CUT_OFF).any()


def test_few_records_make_the_sampling_coarser_and_keep_the_count(kernels: Path) -> None:
    doubles = 200_000
    lines = 3 * doubles * 8 / 64
    shifts = []
    for records in (1_000_000, 60_000, 8_000):
        seen = limited(kernels, "triad", doubles, "serial", records=records)
        assert len(seen.trace.records) <= records
        assert seen.trace.end == 2
        assert seen.misses(seen.region()) == pytest.approx(lines, rel=0.2)
        assert seen.share(seen.region(), t.STREAMING) > 0.9
        shifts.append(seen.trace.sample_shift)
    assert shifts[0] == 0 < shifts[1] < shifts[2]


def test_instructions_are_counted_on_when_there_is_no_room_for_records(kernels: Path) -> None:
    doubles = 4_000_000
    roomy, cramped = (limited(kernels, "triad", doubles, "serial", records=n) for n in (1_000_000, 14_000))
    assert (cramped.trace.end, cramped.trace.sample_shift) == (2, 8)
    assert (cramped.trace.segments["flags"] & t.UNRECORDED).any()
    lines = []
    for seen in (roomy, cramped):
        region = seen.region()
        phased = phase_trace(seen.trace, seen.census, 2)
        followed = np.bincount(phased.phase, minlength=len(phased.weight)) * phased.stands_for * phased.lines_per_record
        lines.append((followed * phased.weight)[~phased.serial].sum())
        assert phased.share == 1.0
        assert seen.instructions(region) > 0
    assert (phased.stands_for > 1.1).any()
    assert lines[1] == pytest.approx(lines[0], rel=0.25)


# ---- programs that do more than compute ----


@pytest.mark.parametrize("name", ["fork-before", "fork-after", "start-another", "leave-one-behind", "print", "well"])
def test_a_program_may_do_other_things_outside_its_regions(hostile: Path, name: str) -> None:
    seen = traced(program_of(hostile, name))
    assert [region.count for region in seen.census.regions] == [2]
    assert seen.instructions(seen.region(), thread=1, instance=0) > 20_000
    assert remaining(str(hostile)) == []


def test_a_program_with_a_mind_of_its_own_about_threads_is_seen_as_it_is(hostile: Path) -> None:
    seen = traced(program_of(hostile, "own-threads"), threads=2)
    assert seen.census.regions[0].team == 3
    assert seen.trace.threads == 3
    slots = seen.trace.segments["contiguous"][seen.chosen(seen.region())]
    assert sorted(set(slots.tolist())) == [0, 1]  # as under the preload library: three threads share two slots


def test_nested_regions_belong_to_the_outer_one(kernels: Path) -> None:
    seen = traced(program_of(kernels, "nested", 100_000), threads=4)
    assert [region.count for region in seen.census.regions] == [1]
    work = [seen.instructions(seen.region(), thread=thread) for thread in range(4)]
    assert min(work) > 0.95 * max(work) > 200_000  # two teams of two: four threads with the same work


def test_inner_teams_take_the_slots_that_the_preload_library_gives_them(kernels: Path) -> None:
    seen = traced(program_of(kernels, "nested", 10_000), threads=4)
    segments = seen.trace.segments[seen.chosen(seen.region())]
    slots = {(int(s["contiguous"]), int(s["scattered"])) for s in segments if s["instructions"] > 10_000}
    # Outer thread 1 has the slots 2 and 3 of contiguous ones, and 1 and 3 of those dealt out in turn.
    assert slots == {(0, 0), (1, 2), (2, 1), (3, 3)}
    assert seen.trace.follows_thread_policy
    for policy, expected in (("contiguous", [0, 1, 2, 3]), ("scatter", [0, 2, 1, 3])):
        phased = phase_trace(seen.trace, seen.census, 4, policy)
        thread = phased.instructions[~phased.serial].sum(axis=0)
        assert (thread > 20_000).all()
        owner = np.repeat(seen.trace.segments["contiguous"], seen.trace.segments["records"].astype(np.int64))
        assert set(phased.thread.tolist()) <= {expected[n] for n in set(owner.tolist())}


def test_tasks_after_a_threads_share_are_work_of_the_region_dealt_out_at_run_time(kernels: Path) -> None:
    tasks = 400
    done = {}
    for threads in (1, 4):
        seen = traced(program_of(kernels, "tasks", tasks), threads=threads)
        mine = seen.chosen(seen.region())
        done[threads] = int(seen.trace.segments["instructions"][mine].sum())
        assert (seen.trace.segments["flags"][mine] & t.DYNAMIC).any()
        phased = phase_trace(seen.trace, seen.census, threads)
        assert phased.dynamic[~phased.serial].any()
        assert phased.instructions[phased.serial].sum() < 0.1 * done[threads]
    assert done[4] == pytest.approx(done[1], rel=0.02)
    assert done[1] > tasks * 20_000


def test_work_of_a_new_thread_is_not_that_of_the_region_of_an_ended_one(kernels: Path) -> None:
    n = 20_000
    seen = traced(program_of(kernels, "apart", n), threads=4, limits={"instances": 4})
    region = seen.region()
    for instance in range(4):
        work = [seen.instructions(region, thread=thread, instance=instance) for thread in range(4)]
        assert n < max(work) < 10 * n  # each thread's own work is a hundred times its share
    serial = seen.trace.segments["instructions"][seen.trace.segments["region"] == 0].sum()
    assert serial > 4 * 100 * n * 3


def test_the_threads_that_take_chunks_share_them_where_the_others_do_not_come(kernels: Path) -> None:
    seen = traced(program_of(kernels, "late", 20_000), threads=8)
    one, other = (seen.instructions(seen.region(), thread=thread) for thread in range(2))
    assert max(one, other) < 2 * min(one, other)


def test_a_program_that_sleeps_in_its_region_is_stopped(hostile: Path) -> None:
    seen = traced(program_of(hostile, "sleep-inside"), limits={"census_s": 0.3, "trace_s": 0.6})
    assert [(region.count, region.unfinished) for region in seen.census.regions] == [(1, 0), (1, 1)]
    assert seen.trace.end == 3
    assert remaining(str(hostile)) == []


def test_what_comes_late_is_traced_and_what_was_touched_before_is_known(tmp_path: Path) -> None:
    """Far more serial work than the tracer follows as a whole."""
    program, doubles = build("late.c", tmp_path, GCC), 32 * 4096
    one, two = (traced(program_of(program, doubles, 150, tmp_path / "arrays"), threads=4) for _ in range(2))
    first, last = one.region(), one.trace.segments
    before = last[(last["region"] == 0) & (last["after"] == 0)]
    assert before["instructions"].sum() > 6e8
    unrecorded = (before["flags"] & t.UNRECORDED) != 0
    assert before["instructions"][unrecorded].sum() > 3e8
    for line in (tmp_path / "arrays").read_text().splitlines():
        address, size = (int(word, 16) for word in line.split())
        pages = two.trace.pages  # the file is of the later run
        mine = pages[(pages["page"] >= address >> 12) & (pages["page"] < (address + size) >> 12)]
        assert len(mine) >= (size >> 12) - 1
        assert (mine["contiguous"] == 0).all(), line
        assert (mine["flags"] & 1).all(), line
    lines = 2 * doubles * 8 / 64
    assert one.misses(first, instance=0) == pytest.approx(lines, rel=0.15)
    for thread in range(4):
        work = [seen.instructions(first, thread=thread, instance=0) for seen in (one, two)]
        assert work[0] == pytest.approx(work[1], rel=0.001)
        assert work[0] == pytest.approx(one.instructions(first, thread=0, instance=0), rel=0.01)


def test_a_program_that_never_ends_after_its_regions_is_traced(hostile: Path) -> None:
    seen = traced(program_of(hostile, "loop-after"), limits={"census_s": 0.5})
    assert not seen.census.complete
    assert seen.trace.end == 2
    assert remaining(str(hostile)) == []


@pytest.mark.parametrize("compiler", [pytest.param(GCC, marks=pytest.mark.thorough), CLANG])
def test_a_region_that_outlives_both_runs_is_traced_up_to_its_latest_barrier(compiler: str, tmp_path: Path) -> None:
    program = build("outliving.c", tmp_path, compiler)
    for _ in range(5):  # a busy computer may slow some steps of the native run, which then are not alike
        seen = traced(program_of(program, 20_000, 10**9), limits={"census_s": 1.0, "trace_s": 4.0})
        phased = phase_trace(seen.trace, seen.census, 2)
        if phased.share == 1.0:
            break
    short, long = seen.census.regions
    assert (short.count, short.unfinished) == (1, 0)
    assert (long.count, long.unfinished, long.team) == (1, 1, 2)
    assert long.time_s > 0.5 * seen.census.time_s
    assert seen.trace.end == 3
    assert phased.share == 1.0
    # A step is three barriers, and all that the native run passed are accounted for.
    in_long = phased.barriers * phased.weight
    assert in_long[~phased.serial].sum() == pytest.approx(long.barriers + 1)
    assert long.barriers > 30
    work = seen.trace.segments[seen.chosen(long.key, thread=0)]["instructions"].tolist()
    assert work[6:9] == pytest.approx(work[3:6], rel=0.02, abs=2000)


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_a_warm_up_does_not_stand_for_the_steps_at_another_rate_that_follow_it(compiler: str, tmp_path: Path) -> None:
    program = program_of(build("warming.c", tmp_path, compiler), 4_000_000, 20_000, 600, 10**9)
    seen = traced(program, limits={"census_s": 1.5, "instructions": 100_000_000})
    (region,) = seen.census.regions
    assert (region.count, region.unfinished, seen.trace.end) == (1, 1, 4)
    passed = int(seen.trace.segments["phase"].max())
    assert 100 < passed < 2 * 600 < region.barriers
    assert len(region.passed_s) == region.barriers.bit_length()
    phased = phase_trace(seen.trace, seen.census, 2)
    assert 0 < phased.share < 0.7


def test_a_long_serial_start_takes_nothing_from_the_trace(tmp_path: Path) -> None:
    program = program_of(build("late.c", tmp_path, GCC), 4096, 1000, tmp_path / "arrays")
    census = parse_census(take_census(program, BUDGET))
    assert census is not None
    least = msgspec.structs.replace(BUDGET, trace_s=1.5 * census.before_first_region_s)
    trace = t.parse_trace(take_trace(program, 2, MACHINE, census, least), "x")
    assert trace.end == 2
    soon = replace(census, before_first_region_s=0.0)
    less = msgspec.structs.replace(BUDGET, trace_s=census.before_first_region_s / 2)  # emulated, it takes longer
    with pytest.raises(TracingError, match="reached no parallel region"):
        take_trace(program, 2, MACHINE, soon, less)


def test_what_a_program_prints_is_its_own(hostile: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = dict(os.environ, OMP_NUM_THREADS="2")
    plain = subprocess.run([hostile, "well"], capture_output=True, env=environment, check=True)
    assert plain.stdout.startswith(b"sum ")
    counted = dict(environment, LD_PRELOAD=str(marks_library()), NUMAPREDICT_CENSUS=str(tmp_path / "census"))
    census = subprocess.run([hostile, "well"], capture_output=True, env=counted, check=True)
    assert parse_census((tmp_path / "census").read_bytes()) is not None
    printed: list[tuple[bytes, bytes]] = []

    def run(command: Sequence[str], variables: dict[str, str], directory: str | None, allowed: TimeAllowance) -> Ending:
        done = subprocess.run(
            command, capture_output=True, env=variables, cwd=directory, timeout=allowed.wall_s, check=False
        )
        printed.append((done.stdout, done.stderr))
        return Ending(1.0, done.returncode, False, "")

    monkeypatch.setattr(tracing, "run_process", run)
    trace = t.parse_trace(take_trace(program_of(hostile, "well"), 2, MACHINE, census_of((1, 1, 1.0)), BUDGET), "x")
    assert trace.end == 1
    assert printed[-1] == (census.stdout, census.stderr) == (plain.stdout, plain.stderr)


SCRIPT = """
import sys
from pathlib import Path
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.program import program_of
from tests.traces import machine_of
TraceStore(machine_of((8, 8)), TraceBudget(census_s=60.0, trace_s=60.0)).trace(program_of(tuple(sys.argv[1:])), 2)
"""


def remaining(path: str) -> list[int]:
    """Return the processes of a program that stay: a killed orphan, which nobody here can wait for, takes its time."""
    end_s = time.monotonic() + 60.0
    while (found := processes(path)) and time.monotonic() < end_s:
        time.sleep(0.02)
    return found


def processes(path: str, word: str = "") -> list[int]:
    """Return the processes with both texts on their command line, this one and its parents not counted."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if path in command and word in command and SCRIPT[:20] not in command:
                found.append(int(entry.name))
    return found
