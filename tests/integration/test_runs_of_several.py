"""Commands that start several programs: who has which PU, whose profile and region times are kept."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.test_placed_run import CORES, NUMAPREDICT, placed
from tests.preloaded import GCC, built

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(CORES < 2, reason="on one PU a bound program cannot be distinguished from a free one"),
]
MAPPING = ("run", "--mapping", f"{CORES}x1-contiguous-bind")
FIRST, SECOND = ([*map(str, sorted(os.sched_getaffinity(0))), ""])[:2]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program that says where it may run, by the kernel's word, and waits for the end of its input."""
    return built("holder.c", tmp_path_factory.mktemp("holder"), GCC)


def said(script: str, program: Path, *options: str) -> tuple[list[str], str]:
    """Return the lines that a shell script's programs said, and what was said beside them."""
    done = placed(*MAPPING, *options, "--", "bash", "-c", script, environment={"P": str(program)}, input="")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_one_program_after_another_has_the_slots(program: Path) -> None:
    assert said("$P a; $P b; exec $P c", program)[0] == [f"{name} {FIRST}" for name in "abc"]


def test_while_one_process_has_a_pu_others_have_the_next(program: Path) -> None:
    script = 'coproc $P a; read line <&${COPROC[0]}; echo "$line"; $P b; $P c; exec {COPROC[1]}>&-; wait; $P d'
    lines, reported = said(script, program, "--verify")
    assert lines == [f"a {FIRST}", f"b {SECOND}", f"c {SECOND}", f"d {FIRST}"]
    assert "verify: 4 of 4 threads were bound to their PU at each check, in 4 processes" in reported


def test_the_slots_are_free_again_after_a_kill(program: Path) -> None:
    script = "coproc $P a; read line <&${COPROC[0]}; kill -9 $COPROC_PID; wait; $P b"
    assert said(script, program)[0] == [f"b {FIRST}"]


def test_programs_of_one_that_has_a_pu_have_it_in_turn(program: Path) -> None:
    # A script in a language with threads leaves its PU to the programs that it starts.
    lines, _ = said("$P a start b start c", program)
    assert lines == [f"a {FIRST}", f"b {FIRST}", f"c {FIRST}"]
    # The same process in another program keeps it from those beside it.
    script = (
        'coproc $P a exec b; read one <&${COPROC[0]}; read two <&${COPROC[0]}; echo "$one"; echo "$two";'
        " $P c exec d; exec {COPROC[1]}>&-; wait"
    )
    lines, _ = said(script, program)
    assert lines == [f"a {FIRST}", f"b {FIRST}", f"c {SECOND}", f"d {SECOND}"]
    lines, _ = said("$P a exec b", program)
    assert lines == [f"a {FIRST}", f"b {FIRST}"]


def test_a_forked_child_does_not_keep_a_pu(program: Path) -> None:
    lines, _ = said("$P a leave 2; $P b", program)
    assert lines == [f"a {FIRST}", f"b {FIRST}"]


def test_two_runs_have_a_pu_each(program: Path) -> None:
    command = [*NUMAPREDICT, *MAPPING, "--", str(program), "a"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == f"a {FIRST}\n"
        assert said("$P b", program)[0] == [f"b {SECOND}"]
        other.communicate("", timeout=240)


def test_the_claims_take_no_low_descriptor(program: Path) -> None:
    assert said("$P a descriptor", program)[0] == [f"a {FIRST}", "3"]


def test_each_program_has_its_region_times_and_its_profile(program: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    (tmp_path / "profile.2").write_text("somebody's")
    _, reported = said("$P a regions 3; true; $P b regions 4", program, "--regions", "--profile", str(profile))
    lines = reported.splitlines()
    assert any("2 programs had parallel regions, in order" in line for line in lines)
    assert [line.split()[1] for line in lines if "+0x" in line and "regions:" not in line] == ["3", "4"]
    assert "profile: 2 programs had parallel regions: a profile of each, in order of writing" in reported
    assert any(f"profile: {profile}: " in line for line in lines)
    assert any(f"{profile}.2 is there already and is no profile" in line for line in lines)
    assert (tmp_path / "profile.2").read_text() == "somebody's"
    (tmp_path / "profile.2").unlink()
    first = profile.read_bytes()
    for _ in range(2):  # what is there of a run before is replaced
        _, reported = said("$P a regions 3; $P b regions 4", program, "--profile", str(profile))
        assert f"profile: {profile}.2: " in reported
    assert profile.read_bytes()[:8] == (tmp_path / "profile.2").read_bytes()[:8] == first[:8]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile", "profile.2"]
