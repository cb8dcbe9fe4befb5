"""What the tracer sees of real programs: regions, work, misses, first touch; for gcc and for clang."""

from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.phases import phase_trace
from tests.openmp import CAN_TRACE, CLANG, GCC, GXX, Traced, build, program_of, traced

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]

TURN = {"gcc": 4, "clang": 3}  # instructions of one turn of count_up, checked below


@pytest.fixture(scope="module", params=["gcc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    found = {"gcc": GCC, "clang": CLANG}[request.param]
    if not found:
        pytest.skip(f"{request.param} is not installed")
    return found


@pytest.fixture(scope="module")
def kernels(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("kernels.c", tmp_path_factory.mktemp("kernels"), compiler)


@pytest.fixture(scope="module")
def gcc_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("kernels.c", tmp_path_factory.mktemp("kernels"), GCC)


def run(kernels: Path, *arguments: object, threads: int = 2, **environment: str) -> Traced:
    return traced(program_of(kernels, *arguments, **environment), threads)


def test_every_region_and_instance_is_counted(kernels: Path) -> None:
    seen = run(kernels, "regions", 20_000)
    census, segments = seen.census, seen.trace.segments
    assert [region.count for region in census.regions] == [5, 2]
    assert [region.team for region in census.regions] == [2, 2]
    assert census.complete
    assert 0 < census.region_time_s < census.time_s
    assert {region.module for region in census.regions} == {kernels.name}
    assert seen.trace.marks_loaded
    assert {int(region) for region in segments["region"]} == {0, seen.region(0), seen.region(1)}
    for region, instances in ((seen.region(0), [0, 1, 2]), (seen.region(1), [0, 1])):
        for thread in range(2):
            followed = seen.chosen(region, thread=thread) & ((segments["flags"] & t.MUTED) == 0)
            assert segments["instance"][followed].tolist() == instances
    assert seen.instructions(seen.region(1), thread=0, instance=0) == pytest.approx(
        2 * seen.instructions(seen.region(0), thread=0, instance=0), rel=0.02
    )


def test_serial_stretches_are_distinguished_from_regions(kernels: Path) -> None:
    segments = run(kernels, "regions", 1000).trace.segments
    main = segments[segments["vcpu"] == 0]
    serial = main[main["region"] == 0]
    assert serial["after"][0] == 0
    assert set(serial["after"].tolist()) == {0, *main["region"].tolist()}
    assert (serial["instructions"][1:] < 1000).all()


@pytest.mark.parametrize("threads", [2, 5])
def test_instructions_follow_the_split_of_a_loop(kernels: Path, threads: int) -> None:
    n = 20_000
    seen = run(kernels, "split", n, threads=threads)
    compiler = kernels.name.split("-")[1]
    for thread in range(threads):
        done = seen.instructions(seen.region(), thread=thread)
        assert done == pytest.approx(TURN[compiler] * n * (thread + 1), rel=0.02)


def test_waiting_is_no_work_however_long_and_with_however_many(kernels: Path) -> None:
    waited = {}
    for n, threads in ((1_000, 2), (1_000_000, 2), (1_000_000, 8)):
        seen = run(kernels, "imbalance", n, threads=threads)
        worked = seen.instructions(seen.region(), thread=0)
        assert worked == pytest.approx(TURN[kernels.name.split("-")[1]] * n, rel=0.5 if n == 1_000 else 0.01)
        waited[n, threads] = [seen.instructions(seen.region(), thread=thread) for thread in range(1, threads)]
    assert max(done for listed in waited.values() for done in listed) < 5_000


def test_an_active_wait_policy_of_the_caller_changes_nothing(
    gcc_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    monkeypatch.setenv("GOMP_SPINCOUNT", "infinite")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    seen = run(gcc_kernels, "imbalance", 500_000, threads=4)
    assert seen.instructions(seen.region(), thread=3) < 5_000


def test_waiting_by_hand_is_no_work_and_ends_in_time(kernels: Path) -> None:
    planes = 40
    seen = run(kernels, "pipeline", planes, threads=16)
    turn = TURN[kernels.name.split("-")[1]]
    assert seen.trace.end in (1, 2)
    assert (seen.trace.segments["flags"] & t.SPUN).any()
    for thread in range(16):
        done = seen.instructions(seen.region(), thread=thread)
        assert done == pytest.approx(turn * 2000 * planes, rel=0.05)


def test_phases_between_barriers_are_distinguished(kernels: Path) -> None:
    n = 5_000
    seen = run(kernels, "barriers", n)
    for thread in range(2):
        mine = seen.trace.segments[seen.chosen(seen.region(), thread=thread)]
        long = mine[mine["instructions"] > n]
        assert long["phase"].tolist() == [0, 1, 2]


def test_dynamic_schedules_are_marked(kernels: Path) -> None:
    for name, environment in (("dynamic", {}), ("runtime", {"OMP_SCHEDULE": "dynamic"})):
        seen = run(kernels, name, 20_000, threads=4, **environment)
        flags = seen.trace.segments["flags"][seen.chosen(seen.region())]
        assert (flags & t.DYNAMIC).any()
        shares = [seen.instructions(seen.region(), thread=thread) for thread in range(4)]
        assert max(shares) < 3 * np.mean(shares)  # few cores here, yet no thread takes it all
    for name, environment in (("static", {}), ("runtime", {"OMP_SCHEDULE": "static"})):
        seen = run(kernels, name, 1000, **environment)
        assert not (seen.trace.segments["flags"] & t.DYNAMIC).any()


@pytest.mark.parametrize(
    ("name", "n", "chunks", "locks_of_a_thread"),
    [
        ("dynamic", 1000, 250, 0),
        ("separate", 1000, 250, 0),
        ("runtime", 1000, 250, 0),
        ("ordered", 200, 50, None),
        ("tasks", 50, 50, 0),
        ("taskloop", 1000, 50, 0),
        ("critical", 50, 0, 50),
        ("named", 50, 0, 50),
        ("locks", 50, 0, 0),  # of which a program may have thousands
    ],
)
def test_chunks_tasks_and_locks_are_counted(
    compiler: str, tmp_path: Path, name: str, n: int, chunks: int, locks_of_a_thread: int | None
) -> None:
    threads = 4
    program = build("dealt.c", tmp_path, compiler)
    seen = traced(program_of(program, name, n, OMP_SCHEDULE="dynamic,4"), threads)
    phased = phase_trace(seen.trace, seen.census, threads)
    assert phased.chunks.sum() == phased.chunks[~phased.serial].sum() == chunks
    assert phased.dynamic.any() == (chunks > 0)
    locks = phased.locks[~phased.serial].sum(axis=0)
    assert (locks == locks_of_a_thread).all() if locks_of_a_thread is not None else locks.sum() == n


def test_a_static_schedule_has_no_chunks(compiler: str, tmp_path: Path) -> None:
    seen = traced(program_of(build("dealt.c", tmp_path, compiler), "runtime", 1000, OMP_SCHEDULE="static"), 4)
    assert seen.trace.segments["chunks"].sum() == 0


def test_a_streaming_kernel_misses_once_a_line(kernels: Path) -> None:
    doubles = 100_000
    seen = run(kernels, "triad", doubles, "serial")
    region = seen.region(0)
    lines = 3 * doubles * 8 / 64
    assert seen.misses(region) == pytest.approx(lines, rel=0.15)
    assert seen.share(region, t.STREAMING) > 0.95
    assert seen.share(region, t.STORE) == pytest.approx(1 / 3, rel=0.1)
    assert seen.share(region, t.DEPENDENT) < 0.01
    for thread in range(2):
        assert seen.misses(region, thread=thread) == pytest.approx(lines / 2, rel=0.15)
    written = int((seen.flags(region) & t.WRITEBACK != 0).sum())
    assert written == pytest.approx(lines / 3, rel=0.15)


def test_a_small_working_set_misses_only_at_first(kernels: Path) -> None:
    seen = run(kernels, "triad", 400, "serial", 3)
    first, later = (seen.misses(seen.region(0), instance=instance) for instance in (0, 2))
    assert first >= 3 * 200 * 8 / 64
    assert later <= 16


def test_a_gather_is_independent(kernels: Path) -> None:
    lines = 20_000
    seen = run(kernels, "gather", lines)
    region = seen.region()
    assert seen.misses(region) == pytest.approx(2 * lines, rel=0.15)
    assert seen.share(region, t.STREAMING | t.DEPENDENT) < 0.02


@pytest.mark.parametrize("name", ["list", "walk", "indices"])
def test_a_chase_is_dependent(kernels: Path, name: str) -> None:
    lines = 20_000
    seen = run(kernels, name, lines)
    region = seen.region()
    assert seen.misses(region) == pytest.approx(2 * lines, rel=0.1)
    assert seen.share(region, t.DEPENDENT) > 0.95


def test_walking_a_list_is_work_though_it_looks_like_waiting(kernels: Path) -> None:
    lines = 20_000
    seen = run(kernels, "walk", lines)
    for thread in range(2):
        assert seen.instructions(seen.region(), thread=thread) > 3 * lines


def test_lines_that_go_back_and_forth_miss_every_time(gcc_kernels: Path) -> None:
    lock, lines = 50, 16
    seen = run(gcc_kernels, "exchange", lock)
    for thread, store in ((0, t.STORE), (1, 0)):
        flags = seen.flags(seen.region(), thread=thread)
        moved = ((flags & t.COHERENCE) != 0) & ((flags & t.STORE) == store)
        assert lines * (lock - 2) <= moved.sum() <= lines * lock + 3 * lock


def test_a_region_without_work_costs_next_to_nothing_with_either_runtime(tmp_path: Path) -> None:
    threads, turns = 4, 16
    done = {}
    for compiler in filter(None, (GCC, CLANG)):
        seen = traced(program_of(build("library.c", tmp_path, compiler), "empty", turns * threads), threads)
        done[compiler] = [
            seen.instructions(seen.region(), thread=thread, instance=instance)
            for thread in range(threads)
            for instance in range(3)
        ]
        assert max(done[compiler]) < 100 + 5 * turns
        assert min(done[compiler]) > turns
    assert max(max(done.values(), key=max)) - min(min(done.values(), key=min)) < 100


def test_what_the_program_calls_in_the_c_library_is_counted(compiler: str, tmp_path: Path) -> None:
    program, n, threads = build("library.c", tmp_path, compiler), 100, 2
    # The program's own part is less: at most n log2(n) comparisons of ten instructions each, ten around an allocation,
    # ten around a memset of 64 KB, which stores 32 bytes at once or counts once a line.
    filled = 65536 / 64
    for name, least, most in (
        ("sort", 67 * n, 400 * n),
        ("allocate", 40 * n, 400 * n),
        ("fill", filled * n, 4 * filled * n),
    ):
        seen = traced(program_of(program, name, n), threads)
        for thread in range(threads):
            done = seen.instructions(seen.region(), thread=thread, instance=2)
            assert least < done < most, name


def touchers(seen: Traced, output: Path) -> np.ndarray:
    """Return the thread that first wrote each page of the array that a triad printed."""
    address, size = output.read_text().split()
    first, last = int(address, 16) >> 12, (int(address, 16) + int(size)) >> 12
    pages = seen.trace.pages
    mine = pages[(pages["page"] >= first) & (pages["page"] < last)]
    assert len(mine) >= last - first - 1
    return np.asarray(mine["contiguous"][np.argsort(mine["page"])])


@pytest.mark.parametrize("who", ["serial", "parallel"])
def test_the_first_to_write_a_page_is_recorded(kernels: Path, tmp_path: Path, who: str) -> None:
    # The last run to write there is the emulated one, whose addresses are those of the trace.
    output = tmp_path / "array"
    seen = run(kernels, "triad", 32 * 4096, who, 1, output, threads=4)
    thread = touchers(seen, output)
    assert len(thread) == 256
    if who == "serial":
        assert (thread == 0).all()
        return
    expected = np.arange(256) // 64
    assert (thread != expected).sum() <= 4  # pages at the threads' borders
    segments = seen.trace.segments
    assert (seen.trace.pages["flags"] & 1).any()
    assert seen.region(0) in segments["region"]


def test_equal_runs_give_equal_work_and_misses(kernels: Path) -> None:
    one, two = (run(kernels, "triad", 50_000, "serial") for _ in range(2))
    for thread in range(2):
        assert one.instructions(one.region(), thread=thread) == pytest.approx(
            two.instructions(two.region(), thread=thread), rel=0.001
        )
        assert one.misses(one.region(), thread=thread) == pytest.approx(
            two.misses(two.region(), thread=thread), rel=0.02
        )


def test_an_instruction_that_repeats_counts_once_a_line(tmp_path: Path) -> None:
    size = 1 << 20
    seen = traced(program_of(build("repeated.c", tmp_path, GCC), size), threads=1)
    lines = size // 64
    for number, streams in ((0, 1), (1, 2)):
        region = seen.region(number)
        assert seen.instructions(region, instance=0) == pytest.approx(lines, rel=0.05)
        assert seen.misses(region, instance=0) == pytest.approx(streams * lines, rel=0.01)
        stored = (seen.flags(region, instance=0) & (t.STORE | t.WRITEBACK)) == t.STORE
        assert stored.sum() == pytest.approx(lines, rel=0.01)
        assert seen.share(region, t.STREAMING) > 0.99


@pytest.mark.skipif(not GXX, reason="g++ is not installed")
def test_a_c_plus_plus_program_is_traced(tmp_path: Path) -> None:
    seen = traced(program_of(build("vectors.cpp", tmp_path, GXX), 50_000))
    assert [region.count for region in seen.census.regions] == [1, 3]
    region = seen.region(1)
    assert seen.share(region, t.STREAMING) > 0.9
    assert seen.misses(region, instance=0) == pytest.approx(2 * 50_000 * 8 / 64, rel=0.15)
