"""The launcher: what it counts is what `perf stat` counts, and a program cannot tell that it is there.

`perf stat` counts the launcher with its program in the same run, so that both count the same events: what differs is
what the launcher does itself.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from numapredict.collect.measuring.counters.perf.counts import EventCount, read_counts
from numapredict.collect.placing.launcher import (
    LaunchedEvent,
    Launching,
    launcher_command,
    read_time_s,
    write_arguments,
)
from numapredict.native.library import launcher_program
from tests.native_parts import path_or_nothing

GCC, PERF = (shutil.which(name) or "" for name in ("gcc", "perf"))
LAUNCHER = path_or_nothing(launcher_program)

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (LAUNCHER and GCC), reason="the launcher is not built, or gcc is not installed"),
]

# linux/perf_event.h: PERF_TYPE_SOFTWARE with PERF_COUNT_SW_TASK_CLOCK, _PAGE_FAULTS and _CONTEXT_SWITCHES.
SOFTWARE = {"task-clock": 1, "page-faults": 2, "context-switches": 3}
CPUS = tuple(sorted(os.sched_getaffinity(0)))
TIMEOUT_S = 60


def event(name: str, cpus: tuple[int, ...] = ()) -> LaunchedEvent:
    return LaunchedEvent(f"{name}.cpus" if cpus else name, 1, (SOFTWARE[name], 0, 0), cpus)


def launched(command: Sequence[str], output: Path | None = None) -> tuple[str, ...]:
    """Return the command of a program that is counted, so that the launcher stays."""
    return launcher_command(command, {}, Launching((event("page-faults"),), output))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("launcher") / "program"
    source = Path(__file__).with_name("launcher.c")
    subprocess.run([GCC, "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", path, source], check=True)
    return str(path)


@pytest.mark.skipif(not PERF, reason="perf is not installed")
@pytest.mark.parametrize(
    ("children", "threads"), [(0, 0), (0, 4), (3, 0), (2, 3)], ids=["alone", "threads", "children", "both"]
)
def test_counts_are_those_of_perf_stat(children: int, threads: int, program: str, tmp_path: Path) -> None:
    pages, sleeps = 3000, 40
    workers = (children + 1) * max(threads, 1)
    events = tuple(event(name, cpus) for name in SOFTWARE for cpus in ((), CPUS))
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs"
    command = launcher_command(
        (program, str(children), str(threads), str(pages), str(sleeps)), {}, Launching(events, ours)
    )
    stat = (PERF, "stat", "-x", ",", "-o", str(theirs), "-e", ",".join(SOFTWARE), "--", *command)
    subprocess.run(stat, check=True, capture_output=True, timeout=TIMEOUT_S)
    counts = read_counts(ours)
    found = {name: sum(count.value for count in counts if count.event == name) for name in SOFTWARE}
    # The third field is the event, with ":u" where this user may not count the kernel.
    fields = [line.split(",") for line in theirs.read_text().splitlines() if line.count(",") > 2]
    expected = {row[2].partition(":")[0]: float(row[0]) for row in fields}
    assert workers * pages <= found["page-faults"] <= workers * (pages + 60) + 400
    assert 0 <= expected["page-faults"] - found["page-faults"] <= 400
    # task-clock: perf has milliseconds, we have nanoseconds; the launcher itself needs a few.
    assert 0 <= expected["task-clock"] - found["task-clock"] / 1e6 <= 15
    if not any(count.user_only for count in counts):  # no switch is in user mode
        assert found["context-switches"] >= workers * sleeps
    assert 0 <= expected["context-switches"] - found["context-switches"] <= 30


def test_counts_by_cpu_add_up_to_those_of_the_program(program: str, tmp_path: Path) -> None:
    counts = counted((program, "1", "4", "2000", "20"), tmp_path, event("page-faults"), event("page-faults", CPUS))
    total = next(count for count in counts if count.cpu is None)
    parts = [count for count in counts if count.cpu is not None]
    assert tuple(count.cpu for count in parts) == CPUS
    assert sum(count.value for count in parts) == pytest.approx(total.value, abs=20)
    # Running time on a CPU is the program's time there: traffic.py builds on that.
    assert sum(count.running_ns for count in parts) == pytest.approx(total.running_ns, rel=0.02, abs=1e6)


def counted(command: Sequence[str], folder: Path, *events: LaunchedEvent) -> tuple[EventCount, ...]:
    file = folder / "counts.json"
    whole = launcher_command(command, {}, Launching(events, file))
    subprocess.run(whole, check=True, capture_output=True, timeout=TIMEOUT_S)
    return read_counts(file)


def test_an_event_that_cannot_be_opened_keeps_nothing_from_running(tmp_path: Path) -> None:
    beyond = max(CPUS) + 1000
    unknown = LaunchedEvent("unknown", 1, (999, 0, 0))
    offline = LaunchedEvent("offline", 1, (2, 0, 0), (beyond,))
    counts = counted(("true",), tmp_path, unknown, event("page-faults"), offline)
    assert [(count.event, count.cpu) for count in counts] == [
        ("unknown", None),
        ("page-faults", None),
        ("offline", beyond),
    ]
    assert counts[0].errno != 0
    assert counts[1].errno == 0
    assert counts[1].value > 0
    assert counts[2].errno != 0


def test_libnuma_would_refuse_the_whole_list_of_cpus(tmp_path: Path) -> None:
    """This is why native/launcher/request.c reads lists itself: above, only the missing CPU's counter fails."""
    source, program = tmp_path / "parse.c", tmp_path / "parse"
    source.write_text(
        "#include <numa.h>\nint main(int n, char **list) { return !numa_parse_cpustring_all(list[n - 1]); }"
    )
    subprocess.run([GCC, "-o", program, source, "-lnuma"], check=True)
    known, beyond = CPUS[0], max(CPUS) + 1000
    parsed = {text: subprocess.run([program, text], check=False, capture_output=True).returncode == 0
              for text in (f"{known}", f"{known},{beyond}")}  # fmt: skip
    assert parsed == {f"{known}": True, f"{known},{beyond}": False}


def test_all_on_a_cpu_are_counted_system_wide(tmp_path: Path) -> None:
    clock = LaunchedEvent("clock", 1, (0, 0, 0), (CPUS[0],), system_wide=True)
    count = counted(("sleep", "0.2"), tmp_path, clock)[0]
    if count.errno:
        assert os.geteuid() != 0
        assert count.errno in {1, 13}
    else:  # the program sleeps, and the CPU's clock goes on
        assert count.value >= 0.19e9
        assert count.cpu == CPUS[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may not count the kernel")
def test_a_user_who_may_not_count_the_kernel_counts_the_program(program: str, tmp_path: Path) -> None:
    level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    file = tmp_path / "counts.json"
    reader, writer = os.pipe()  # the user may not enter the test's folders
    command = launcher_command(("true",), {}, Launching((event("page-faults"),), Path(f"/proc/self/fd/{writer}")))
    os.fchown(writer, 65534, 65534)
    launcher = os.open(command[0], os.O_RDONLY)  # nor those that it is installed in
    with os.fdopen(reader, "rb") as pipe:
        subprocess.run(
            command,
            executable=f"/proc/self/fd/{launcher}",
            check=False,
            user=65534,
            group=65534,
            extra_groups=[],
            pass_fds=[writer, launcher],
            timeout=240,
        )
        os.close(launcher)
        os.close(writer)
        file.write_bytes(pipe.read())
    count = read_counts(file)[0]
    assert (count.errno != 0, count.user_only) == ((True, False) if level > 2 else (False, level == 2))


ENDS: tuple[tuple[str, int], ...] = (
    ("exit 0", 0),
    ("exit 1", 1),
    ("exit 255", 255),
    ("kill -TERM $$", -signal.SIGTERM),
    ("kill -KILL $$", -signal.SIGKILL),
    ("ulimit -c 0; kill -SEGV $$", -signal.SIGSEGV),
    ("kill -40 $$", -40),
)


@pytest.mark.parametrize(("script", "code"), ENDS)
@pytest.mark.parametrize("stays", [True, False], ids=["counted", "replaced"])
def test_the_launcher_ends_as_its_program(script: str, code: int, stays: bool) -> None:
    command = ("sh", "-c", script)
    whole = launched(command) if stays else launcher_command(command, {})
    finished = subprocess.run(whole, check=False, capture_output=True, timeout=TIMEOUT_S)
    assert (finished.returncode, finished.stdout, finished.stderr) == (code, b"", b"")


@pytest.mark.parametrize("stays", [True, False], ids=["counted", "replaced"])
def test_what_cannot_be_started_is_one_line(stays: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("#!/bin/sh\n")
    for name, code, reason in (
        ("./nothing", 127, "No such file or directory"),
        ("./file", 126, "Permission denied"),
        ("./file/below", 127, "Not a directory"),
    ):
        whole = launched((name,)) if stays else launcher_command((name,), {})
        finished = subprocess.run(whole, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=TIMEOUT_S)
        assert finished.returncode == code
        assert finished.stderr == f"numapredict-launch: {name} cannot be started: {reason}\n"


@pytest.mark.parametrize("name", ["./nothing", "./file", "true"])
def test_the_error_number_of_the_start_goes_to_its_descriptor(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("#!/bin/sh\n")
    with (tmp_path / "number").open("wb") as number:
        subprocess.run(
            launcher_command((name,), {}, Launching(with_process=os.getpid(), start_error=number.fileno())),
            check=False,
            capture_output=True,
            cwd=tmp_path,
            pass_fds=(number.fileno(),),
            timeout=TIMEOUT_S,
        )
    expected = {"./nothing": str(errno.ENOENT), "./file": str(errno.EACCES), "true": ""}
    assert (tmp_path / "number").read_text() == expected[name]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--",),
        ("true",),
        ("--event",),
        ("--event", "a=1:2", "--", "true"),
        ("--event", "a=1:2@task:", "--", "true"),
        ("--event", "a=1:2@task:3-1", "--", "true"),
        ("--event", "a=1:2@task:0,", "--", "true"),
        ("--event", "a=1:2@elsewhere:0", "--", "true"),
        ("--event", "a=1:2:3:4:5@task", "--", "true"),
        ("--event", "a=x:2@task", "--", "true"),
        ("--event", "a=-1:2@task", "--", "true"),
        ("--event", "a=1:99999999999999999999@task", "--", "true"),
        ("--event", 'a"=1:2@task', "--", "true"),
        ("--event", "=1:2@task", "--", "true"),
        ("--set", "=1", "--", "true"),
        ("--set", "A", "--", "true"),
        ("--start-error", "-1", "--", "true"),
        ("--start-error", "2x", "--", "true"),
        ("--start-error", "999999", "--", "true"),
        ("--join", "/nonexistent/tasks", "--", "true"),
        ("--event", "a=1:2@task", "--join", "/nonexistent/tasks", "--", "true"),
        ("--event", "a=1:2@task", "--output", "/nonexistent/file", "--", "true"),
        ("--arguments", "/nonexistent/file"),
        ("--arguments", "/proc/self/limits"),
    ],
)
def test_bad_arguments_are_one_line_and_a_code_of_their_own(arguments: tuple[str, ...]) -> None:
    finished = subprocess.run([LAUNCHER, *arguments], check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert finished.returncode == 125
    assert finished.stderr.startswith("numapredict-launch: ")
    assert finished.stderr.count("\n") == 1


def test_arguments_come_from_a_file_with_their_blanks_and_quotes(tmp_path: Path) -> None:
    command = ("sh", "-c", 'printf "%s|" "$@" "$A"; exit 3', "sh", "a b", "", "\"c'", "d\ne", "--set")
    words = launcher_command(command, {"A": " x\ty "}, Launching((event("page-faults"),), tmp_path / "counts.json"))
    whole = write_arguments(words, tmp_path / "arguments")
    assert len(whole) == 3
    finished = subprocess.run(whole, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (finished.returncode, finished.stdout) == (3, "a b||\"c'|d\ne|--set| x\ty |")
    assert read_counts(tmp_path / "counts.json")[0].value > 0


@pytest.mark.parametrize("stays", [True, False], ids=["counted", "replaced"])
def test_variables_input_descriptors_and_limits_are_the_programs(stays: bool, tmp_path: Path) -> None:
    script = (
        "import os, resource, sys; files = sorted(map(int, os.listdir('/proc/self/fd'))); "
        "print(os.environ['A'], sys.stdin.read(), files, resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    events = (event("page-faults", CPUS),) if stays else ()
    join = tmp_path / "tasks"
    launching = Launching(events, tmp_path / "counts.json" if stays else None, join)
    whole = launcher_command((sys.executable, "-c", script), {"A": "own"}, launching)
    finished = subprocess.run(
        ["bash", "-c", 'ulimit -S -n 40 && ulimit -H -n 400 && exec "$@"', "bash", *whole],
        input="typed",
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, "A": "the launcher's"},
    )
    # The fourth descriptor is the folder being listed.
    assert finished.stdout == "own typed [0, 1, 2, 3] (40, 400)\n"
    assert finished.stderr == ""
    assert int(join.read_text()) > 0


def test_more_counters_than_the_soft_limit_of_files_are_opened(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    events = tuple(LaunchedEvent(f"e{i}", 1, (2, 0, 0)) for i in range(100))
    whole = launcher_command(("true",), {}, Launching(events, file))
    subprocess.run(["bash", "-c", 'ulimit -S -n 32; exec "$@"', "bash", *whole], check=True, timeout=TIMEOUT_S)
    assert [count.errno for count in read_counts(file)] == [0] * 100
    subprocess.run(["bash", "-c", 'ulimit -n 32; exec "$@"', "bash", *whole], check=True, timeout=TIMEOUT_S)
    assert {count.errno for count in read_counts(file)} == {0, 24}


def test_the_process_that_joins_is_the_program(tmp_path: Path) -> None:
    for events in ((), (event("page-faults"),)):
        join = tmp_path / "tasks"
        whole = launcher_command(("sh", "-c", "echo $$"), {}, Launching(events, join=join))
        finished = subprocess.run(whole, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert finished.stdout == join.read_text()


def test_the_programs_own_time_is_written_down(tmp_path: Path) -> None:
    clock = tmp_path / "time"
    for command, code in ((("sleep", "0.2"), 0), (("sh", "-c", "sleep 0.2; exit 7"), 7)):
        wrapped = launcher_command(command, {}, Launching(time=clock))
        assert subprocess.run(wrapped, check=False).returncode == code
        time_s = read_time_s(clock)
        assert time_s is not None
        assert time_s >= 0.2
    clock.unlink()
    assert subprocess.run(launcher_command(("/no/such",), {}, Launching(time=clock)), check=False).returncode == 127
    assert read_time_s(clock) is None
    assert read_time_s(tmp_path / "none") is None


def test_who_starts_it_must_still_be_there() -> None:
    mine = launcher_command(("echo", "here"), {}, Launching(with_process=os.getpid()))
    assert subprocess.run(mine, check=False, capture_output=True, text=True).stdout == "here\n"
    gone = launcher_command(("echo", "here"), {}, Launching(with_process=1))
    done = subprocess.run(gone, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (125, "")


@pytest.mark.parametrize("words", [["--with", "x"], ["--with", "0"], ["--with", "-1"], ["--with", "99999999999"]])
def test_a_process_that_is_none_is_refused(words: list[str]) -> None:
    done = subprocess.run([LAUNCHER, *words, "--", "true"], check=False, capture_output=True, text=True)
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1
