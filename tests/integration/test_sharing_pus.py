"""Processes of placed programs share a mapping's PUs: each has some of its own, or is not bound to any."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.host.lock_folder import FOLDER_VARIABLE
from numapredict.collect.index_list import index_list
from numapredict.collect.placing.claims import claimed_pus
from tests.integration.test_placed_run import NUMAPREDICT, placed
from tests.preloaded import GCC, built_by
from tests.preloaded import placed as variables

CPUS = sorted(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU"),
]
A, B = CPUS[:2]
BOTH = f"{A},{B}"
TWO = ("--mapping", "2x1-contiguous-bind")


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "sharing.c", tmp_path_factory.mktemp("sharing"))


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


def said(program: Path, *words: str) -> list[str]:
    """Return the lines that a placed program and its workers say, in their order."""
    done = placed("run", *TWO, "--", str(program), *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_each_worker_has_a_pu_of_its_own_and_those_beyond_are_free(program: Path) -> None:
    assert said(program, "fork=1", "fork=1", "fork=1") == [f"0: {A}", f"1: {B}", f"2: {BOTH}"]


def test_a_worker_that_wants_more_threads_than_pus_are_free_is_not_bound(program: Path) -> None:
    assert said(program, "fork=1", "fork=2") == [f"0: {A}", f"1: {BOTH} {BOTH}"]
    assert said(program, "fork=2", "fork=1") == [f"0: {A} {B}", f"1: {BOTH}"]


def test_more_threads_than_the_mapping_has_share_its_pus(program: Path) -> None:
    assert said(program, "fork=4") == [f"0: {A} {A} {B} {B}"]


@pytest.mark.parametrize("way", ["end", "kill"])
def test_a_worker_that_has_ended_gives_its_pus_back(program: Path, way: str) -> None:
    words = ("fork=2", "fork=1", f"{way}=0", "fork=1", "fork=1")
    assert said(program, *words) == [f"0: {A} {B}", f"1: {BOTH}", f"2: {A}", f"3: {B}"]


def test_what_starts_workers_leaves_them_its_pus_and_takes_what_is_left(program: Path) -> None:
    if program.name.endswith("gcc"):  # libgomp's team does not outlive a fork: the workers have one thread
        words = ("team=2", "fork=1", "team=1", "fork=1", "team=1", "end=0", "end=1", "team=2")
        lines = [f"here: {A} {B}", f"0: {A}", f"here: {B}", f"1: {B}", f"here: {BOTH}", f"here: {A} {B}"]
    else:
        words = ("team=2", "fork=2", "team=2", "end=0", "team=2")
        lines = [f"here: {A} {B}", f"0: {A} {B}", f"here: {BOTH} {BOTH}", f"here: {A} {B}"]
    assert said(program, *words) == lines


def test_a_program_that_was_left_free_is_bound_by_a_later_region(program: Path) -> None:
    words = ("fork=2", "team=2", "team=2", "end=0", *["team=2"] * 6)
    free, bound = f"here: {BOTH} {BOTH}", f"here: {A} {B}"
    lines = said(program, *words)[1:]
    assert lines == [free] * lines.count(free) + [bound] * lines.count(bound)
    assert 2 <= lines.count(free) <= 4  # it tries again before its first, second, fourth ... region


def test_teams_that_change_size_have_their_pus(program: Path) -> None:
    one, two = f"here: {A}", f"here: {A} {B}"
    assert said(program, *["team=2", "team=1"] * 20) == [two, one] * 20


def test_threads_of_its_own_have_a_pu_each_as_long_as_there_are_free_ones(program: Path) -> None:
    assert said(program, "threads=2", "fork=1") == [f"0: {A} {B}", f"1: {A}"]
    assert said(program, "fork=1", "threads=3") == [f"0: {A}", f"1: {B} {BOTH} {BOTH}"]
    assert said(program, "fork=2", "threads=2") == [f"0: {A} {B}", f"1: {BOTH} {BOTH}"]


DRIVER = """
import subprocess, sys, threading
program, way, *rest = sys.argv[1:]
waiting = []
for words in rest:
    if words == "end":
        waiting.pop(0).communicate()
        continue
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    if way == "fork":
        options["preexec_fn"] = lambda: None
    elif way == "posix_spawn":
        options["close_fds"] = False
    waiting.append(subprocess.Popen([program, *words.split(), "wait"], **options))
    print(waiting[-1].stdout.readline(), end="", flush=True)
for one in waiting:
    one.communicate()
"""


@pytest.mark.parametrize("way", ["vfork", "fork", "posix_spawn"])
def test_programs_that_another_starts_have_pus_of_their_own(program: Path, tmp_path: Path, way: str) -> None:
    (tmp_path / "driver.py").write_text(DRIVER)
    words = (str(program), way, "team=1", "team=1", "team=2", "end", "end", "end", "team=2")
    done = placed("run", *TWO, "--", sys.executable, str(tmp_path / "driver.py"), *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"here: {A}", f"here: {B}", f"here: {BOTH} {BOTH}", f"here: {A} {B}"]


def test_two_runs_share_the_computer_and_the_second_says_so(program: Path) -> None:
    command = [*NUMAPREDICT, "run", *TWO, "--", program, "team=2", "wait"]
    assert claimed_pus(CPUS) == ()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == f"here: {A} {B}\n"
        assert claimed_pus([B, A, A]) == (B, A)
        second = placed("run", *TWO, "--verify", "--", str(program), "team=2")
        assert (second.returncode, second.stdout) == (0, f"here: {BOTH} {BOTH}\n")
        assert f"another placed run has 2 PUs of this mapping now ({index_list([A, B])}): " in second.stderr
        assert "1 process of the run found the mapping's PUs taken by another one" in second.stderr
        first.communicate()
    assert claimed_pus(CPUS) == ()
    assert said(program, "team=2") == [f"here: {A} {B}"]


def test_what_was_shared_is_verified(program: Path) -> None:
    done = placed("run", *TWO, "--verify", "--", str(program), "fork=1", "fork=1", "fork=1", "team=1", "end=2")
    assert done.returncode == 0
    assert "verify: 2 of 2 threads were bound to their PU at each check, in 2 processes\n" in done.stderr
    assert "verify: 2 processes of the run found the mapping's PUs taken by another one" in done.stderr


def test_one_that_was_bound_at_times_says_how_often_it_was_not(program: Path) -> None:
    done = placed("run", *TWO, "--verify", "--", str(program), "team=1", "fork=1", "fork=1", "team=1", "team=1")
    assert done.returncode == 0
    assert (
        "verify: 2 teams or threads found too few of the mapping's PUs free, and ran unbound on all of them"
        in done.stderr
    )


@pytest.mark.parametrize("obstacle", ["no folder", "a file for a folder", "a folder", "a link", "a pipe"])
def test_what_is_in_the_files_place_is_told_and_the_run_has_one_of_its_own(
    program: Path, locks: Path, obstacle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    place = locks / "numapredict-pus.lock"
    if obstacle in {"no folder", "a file for a folder"}:
        locks.rmdir()
    if obstacle == "a file for a folder":
        locks.touch()
    elif obstacle == "a folder":
        place.mkdir()
    elif obstacle == "a link":
        place.symlink_to("elsewhere")
    elif obstacle == "a pipe":
        os.mkfifo(place)
    done = placed("run", *TWO, "--", str(program), "fork=1", "fork=1", "fork=1")
    assert done.stdout.splitlines() == [f"0: {A}", f"1: {B}", f"2: {BOTH}"]
    (line,) = done.stderr.splitlines()
    assert f"placed runs here do not know which PUs others have: cannot use {place}: " in line
    assert not (locks / "elsewhere").exists()


def test_without_any_file_the_main_process_is_bound_and_workers_are_free(program: Path, tmp_path: Path) -> None:
    settings = f"cpus={A},{B};homes=0*2;threads=contiguous;pages=bind;nodes=0;claims={tmp_path / 'none' / 'file'}"
    words = [program, "team=2", "fork=1", "team=2"]
    done = subprocess.run(words, env=variables(settings, 2), capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.splitlines() == [f"here: {A} {B}", f"0: {BOTH}", f"here: {A} {B}"]


def test_a_program_that_closes_all_descriptors_goes_on(program: Path) -> None:
    words = ("team=2", "close", "team=1", "team=2", "fork=1", "fork=1", "fork=1")
    lines = [f"here: {A} {B}", f"here: {A}", f"here: {A} {B}", f"0: {A}", f"1: {B}", f"2: {BOTH}"]
    assert said(program, *words) == lines


def test_a_team_at_work_keeps_its_pus_whatever_another_thread_starts(program: Path) -> None:
    assert said(program, "busy=2") == [f"here: {BOTH} {BOTH}", f"here: {A} {B}"]


def test_a_team_at_work_keeps_its_pus_where_another_of_the_process_finds_too_few(program: Path) -> None:
    lines = said(program, "fork=1", "beside=2")
    assert lines == [f"0: {A}", f"other: {BOTH} {BOTH}", f"here: {BOTH}", f"here: {B}"]


def test_pages_of_what_is_left_free_go_where_its_threads_are(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLICY", "1")
    preferred, local = 1, 4  # linux/mempolicy.h
    lines = [f"0: {A} policy {preferred}", f"1: {B} policy {preferred}", f"2: {BOTH} policy {local}"]
    assert said(program, "fork=1", "fork=1", "fork=1") == lines
    free = f"1: {BOTH} {BOTH} policy {local}"
    assert said(program, "fork=2", "fork=2", "end=0")[1] == free


def test_a_mapping_of_one_pu_goes_from_process_to_process(program: Path) -> None:
    words = ("team=1", "fork=1", "team=1", "end=0", "team=1", "team=1")
    done = placed("run", "--mapping", "1x1-contiguous-bind", "--verify", "--", str(program), *words)
    assert done.stdout.splitlines() == [f"here: {A}", f"0: {A}", *[f"here: {A}"] * 3]
    assert (
        "verify: 1 team or thread found too few of the mapping's PUs free, and ran unbound on all of them"
        in done.stderr
    )


def test_thousands_of_forks_leave_nothing_behind(program: Path) -> None:
    assert said(program, "team=2", "forks=3000", "team=2") == [f"here: {A} {B}"] * 2


def test_a_thread_that_starts_workers_leaves_them_its_pu(program: Path) -> None:
    """The main thread keeps its own: it may work meanwhile."""
    assert said(program, "thread", "fork=1", "fork=1") == [f"0: {B}", f"1: {BOTH}"]


def test_threads_that_end_at_once_begin_where_their_creator_runs(program: Path) -> None:
    """And those that stay are placed, but for the first, which looks like another of these."""
    for _ in range(10):  # on a busy computer few of them may end at once
        done = placed("run", *TWO, "--verify", "--", str(program), "churn=3000", "own=3")
        churned, own = done.stdout.splitlines()
        assert churned.startswith(f"here: {B}, others ")
        assert own in {f"here: {B} {A} {B}", f"here: {BOTH} {B} {A}"}
        others = int(churned.rsplit(" ", 1)[1])
        assert bool(re.search(r"verify: \d+ threads? began where the creator ran: ", done.stderr)) == (
            others > 0 or own.startswith(f"here: {BOTH}")
        )
        if others:
            return
    raise AssertionError("each of 30,000 threads began on another PU")


def test_any_user_can_claim_after_any_other(program: Path, locks: Path) -> None:
    before = os.umask(0o077)
    try:
        said(program, "team=2")
    finally:
        os.umask(before)
    assert (locks / "numapredict-pus.lock").stat().st_mode & 0o777 == 0o666
    assert (locks / "numapredict-pus.lock").read_bytes() == b""
