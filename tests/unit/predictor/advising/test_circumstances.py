import os
from pathlib import Path

import pytest

from numapredict.collect.program import Program, program_of
from numapredict.predictor.advising import circumstances
from numapredict.predictor.advising.circumstances import file_states, start_digest
from tests.searches import TOPOLOGY

TRUE = program_of(("/bin/true", "a"))


def digest(program: Program = TRUE, strict: bool = False) -> str:
    return start_digest(program, TOPOLOGY, strict)


def test_what_a_run_may_depend_on_is_in_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {digest(), digest(program_of(("/bin/true", "b"))), digest(strict=True)}
    found |= {digest(Program(name="t", command=TRUE.command, environment=(("N", "1"),)))}
    found |= {digest(Program(name="t", command=TRUE.command, directory=str(tmp_path)))}
    for name in ("OMP_NUM_THREADS", "KMP_AFFINITY", "GOMP_CPU_AFFINITY", "LD_PRELOAD", "MY_SIZE"):
        monkeypatch.setenv(name, "x")
        found |= {digest()}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {5})
    found |= {digest()}
    monkeypatch.setattr(circumstances, "memory_settings", lambda: (("numa_balancing", "other"),))
    found |= {digest()}
    monkeypatch.setattr(circumstances, "kernel_line", lambda _path: "55aa interleave:0-3 file=/bin/true mapped=2")
    found |= {digest()}
    assert len(found) == 13


def test_what_only_the_session_depends_on_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    for name in ("_", "SHLVL", "OLDPWD", "TERM", "SSH_TTY", "SLURM_STEP_ID", "TMUX_PANE", "NUMAPREDICT_CACHE"):
        monkeypatch.setenv(name, "other")
    assert digest() == before
    monkeypatch.setenv("TERMINALS", "2")
    assert digest() != before


def test_the_files_of_a_program_are_its_executable_and_those_that_arguments_or_a_script_name(tmp_path: Path) -> None:
    for name in ("a b", "in.dat", "app.x", "\udcff"):
        (tmp_path / name).touch()
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\nexec ./app.x <in.dat\n")
    script.chmod(0o755)
    words = ("./run.sh", "a b", "--in=in.dat", "missing", "x\0y", ".", "\udcff")
    found = file_states(Program(name="run", command=words, directory=str(tmp_path)))
    assert [Path(path).name for path, *_ in found] == ["run.sh", "a b", "\\xff", "in.dat", "app.x"]
    (tmp_path / "app.x").write_text("built again")
    assert [
        state for state in found if state not in file_states(Program(name="r", command=words, directory=str(tmp_path)))
    ] == [found[-1]]
