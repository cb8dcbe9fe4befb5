"""`numapredict run --json`: what is written, where, and what becomes of it when it cannot be."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.golden.schemas.__main__ import file_of
from tests.integration.test_placed_run import CORES, NUMAPREDICT, ONE, app, placed, pytestmark, umask
from tests.profiles import profile_bytes

__all__ = ["app", "pytestmark"]  # a fixture, and what it needs

jsonschema = pytest.importorskip("jsonschema")


def test_what_was_found_is_written_as_json_and_nothing_is_said(app: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    began_s = time.monotonic()
    done = placed("run", "--mapping", f"{CORES}x1-contiguous-bind", "-o", str(found), "--", str(app), "3")
    whole_s = time.monotonic() - began_s
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{CORES} threads, 786432\n", "")
    run = checked_run(found)
    assert (run["command"], run["mapping"]) == ([str(app), "3"], f"{CORES}x1-contiguous-bind")
    assert (run["exit_code"], run["signal"], run["placed_by"], run["notes"]) == (3, None, "library", [])
    threads, pages = (run["placement"][what] for what in ("threads", "pages"))
    assert threads == {"looked_at": CORES, "right": CORES, "slots": CORES, "processes": 1, "astray": []}
    assert pages["nodes"] == {"0": pages["looked_at"]}
    assert pages["looked_at"] == pages["right"] >= 512  # its 2 MiB
    (process,) = run["processes"]
    assert process["complete"]
    assert sorted(region["count"] for region in process["regions"]) == [1, 3]
    assert {region["team"] for region in process["regions"]} == {CORES}
    assert 0 < sum(region["time_s"] for region in process["regions"]) < process["wall_s"] < run["time_s"]
    assert run["time_s"] < whole_s


def test_json_is_written_with_the_words_and_has_the_signal(app: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    both = (*ONE, "--verify", "--regions", "-o", str(found))
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
    assert "--verify, --regions, what -o says of threads, pages and regions" in run["notes"][1]
    none = placed(*ONE, "-o", str(found), "--", "true")
    assert (none.returncode, checked_run(found)["processes"]) == (0, [])
    sampled = placed(*ONE, "-o", str(found), "--profile", str(tmp_path / "profile"), "--", str(app))
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
    options = ("--verify", "--regions", "-o", str(tmp_path / "found"), "--profile", str(tmp_path / "profile"))
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
    assert placed(*ONE, "-o", str(found), "--", str(program)).returncode == 0
    run = checked_run(found)
    assert run["command"] == [f"{tmp_path}/caf\\xe9"]
    assert found.stat().st_mode & 0o777 == 0o666 & ~umask()


@pytest.mark.parametrize("words", [("regions",), ("run", "--adapt")])
def test_json_of_other_runs_of_such_a_name_is_json_too(words: tuple[str, ...], app: Path, tmp_path: Path) -> None:
    found, argument = tmp_path / "found.json", os.fsdecode(b"caf\xe9")
    done = placed(*words, "-o", str(found), "--", str(app), "3", argument)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert json.loads(found.read_text())["command"] == [str(app), "3", "caf\\xe9"]


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
        (("-o", "/proc/found"), 1, "JSON file /proc/found cannot be written: No such file or directory"),
        (("-o", str(tmp_path)), 2, "is a directory"),
        (("-o", "/dev/null"), 2, "JSON file '/dev/null' cannot be written: it is no regular file; name another"),
        (
            ("-o", str(tmp_path / "a"), "--profile", str(tmp_path / ".." / tmp_path.name / "a")),
            2,
            "is the profile's file",
        ),
        (("-o", str(tmp_path / "a.2"), "--profile", str(tmp_path / "a")), 2, "is the profile's file"),
        (("-o", str(tmp_path / ("a" * 250))), 1, "cannot be written: File name too long; name another file"),
        (("-o", str(tmp_path / "a"), "--emit", "env"), 2, "--emit only prints a command"),
    ):
        done = placed(*ONE, *words, "--", "echo", "started")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), done
        assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "profile").write_bytes(profile_bytes([(8, [(0, 0, 1.0)])]))
    both = ("--use-profile", str(tmp_path / "profile"), "-o", str(tmp_path / "profile"))
    done = placed(*ONE, *both, "--", "echo", "started")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the profile's file" in done.stderr
    assert (tmp_path / "profile").read_bytes() == profile_bytes([(8, [(0, 0, 1.0)])])


def test_a_folder_that_goes_meanwhile_leaves_the_program_its_exit_code(app: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = placed(*ONE, "-o", str(folder / "found"), "--", "sh", "-c", f"{app} 3; rmdir {folder}; exit 5")
    assert (done.returncode, done.stdout) == (5, "1 threads, 786432\n")
    assert done.stderr.startswith(f"numapredict: JSON file {folder / 'found'} cannot be written: No such file")
