"""A folder without room is told as what it is, and no program is blamed for it: temporary files, and the cache."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.small_folders import How, inside
from tests.warm_start import COLD, warm
from tests.workloads import example_program

pytestmark = pytest.mark.native

SANDY = ("--machine", "sandybridge-4x8")
FREE = "free some space there, or name another folder with TMPDIR=FOLDER"
REASONS = {"read-only": "Read-only file system", "full": "No space left on device", "small": "No space left on device"}


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(example_program(tmp_path_factory.mktemp("heat")))


def numapredict(*words: str, before: list[str] | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command; ``before`` it come the words that give it folders or limits of its own, and start it anew."""
    return subprocess.run(
        [*before, *COLD, *words] if before else [*warm(), *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("numapredict: ")]
    assert lines == done.stderr.splitlines()[-1:]
    return lines[0]


def finished(folder: Path) -> int:
    return (folder / "journal.jsonl").read_text().count('"kind":"finished"')


@pytest.mark.parametrize("how", ["read-only", "full", "small"])
def test_advice_names_the_folder_without_room(how: How, heat: str, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    cache = str(tmp_path / "cache")  # without a trace by another test, which would spare the temporary files
    done = numapredict(*SANDY, heat, before=inside(folder, how), TMPDIR=str(folder), NUMAPREDICT_CACHE=cache)
    assert f"cannot write temporary files in {folder}: {REASONS[how]}; " in last_line(done)
    assert "TMPDIR=FOLDER" in last_line(done)
    assert "OMP_NUM_THREADS" not in done.stderr


@pytest.mark.parametrize("limit_bytes", [100_000, 1_500_000])
def test_a_file_size_limit_is_named(limit_bytes: int, heat: str, tmp_path: Path) -> None:
    before = ["prlimit", f"--fsize={limit_bytes}"]
    line = last_line(numapredict(*SANDY, heat, before=before, NUMAPREDICT_CACHE=str(tmp_path / "cache")))
    assert "File too large" in line
    assert "ulimit -f" in line or "NUMAPREDICT_CACHE" in line


@pytest.mark.parametrize(("how", "jobs"), [("read-only", "1"), ("full", "2"), ("small", "1"), ("small", "2")])
def test_a_modelled_campaign_blames_no_program_and_goes_on_later(how: How, jobs: str, tmp_path: Path) -> None:
    into, folder = tmp_path / "into", tmp_path / "temporary"
    words = (
        *("collect", "campaign", *SANDY, "--into", str(into), "--size", "small", "--space", "diener"),
        *("--codelet", "stream-triad", "--codelet", "histogram", "--jobs", jobs),
    )
    cache = {"NUMAPREDICT_CACHE": str(tmp_path / "cache")}
    done = numapredict(*words, before=inside(folder, how), TMPDIR=str(folder), **cache)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr, done.stderr
    assert f"numapredict: cannot write temporary files in {folder}: " in done.stderr.splitlines()[-1]
    assert "crashed" not in (into / "journal.jsonl").read_text()
    again = numapredict(*words, **cache)
    assert again.returncode == 0, again.stderr
    assert finished(into) == 4
    assert "crashed" not in (into / "journal.jsonl").read_text()


@pytest.mark.parametrize("how", ["read-only", "full"])
def test_a_campaign_on_this_computer_blames_no_program_and_goes_on_later(how: How, tmp_path: Path) -> None:
    into, folder = tmp_path / "into", tmp_path / "temporary"
    words = (
        *("collect", "campaign", "--into", str(into), "--program", "true"),
        *("--mapping", "1x1-contiguous-bind", "--repetitions", "1"),
    )
    done = numapredict(*words, before=inside(folder, how), TMPDIR=str(folder))
    assert f"cannot write temporary files in {folder}: " in last_line(done)
    assert finished(into) == 0
    assert numapredict(*words).returncode == 0
    assert finished(into) == 1


def test_a_program_that_fills_the_folder_is_not_recorded_as_failed(tmp_path: Path) -> None:
    into, folder = tmp_path / "into", tmp_path / "temporary"
    script = tmp_path / "app"
    script.write_text(f"#!/bin/sh\ncat /dev/zero > {folder}/output\n")
    script.chmod(0o755)
    words = (
        *("collect", "campaign", "--into", str(into), "--program", str(script)),
        *("--mapping", "1x1-contiguous-bind", "--repetitions", "1"),
    )
    done = numapredict(*words, before=inside(folder, "small"), TMPDIR=str(folder))
    assert f"No space left on device; {FREE}" in last_line(done)
    assert finished(into) == 0


@pytest.mark.parametrize("how", ["read-only", "full"])
def test_a_placed_run_that_reports_needs_the_folder_and_another_does_not(how: How, heat: str, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    words = ("run", "--mapping", "1x1-contiguous-bind")
    program = ("--", "sh", "-c", f"echo ran >> {tmp_path}/log")
    before = inside(folder, how)
    done = numapredict(*words, "--verify", *program, before=before, TMPDIR=str(folder))
    assert f"cannot write temporary files in {folder}: " in last_line(done)
    assert not (tmp_path / "log").exists()
    assert numapredict(*words, *program, before=before, TMPDIR=str(folder)).returncode == 0
    assert (tmp_path / "log").read_text() == "ran\n"


def test_a_placed_run_whose_program_fills_the_folder_says_that_its_report_may_lack_something(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    words = (
        "run",
        "--mapping",
        "1x1-contiguous-bind",
        "--verify",
        "--",
        "sh",
        "-c",
        f"cat /dev/zero > {folder}/x; exit 5",
    )
    done = numapredict(*words, before=inside(folder, "small"), TMPDIR=str(folder))
    assert done.returncode == 5
    assert f"may be incomplete: cannot write temporary files in {folder}: No space left" in done.stderr


@pytest.mark.parametrize("how", ["read-only", "full"])
@pytest.mark.parametrize("words", [SANDY, ("evaluate", "sandybridge-4x8")])
def test_a_full_cache_is_told_and_the_answer_goes_on(
    how: How, words: tuple[str, ...], heat: str, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    given = words if words != SANDY else (*words, heat)
    done = numapredict(*given, before=inside(folder, how), NUMAPREDICT_CACHE=str(folder))
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if f" {folder}/" in line]
    assert len(told) == 1, done.stderr
    assert f"{REASONS[how]}: going on without it (NUMAPREDICT_CACHE=FOLDER names another)" in told[0]
