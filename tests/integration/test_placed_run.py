"""`numapredict run` as a user meets it: the program's output, exit code and signals, and what is said beside them."""

import contextlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.schemas.__main__ import file_of
from tests.preloaded import built
from tests.profiles import profile_bytes

jsonschema = pytest.importorskip("jsonschema")
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
@pytest.mark.parametrize("code", [0, 1, 2, 77, 255])
def test_the_exit_code_is_the_programs(way: str, code: int) -> None:
    assert run("sh", "-c", f"exit {code}", way=way).returncode == code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGPIPE", "SIGRTMIN"])
def test_the_end_by_a_signal_is_the_programs(way: str, name: str) -> None:
    number = int(getattr(signal, name))
    assert run("sh", "-c", f"kill -{number} $$", way=way).returncode == -number


@pytest.mark.parametrize("way", WAYS)
def test_input_and_output_pass_through_untouched(way: str) -> None:
    text = "".join(f"line {number}\n" for number in range(50_000))
    done = run("sh", "-c", "cat; echo told >&2", way=way, input=text)
    assert (done.returncode, done.stdout) == (0, text)
    assert done.stderr.startswith("told\n")


@pytest.mark.parametrize("way", WAYS)
def test_signals_dispositions_files_and_folder_are_the_callers(way: str, tmp_path: Path) -> None:
    script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; pwd; umask; ulimit -n; echo three >&3"
    expected, found = (
        (tmp_path / name, [*words, "sh", "-c", script])
        for name, words in (("expected", ()), ("found", (*NUMAPREDICT, *ONE, *WAYS[way], "--")))
    )
    for path, command in (expected, found):
        with path.open("wb") as file:
            # nohup: a signal that is ignored stays ignored.
            wrapped = ["sh", "-c", 'trap "" HUP; exec 3>&1; exec "$@"', "sh", *command]
            subprocess.run(wrapped, stdout=file, check=True, timeout=240)
    assert found[0].read_text() == expected[0].read_text()
    assert "three" in found[0].read_text()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "ALRM"])
def test_a_signal_reaches_the_program_once(way: str, name: str) -> None:
    script = f"trap 'n=$((n+1)); echo got $n' {name}; trap 'exit 9' WINCH; echo ready; while :; do sleep 0.05; done"
    with started(*ONE, *WAYS[way], "--", "sh", "-c", script) as process:
        process.send_signal(getattr(signal, f"SIG{name}"))
        assert process.stdout is not None
        assert process.stdout.readline() == "got 1\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGWINCH)
        assert process.communicate(timeout=240)[0] == ""
        assert process.returncode == 9


@pytest.mark.parametrize("way", WAYS)
def test_the_program_dies_with_the_command(way: str) -> None:
    with started(*ONE, *WAYS[way], "--", "sh", "-c", "echo ready; echo $$; exec sleep 100") as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
        while state(number) not in {"", "Z"}:  # a hang is the failure
            time.sleep(0.01)


@pytest.mark.parametrize("way", WAYS)
def test_a_stopped_program_is_a_stopped_command(way: str) -> None:
    with started(*ONE, *WAYS[way], "--", "sh", "-c", "echo ready; kill -STOP $$; exit 5") as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 5


@pytest.mark.parametrize("way", WAYS)
def test_the_terminals_interrupt_arrives_once(way: str) -> None:
    script = "trap 'n=$((n+1))' INT; trap 'echo got $n; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    ours, theirs = pty.openpty()
    control = 'exec setsid -c "$@"'  # makes the terminal its own
    with subprocess.Popen(
        ["sh", "-c", control, "sh", *NUMAPREDICT, *ONE, *WAYS[way], "--", "sh", "-c", script],
        stdin=theirs, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.write(ours, b"\x03")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "got 1\n"
        assert process.wait(60) == 9
    os.close(ours)
    os.close(theirs)


def state(process: int) -> str:
    """Return a process's state letter, empty where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


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
    assert re.search(r"not placed and not looked at: [1-9]\d* pages of other memory \(stacks", unseen)  # at least those
    assert "shared" not in unseen


def test_regions_are_told_by_time(app: Path) -> None:
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "--regions", "--", str(app))
    assert done.returncode == 0
    first, head, *rows = done.stderr.splitlines()
    assert "in 2 parallel regions" in first
    assert "instances" in head
    assert len(rows) == 2
    assert sorted(row.split()[1] for row in rows) == ["1", "3"]
    assert all(row.split()[4] == str(CORES) for row in rows)
    assert all("main._omp_fn." in row and "(app+0x" in row for row in rows)
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


def test_what_was_found_is_written_as_json_and_nothing_is_said(app: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    began_s = time.monotonic()
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "--json", str(found), "--", str(app), "3")
    whole_s = time.monotonic() - began_s
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{CORES} threads, 786432\n", "")
    run = checked_run(found)
    assert (run["command"], run["mapping"]) == ([str(app), "3"], f"{CORES}x1-contiguous-bind")
    assert (run["exit_code"], run["signal"], run["placed_by"], run["notes"]) == (3, None, "library", [])
    threads, pages = (run["placement"][what] for what in ("threads", "pages"))
    assert threads == {"looked_at": CORES, "right": CORES, "slots": CORES, "astray": []}
    assert pages["nodes"] == {"0": pages["looked_at"]}
    assert pages["looked_at"] == pages["right"] >= 512  # its 2 MiB
    (process,) = run["processes"]
    assert process["complete"]
    assert sorted(region["count"] for region in process["regions"]) == [1, 3]
    assert {region["team"] for region in process["regions"]} == {CORES}
    assert 0 < sum(region["time_s"] for region in process["regions"]) < process["wall_s"] < run["time_s"]
    assert run["time_s"] < whole_s


def test_json_goes_beside_the_words_and_tells_a_signal(app: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    both = (*ONE, "--verify", "--regions", "--json", str(found))
    done = placed(*both, "--", str(app))
    assert f"verify: {checked_run(found)['placement']['pages']['right']} of " in done.stderr
    assert "in 2 parallel regions" in done.stderr
    crashed = placed(*both, "--", str(app.parent / "crash"))
    assert crashed.returncode == -signal.SIGABRT
    assert (checked_run(found)["exit_code"], checked_run(found)["signal"]) == (134, "SIGABRT")
    static = placed(*both, "--", str(app.parent / "static"), "3")
    run = checked_run(found)
    assert (run["placed_by"], run["placement"], run["processes"], run["exit_code"]) == ("numactl", None, [], 3)
    assert [f"numapredict: {note}" for note in run["notes"]] == static.stderr.splitlines()
    assert "--verify, --regions, what --json says of threads, pages and regions" in run["notes"][1]
    none = placed(*ONE, "--json", str(found), "--", "true")
    assert (none.returncode, checked_run(found)["processes"]) == (0, [])
    sampled = placed(*ONE, "--json", str(found), "--profile", str(tmp_path / "profile"), "--", str(app))
    assert [f"numapredict: {note}" for note in checked_run(found)["notes"]] == sampled.stderr.splitlines()
    assert sampled.stderr.startswith(f"numapredict: profile: {tmp_path / 'profile'}: ")


# Where nobody can be told anything: a full disk, nothing, and a reader that has gone.
UNTOLD = ("2>/dev/full", "2>&-", "2> >(exec 2>&-; exec true)")


@pytest.mark.parametrize("where", UNTOLD)
def test_a_program_ends_as_it_does_where_nothing_can_be_said(app: Path, tmp_path: Path, where: str) -> None:
    names = ("found", "profile")
    for name in names:
        (tmp_path / name).unlink(missing_ok=True)
    own = {**os.environ, "OMP_NUM_THREADS": "7"}  # which gives way, and is to be said
    options = ("--verify", "--regions", "--json", str(tmp_path / "found"), "--profile", str(tmp_path / "profile"))
    for program, code in ((str(app), 3), (str(app.parent / "static"), 3), (str(app.parent / "crash"), -signal.SIGABRT)):
        for extra in ((), options):
            command = shlex.join([*NUMAPREDICT, *ONE, *extra, "--", program, "3"])
            script = ["bash", "-c", f"exec {command} {where}"]
            done = subprocess.run(script, stdout=subprocess.PIPE, env=own, text=True, check=False, timeout=240)
            assert done.returncode == code
            assert code < 0 or done.stdout == "1 threads, 786432\n"
        assert checked_run(tmp_path / "found")["exit_code"] == (code if code >= 0 else 128 - code)
    assert (tmp_path / "profile").stat().st_size > 0


def test_json_of_a_name_that_is_not_utf8_is_json(app: Path, tmp_path: Path) -> None:
    program = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copy(app, program)
    found = tmp_path / os.fsdecode(b"\xe9.json")
    assert placed(*ONE, "--json", str(found), "--", str(program)).returncode == 0
    run = checked_run(found)
    assert run["command"] == [f"{tmp_path}/caf\\xe9"]
    assert found.stat().st_mode & 0o777 == 0o666 & ~umask()


def checked_run(path: Path) -> dict[str, Any]:
    run = json.loads(path.read_text())
    jsonschema.Draft202012Validator(json.loads(file_of("run").read_text())).validate(run)
    assert isinstance(run, dict)
    return run


def test_an_emitted_command_has_the_words_to_the_letter() -> None:
    words = ["echo", "\x1b[31mred", "two  words", "c=d", ""]
    done = placed(*ONE, "--emit", "env", "--", *words)
    assert (done.returncode, done.stdout.isprintable() or done.stdout[:-1].isprintable()) == (0, True)
    typed = subprocess.run(["sh", "-c", done.stdout], capture_output=True, text=True, check=True)
    assert typed.stdout == " ".join(words[1:]) + "\n"


def test_json_that_cannot_be_written_is_said_before_anything_is_started(tmp_path: Path) -> None:
    for words, code, reason in (
        (("--json", "/proc/found"), 1, "JSON file /proc/found cannot be written: No such file or directory"),
        (("--json", str(tmp_path)), 2, "is a directory"),
        (("--json", "/dev/null"), 2, "JSON file '/dev/null' cannot be written: it is no regular file; name another"),
        (
            ("--json", str(tmp_path / "a"), "--profile", str(tmp_path / ".." / tmp_path.name / "a")),
            2,
            "is to hold a profile",
        ),
        (("--json", str(tmp_path / "a.2"), "--profile", str(tmp_path / "a")), 2, "is to hold a profile"),
        (("--json", str(tmp_path / ("a" * 250))), 1, "cannot be written: File name too long; name another file"),
        (("--json", str(tmp_path / "a"), "--emit", "env"), 2, "--emit only prints a command"),
    ):
        done = placed(*ONE, *words, "--", "echo", "started")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), done
        assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "profile").write_bytes(profile_bytes([(8, [(0, 0, 1.0)])]))
    both = ("--use-profile", str(tmp_path / "profile"), "--json", str(tmp_path / "profile"))
    done = placed(*ONE, *both, "--", "echo", "started")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is to hold a profile" in done.stderr
    assert (tmp_path / "profile").read_bytes() == profile_bytes([(8, [(0, 0, 1.0)])])


def test_a_folder_that_goes_meanwhile_leaves_the_program_its_exit_code(app: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = placed(*ONE, "--json", str(folder / "found"), "--", "sh", "-c", f"{app} 3; rmdir {folder}; exit 5")
    assert (done.returncode, done.stdout) == (5, "1 threads, 786432\n")
    assert done.stderr.startswith(f"numapredict: JSON file {folder / 'found'} cannot be written: No such file")


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
    done = placed("run", "--mapping", label, "--", "sh", "-c", 'echo "${NUMAPLACE%;claim=*}"', environment=two)
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
    script = 'plan="${NUMAPLACE##*;plan=}"; cat "${plan%;claim=*}"'
    done = placed(*words, "--", "sh", "-c", script, environment=two)
    assert done.returncode == 0
    assert done.stdout == "numaplace-plan 1\nrange 1 0000000000000001 0 0 8\nrun 0 4 0\nrun 4 4 1\n"
    pages, rescaled = done.stderr.splitlines()
    assert pages.endswith("plan: 8 pages of 1 of 1 ranges, in 2 runs")
    assert "profile is of 4 threads and the mapping has 2" in rescaled
    (tmp_path / "profile").write_bytes(profile_bytes([(8, [])]))
    done = placed(*words, "--", "sh", "-c", 'text="${NUMAPLACE%;claim=*}"; echo "${text##*;}"', environment=two)
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
def test_a_static_program_runs_and_is_told_to_be_placed_otherwise(app: Path, way: str) -> None:
    words = ("run", "--mapping", f"{CORES}x1-contiguous-bind", *WAYS[way], "--", str(app.parent / "static"), "3")
    done = placed(*words)
    assert (done.returncode, done.stdout) == (3, f"{CORES} threads, 786432\n")
    assert "it is statically linked; its threads are placed by OMP_PLACES" in done.stderr.splitlines()[0]
    assert ("for want of the library: --regions" in done.stderr) == (way == "reported on")


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
        "import sys, pathlib; from numapredict.collect.placing import placed_run;"
        "from numapredict.predictor.command_line import main;"
        f"placed_run.NUMA_BALANCING = pathlib.Path({str(setting)!r});"
        f"placed_run.SHARED = pathlib.Path({str(tmp_path / 'shared')!r}); sys.exit(main.main())"
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
