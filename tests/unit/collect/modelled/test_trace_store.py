import errno
import os
import pickle
import sys
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.modelled import trace_store
from numapredict.collect.modelled.description import CacheShape, MachineDescription
from numapredict.collect.modelled.native_computer import NativeComputer
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.placing.census import Census
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError, UnrunnableProgramError, UnwritableError
from tests.traces import Segment, machine_of, trace_bytes
from tests.unit.collect.modelled.test_native_cycles import HERE
from tests.unit.collect.placing.test_census import census_bytes


class Tracer:
    """Stands in for the real runs and counts them."""

    def __init__(self) -> None:
        self.censuses: list[str] = []
        self.traces: list[int] = []
        self.caches: list[CacheShape] = []
        self.counted: list[dict[str, str]] = []

    def take_census(self, program: Program, _budget: TraceBudget, counted: dict[str, str]) -> bytes:
        self.counted.append(counted)
        self.censuses.append(program.name)
        return census_bytes((7, 3, 1000))

    def take_trace(
        self,
        _program: Program,
        threads: int,
        machine: MachineDescription,
        _census: Census,
        _budget: TraceBudget,
        counted: dict[str, str],
    ) -> bytes:
        self.counted.append(counted)
        self.traces.append(threads)
        self.caches.append(machine.private_cache)
        return trace_bytes([Segment(region=7, instructions=threads)])


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tracer:
    made = Tracer()
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trace_store, "take_census", made.take_census)
    monkeypatch.setattr(trace_store, "take_trace", made.take_trace)
    for name in ("tracer_plugin", "marks_library", "ranges_library"):
        (tmp_path / name).write_text("first build")
        monkeypatch.setattr(trace_store, name, lambda path=tmp_path / name: path)
    return made


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app"
    path.write_bytes(Path(sys.executable).resolve().read_bytes())
    path.chmod(0o755)
    return path


@pytest.fixture
def program(app: Path) -> Program:
    return Program(name="app", command=(str(app), "10"))


def store(budget: TraceBudget | None = None, machine: MachineDescription | None = None) -> TraceStore:
    return TraceStore(machine or machine_of(), budget)


def test_the_second_time_nothing_is_run(tracer: Tracer, program: Program, said: list[str]) -> None:
    for _ in range(2):
        fresh = TraceStore(machine_of())
        assert fresh.trace(program, 4).instructions == 4
        assert fresh.census(program).regions[0].count == 3
    assert (tracer.censuses, tracer.traces) == (["app"], [4])
    assert len(said) == 2
    assert "app: one native run" in said[0]
    assert "app: tracing with 4 threads" in said[1]


def test_every_thread_count_has_its_trace_and_all_share_a_census(tracer: Tracer, program: Program) -> None:
    for threads in (2, 4, 2):
        assert store().trace(program, threads).instructions == threads
    assert (tracer.censuses, tracer.traces) == (["app"], [2, 4])


def test_the_computer_of_a_native_run_is_kept_where_a_machine_asks_for_it(
    tracer: Tracer, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[NativeComputer | None] = [None, HERE]
    monkeypatch.setattr(trace_store, "measured_here", measured.pop)
    asks = msgspec.structs.replace(machine_of(), cycles_from_native_run=True)
    for made in (store(machine=asks), store(machine=asks), store()):
        made.census(program)
    assert store(machine=asks).computer(program) == HERE
    assert store().computer(program) is None
    assert len(tracer.censuses) == 2  # one for each kind of machine
    assert measured == [None]
    other = msgspec.structs.replace(program, command=(*program.command, "1"))
    store(machine=asks).census(other)
    assert store(machine=asks).computer(other) is None


def runs_again(tracer: Tracer, program: Program, **arguments: object) -> bool:
    before = len(tracer.traces)
    store(**arguments).trace(program, 2)  # type: ignore[arg-type]
    return len(tracer.traces) > before


def test_what_could_change_a_trace_makes_another(
    tracer: Tracer, program: Program, app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = msgspec.structs.replace
    assert runs_again(tracer, program)
    assert not runs_again(tracer, change(program, name="other", group="g", summary="s"))
    assert runs_again(tracer, change(program, command=(str(app), "11")))
    assert runs_again(tracer, change(program, command=(str(app), "1", "0")))
    assert runs_again(tracer, change(program, environment=(("SIZE", "3"),)))
    assert runs_again(tracer, change(program, directory=str(tmp_path)))
    for field, value in (("trace_s", 1.0), ("census_s", 1.0), ("instances", 2), ("records", 5000), ("seed", 2)):
        assert runs_again(tracer, program, budget=change(TraceBudget(), **{field: value})), field
    smaller = change(machine_of(), private_cache=CacheShape(1024, 2))
    assert runs_again(tracer, program, machine=smaller)
    assert not runs_again(tracer, program, machine=change(machine_of(), name="other", frequency_GHz=3.0))
    monkeypatch.setenv("OMP_SCHEDULE", "dynamic")
    assert runs_again(tracer, program)
    monkeypatch.setenv("UNRELATED", "1")
    assert not runs_again(tracer, program)
    app.write_bytes(app.read_bytes() + b"\0")
    assert runs_again(tracer, program)
    for name in ("tracer_plugin", "marks_library", "ranges_library"):
        (tmp_path / name).write_text("second build")
        assert runs_again(tracer, program)
    assert not runs_again(tracer, program)


def test_the_content_of_files_in_the_arguments_counts(tracer: Tracer, app: Path, tmp_path: Path) -> None:
    data = tmp_path / "mesh.dat"
    data.write_text("first")
    program = Program(name="app", command=(str(app), "mesh.dat"), directory=str(tmp_path))
    assert runs_again(tracer, program)
    assert not runs_again(tracer, program)
    data.write_text("other")
    assert runs_again(tracer, program)


def test_a_file_that_the_program_writes_does_not_make_it_run_again(
    tracer: Tracer, app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "result.dat"
    census, trace = tracer.take_census, tracer.take_trace
    monkeypatch.setattr(trace_store, "take_census", lambda *given: (output.write_text("native"), census(*given))[1])
    monkeypatch.setattr(trace_store, "take_trace", lambda *given: (output.write_text("traced"), trace(*given))[1])
    one = store()
    for _ in range(2):
        for threads in (2, 4):
            one.trace(Program(name="app", command=(str(app), str(output))), threads)
            one.census(Program(name="app", command=(str(app), str(output))))
    assert (tracer.censuses, tracer.traces) == (["app"], [2, 4])


def test_a_very_large_file_counts_by_its_size_and_time(
    tracer: Tracer, app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_store, "_DIGESTED_BYTES", 4)
    data = tmp_path / "mesh.dat"
    data.write_text("first")
    program = Program(name="app", command=(str(app), str(data)))
    assert runs_again(tracer, program)
    assert not runs_again(tracer, program)
    os.utime(data, (1, 1))
    assert runs_again(tracer, program)


def test_a_strange_argument_is_no_file(tracer: Tracer, app: Path) -> None:
    for argument in ("x" * 5000, "\udcff", "a\0b", "/"):
        assert runs_again(tracer, Program(name="app", command=(str(app), argument)))


@pytest.mark.parametrize("kind", ["trace", "census"])
@pytest.mark.parametrize("content", [b"", b"garbage", None])
def test_a_damaged_file_is_made_again(
    tracer: Tracer, program: Program, tmp_path: Path, kind: str, content: bytes | None
) -> None:
    wanted = store().trace(program, 2)
    (file,) = (tmp_path / "cache" / "traces").glob(f"*.{kind}")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 20] if content is None else content)
    assert store().trace(program, 2).instructions == wanted.instructions
    assert store().census(program).regions[0].count == 3
    assert (len(tracer.traces), len(tracer.censuses)) == ((2, 1) if kind == "trace" else (1, 2))
    assert file.read_bytes() == whole


def test_no_other_file_is_left_in_the_cache(tracer: Tracer, program: Program, tmp_path: Path) -> None:
    store().trace(program, 2)
    names = sorted(path.name for path in (tmp_path / "cache" / "traces").iterdir())
    assert [name.rsplit(".")[-1] for name in names] == ["trace", "census"]
    assert [len(name) for name in names] == [32 + len("-2.trace"), 32 + len(".census")]
    assert tracer.traces == [2]


def test_a_cache_that_is_a_file_is_done_without(
    tracer: Tracer, program: Program, tmp_path: Path, said: list[str]
) -> None:
    (tmp_path / "cache").write_text("in the way")
    made = store()
    for _ in range(2):
        assert made.trace(program, 2).instructions == 2
    assert (tracer.censuses, tracer.traces) == (["app"], [2])
    told = [line for line in said if "cannot write" in line]
    assert told == [
        f"cannot write the trace cache {tmp_path / 'cache' / 'traces'}: Not a directory: going on without it "
        "(NUMAPREDICT_CACHE=FOLDER names another)"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_write_permission_is_done_without(
    tracer: Tracer, program: Program, tmp_path: Path, said: list[str]
) -> None:
    (tmp_path / "cache").mkdir(mode=0o555)
    store().trace(program, 2)
    assert any("Permission denied: going on without it" in line for line in said)


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "free some space"), (errno.EROFS, "may write to"), (errno.EACCES, "may write to")],
)
def test_a_disk_that_takes_no_trace_is_told(
    tracer: Tracer, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    """As where the room for a megabyte was not enough."""

    def fail(_path: Path, _data: bytes) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(trace_store, "replace_file", fail)
    with pytest.raises(UnwritableError) as error:
        store().trace(program, 2)
    assert error.value.exit_code == 1
    assert advice in str(error.value)
    assert "\n" not in str(error.value)
    assert str(tmp_path / "cache") in str(error.value)
    assert tracer.traces == []


def test_the_files_used_longest_ago_go_when_there_are_too_many(
    tracer: Tracer, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "traces"
    folder.mkdir(parents=True)
    for name, time in (("old", 1000), ("older", 10), ("new", 2000)):
        (folder / name).write_bytes(bytes(10_000))
        os.utime(folder / name, (time, time))
    monkeypatch.setattr(trace_store, "MOST_BYTES", 25_000)
    store().trace(program, 2)
    left = {path.name for path in folder.iterdir()}
    assert "older" not in left
    assert "new" in left
    assert {name.rsplit(".")[-1] for name in left} >= {"census", "trace"}
    monkeypatch.setattr(trace_store, "MOST_BYTES", 0)
    store().trace(program, 4)
    assert [path.name[-8:] for path in folder.iterdir()] == ["-4.trace"]  # what was just made stays
    assert tracer.traces == [2, 4]


@pytest.mark.parametrize(("bound", "stays"), [("1", False), ("3", True), ("nonsense", True), ("-1", True)])
def test_a_variable_bounds_the_cache(
    tracer: Tracer, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, stays: bool
) -> None:
    folder = tmp_path / "cache" / "traces"
    folder.mkdir(parents=True)
    (folder / "old").write_bytes(bytes(2 << 20))
    os.utime(folder / "old", (1, 1))
    monkeypatch.setenv("NUMAPREDICT_CACHE_MB", bound)
    store().trace(program, 2)
    assert (folder / "old").exists() == stays


def test_a_program_that_cannot_be_traced_is_refused_before_anything_is_run(tracer: Tracer, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with pytest.raises(UnrunnableProgramError, match="script"):
        store().trace(Program(name="run", command=(str(script),)), 2)
    with pytest.raises(UnrunnableProgramError, match="no such file"):
        store().trace(Program(name="no", command=(str(tmp_path / "no"),)), 2)
    assert not (tmp_path / "cache").exists()
    assert tracer.censuses == []


def test_an_empty_census_is_not_kept_for_an_answer(
    tracer: Tracer, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_store, "take_census", lambda *_given: b"")
    with pytest.raises(InvalidInputError, match="empty census"):
        store().trace(program, 2)
    assert tracer.traces == []


def test_the_folder_can_be_given(tracer: Tracer, program: Program, tmp_path: Path) -> None:
    given = TraceStore(machine_of(), folder=tmp_path / "own")
    given.trace(program, 2)
    assert len(list((tmp_path / "own").iterdir())) == 2
    assert not (tmp_path / "cache").exists()
    assert tracer.traces == [2]


def test_a_store_can_be_sent_to_another_process() -> None:
    made = TraceStore(machine_of(), TraceBudget(seed=3))
    copy = pickle.loads(pickle.dumps(made))  # noqa: S301 - between our own processes
    assert (copy.folder, copy.budget, copy.machine) == (made.folder, made.budget, made.machine)


def test_a_copy_elsewhere_keeps_its_traces_there_and_has_the_variables_of_here(
    tracer: Tracer, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_SCHEDULE", "dynamic")
    made = store()
    sent = pickle.dumps(made)
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")  # as Dask's nanny does it
    monkeypatch.delenv("OMP_SCHEDULE")
    copy = pickle.loads(sent)  # noqa: S301 - between our own processes
    assert copy.digest(program) == made.digest(program) != store().digest(program)
    copy.trace(program, 2)
    assert [own.get("OMP_SCHEDULE") for own in tracer.counted] == ["dynamic", "dynamic"]
    assert not any("MALLOC_TRIM_THRESHOLD_" in own for own in tracer.counted)
    assert len(list((tmp_path / "elsewhere" / "traces").iterdir())) == 2


def test_a_digest_of_earlier_can_be_kept(tracer: Tracer, program: Program, app: Path) -> None:
    one = store()
    one.trace(program, 2)
    before = one.digest(program)
    app.write_bytes(app.read_bytes() + b"\0")
    other = store()
    other.keep_key(program, before)
    other.trace(program, 2)
    assert (tracer.traces, other.digest(program) == before) == ([2], False)


def test_threads_that_share_a_core_have_a_trace_with_their_part_of_its_cache(tracer: Tracer, program: Program) -> None:
    store = TraceStore(machine_of())  # 8 ways of 4 KiB
    assert not store.has_trace(program, 4, 2)
    for siblings in (1, 2, 2, 8, 16):
        store.trace(program, 4, siblings)
    assert len(tracer.censuses) == 1
    assert tracer.caches == [CacheShape(32768, 8), CacheShape(16384, 4), CacheShape(4096, 1), CacheShape(4096, 1)]
    assert store.has_trace(program, 4)
    assert store.has_trace(program, 4, 2)
    assert not store.has_trace(program, 4, 4)
