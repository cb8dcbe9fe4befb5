"""A search goes on from the runs of earlier commands: real programs, run through the command on this computer."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.native.library import codelets_program
from numapredict.predictor.command_line.commands import commands
from tests.integration.test_interrupted_commands import Running, check
from tests.openmp import GCC
from tests.unwatched import CODE, lead_here

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]
NODES = "node:4 core:2 pu:1"
QUICK = "OMP_NUM_THREADS=1"  # a few sweeps by one thread take no longer on a busy computer
PLACED = '[ -n "$NUMAPLACE" ]'


@pytest.fixture(autouse=True)
def computer(own_folders: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", NODES)
    monkeypatch.chdir(tmp_path)
    lead_here(monkeypatch)


class App:
    """A script that counts its runs, and whether they were placed, before it does its lines."""

    def __init__(self, folder: Path, lines: str) -> None:
        self.path, self.log = folder / "app", folder / "log"
        self.write(lines)

    def write(self, lines: str) -> None:
        count = f"{PLACED} && echo placed >> {self.log} || echo own >> {self.log}"
        self.path.write_text(f"#!/bin/sh\nexport OMP_WAIT_POLICY=passive\n{count}\n{lines}\n")
        self.path.chmod(0o755)

    def ran(self) -> list[str]:
        """Return the runs since the last call."""
        found = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found


def asked(*words: object) -> tuple[Any, str]:
    done = CliRunner().invoke(commands, ["predict", "--json", *map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return msgspec.json.decode(done.stdout), " ".join(done.stderr.split())


def slower_placed(folder: Path, foreign: Path) -> App:
    """Return a program that nothing beats as it is: no runs confirm anything."""
    return App(folder, f"{PLACED} && sleep 0.6 && exec {foreign} mixed 1 1\n{QUICK} {foreign} exit 0")


def test_a_search_goes_on_from_the_runs_already_made(foreign: Path, tmp_path: Path) -> None:
    app = slower_placed(tmp_path, foreign)
    first, said = asked("--runs", "2", "--no-cut", app.path)
    assert app.ran() == ["own", "placed"]
    assert (first["kept_runs"], first["kept_since"]) == (0, "")
    assert "--fresh" not in said
    second, said = asked("--runs", "4", "--no-cut", app.path)
    made = len(second["runs"]) - 2
    assert made > 0
    assert app.ran() == ["placed"] * made
    assert (second["kept_runs"], second["runs"][:2]) == (2, first["runs"])
    assert second["kept_since"].startswith("20")
    assert "going on from 2 runs made " in said
    assert " ago; --fresh makes all runs anew" in said
    assert "run 2 of 4: " in said
    third, _ = asked("--runs", "2", "--no-cut", app.path)  # what is measured is used
    assert app.ran() == []
    assert third["runs"] == second["runs"]
    fresh, said = asked("--runs", "2", "--fresh", "--no-cut", app.path)
    assert app.ran() == ["own", "placed"]
    assert fresh["kept_runs"] == 0
    assert "going on" not in said


def test_the_winner_is_confirmed_by_new_runs_each_time(foreign: Path, tmp_path: Path) -> None:
    app = App(tmp_path, f"export {QUICK}\n{PLACED} && exec {foreign} exit 0\n{foreign} late 0")
    first, _ = asked("--runs", "2", app.path)
    assert not first["keep"], first
    rounds = len(first["confirmation"]["baseline_s"])  # 3, or 5 where a few of so short runs leave doubt
    assert rounds >= 3
    assert sorted(app.ran()) == ["own"] * (1 + rounds) + ["placed"] * (1 + rounds)
    second, _ = asked("--runs", "2", app.path)
    rounds = len(second["confirmation"]["baseline_s"])
    assert rounds >= 3
    assert sorted(app.ran()) == ["own"] * rounds + ["placed"] * rounds
    assert second["runs"] == first["runs"]
    assert second["confirmation"]["baseline_s"] != first["confirmation"]["baseline_s"]


def test_ended_runs_are_kept_and_made_whole_only_if_runs_must_not_be_ended(tmp_path: Path) -> None:
    triad = f"exec {codelets_program()} stream-triad --size tiny --iterations"
    app = App(tmp_path, f"export {QUICK}\n{PLACED} && {triad} 300000\n{triad} 30000")
    first, _ = asked("--runs", "2", app.path)
    ended = first["runs"][1]
    assert (ended["outcome"], ended["region_time_s"]) == ("ended", None)
    assert ended["time_s"] >= first["runs"][0]["time_s"]
    app.ran()
    again, _ = asked("--runs", "2", app.path)
    assert (app.ran(), again["runs"]) == ([], first["runs"])
    whole, _ = asked("--runs", "2", "--no-cut", app.path)
    assert app.ran() == ["placed"]
    assert whole["runs"][1]["mapping"] == first["runs"][1]["mapping"]
    assert whole["runs"][1]["outcome"] == "done"


def test_a_program_that_ends_with_26_is_not_run_again_to_learn_that(foreign: Path, tmp_path: Path) -> None:
    app = App(
        tmp_path, f"cat > /dev/null\nif {PLACED}; then {foreign} mixed 1 1; else {QUICK} {foreign} exit 0; fi\nexit 26"
    )
    first, _ = asked("--runs", "2", "--no-cut", app.path)
    assert (app.ran(), first["exit_code"]) == (["own", "placed"], 26)
    second, _ = asked("--runs", "3", "--no-cut", app.path)
    assert (app.ran(), second["exit_code"], len(second["runs"])) == (["placed"], 26, 3)
    strict = CliRunner().invoke(commands, ["predict", "--strict", "--runs", "3", str(app.path)])
    assert "which --strict refuses" in str(strict.exception)


def test_a_failed_run_is_kept_as_one(foreign: Path, tmp_path: Path) -> None:
    app = App(tmp_path, f"{PLACED} && exit 3\n{foreign} exit 0")
    first, _ = asked("--runs", "2", app.path)
    assert first["runs"][1]["outcome"] == "failed"
    app.ran()
    again, _ = asked("--runs", "2", app.path)
    assert (app.ran(), again["runs"]) == ([], first["runs"])


def test_a_program_that_has_changed_is_run_anew(foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "data in").write_text("1")
    inner = tmp_path / "inner"
    inner.symlink_to(foreign)
    lines = f"echo $1 > {tmp_path}/out\n{PLACED} && exec {inner} mixed 1 1\n{QUICK} {inner} exit 0"
    app = App(tmp_path, lines)
    words = ("--runs", "2", app.path, tmp_path / "out", f"--input={tmp_path / 'table'}", tmp_path / "data in")
    (tmp_path / "table").write_text("1")

    def changed(what: str) -> None:
        answer, said = asked(*words)
        assert (app.ran(), answer["kept_runs"]) == (["own", "placed"], 0)
        assert f"{what} has changed since the kept runs: all runs are made anew" in said
        assert asked(*words)[0]["kept_runs"] == 2  # what a run itself writes is no such change
        assert app.ran() == []

    assert asked(*words)[0]["kept_runs"] == 0
    app.ran()
    app.write(f"{lines}\ntrue")
    changed("/app")
    for name in ("data in", "table"):
        (tmp_path / name).write_text("2 2")
        changed(f"/{name}")
    inner.unlink()  # built again: the file that the script starts
    inner.write_bytes(foreign.read_bytes())
    inner.chmod(0o755)
    changed("/inner")


def test_runs_under_other_variables_or_of_another_folder_are_kept_apart(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = slower_placed(tmp_path, foreign)

    def kept() -> int:
        return int(asked("--runs", "2", app.path)[0]["kept_runs"])

    assert kept() == 0
    with monkeypatch.context() as changed:
        changed.setenv("OMP_NUM_THREADS", "1")
        assert (kept(), kept()) == (0, 2)
        changed.setenv("OWN_SIZE", "7")
        assert kept() == 0
    with monkeypatch.context() as changed:
        (tmp_path / "elsewhere").mkdir()
        changed.chdir(tmp_path / "elsewhere")
        assert kept() == 0
    monkeypatch.setenv("SSH_TTY", "/dev/pts/9")
    assert kept() == 2
    mask = os.sched_getaffinity(0)
    if len(mask) > 1:
        os.sched_setaffinity(0, {min(mask)})
        try:
            assert kept() == 0
        finally:
            os.sched_setaffinity(0, mask)


def test_a_cache_that_cannot_be_written_costs_a_warning_and_no_search(foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    _, said = asked("--runs", "2", slower_placed(tmp_path, foreign).path)
    assert said.count("a later search makes them again") == 1
    assert "(NUMAPREDICT_CACHE=FOLDER names another)" in said


# ---- interrupted, killed, two at a time ----


def words_of(app: App) -> tuple[str, ...]:
    return ("predict", "--runs", "3", "--no-cut", str(app.path))


@pytest.mark.parametrize("kill", [False, True])
def test_an_interrupted_or_killed_search_loses_no_finished_run(foreign: Path, tmp_path: Path, kill: bool) -> None:
    app = App(tmp_path, f"{PLACED} && [ ! -e {tmp_path}/hurry ] && sleep 600\n{foreign} exit 0")
    running = Running(*words_of(app)[:3], "--fresh", *words_of(app)[3:], cwd=tmp_path, code=CODE)
    running.when(lambda: (tmp_path / "log").exists() and "placed" in (tmp_path / "log").read_text())
    if kill:
        os.kill(running.process.pid, signal.SIGKILL)
        running.end()
    else:
        check(running, running.interrupted(), "finished runs are kept; to continue", " ".join(words_of(app)))
    assert app.ran() == ["own", "placed"]
    (tmp_path / "hurry").touch()
    answer, said = asked(*words_of(app)[1:])
    assert "going on from 1 run made" in said
    assert answer["kept_runs"] == 1
    assert app.ran()[0] == "placed"


def test_a_search_interrupted_in_its_first_run_keeps_nothing(foreign: Path, tmp_path: Path) -> None:
    app = App(tmp_path, f"sleep 600\n{foreign} exit 0")
    running = Running(*words_of(app), cwd=tmp_path, code=CODE)
    running.when((tmp_path / "log").exists)
    check(running, running.interrupted(), "nothing is kept; to start again", " ".join(words_of(app)))


def test_two_searches_at_a_time_leave_whole_files(foreign: Path, tmp_path: Path) -> None:
    app = slower_placed(tmp_path, foreign)
    both = [subprocess.Popen([sys.executable, "-c", CODE, "-q", *words_of(app)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    app.ran()
    answer, _ = asked(*words_of(app)[1:])
    assert (app.ran(), answer["kept_runs"]) == ([], len(answer["runs"]))
    assert len(list((tmp_path / "cache" / "searches").iterdir())) == 1


def test_kept_runs_cost_nothing_and_a_further_one_is_weighed(foreign: Path, tmp_path: Path) -> None:
    app = slower_placed(tmp_path, foreign)
    first, _ = asked("--for", "1", app.path)
    assert app.ran() == ["own"]
    assert first["next"]["cost_s"] > first["next"]["saving_s"] > 0
    more, _ = asked("--for", "100000", "--no-cut", app.path)
    assert app.ran() == ["placed"] * (len(more["runs"]) - 1)
    assert len(more["runs"]) > 2
    again, _ = asked("--for", "1", "--no-cut", app.path)
    assert (app.ran(), again["runs"]) == ([], more["runs"])
