"""Two ranks of one start, whose programs wait for each other: asking is refused, applying is not."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ASK = (sys.executable, "-c", "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())")
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "HWLOC_"))}
ONE = "1x1-contiguous-bind"
# Ends when the program of the other rank has begun.
RANK = """#!/bin/sh
touch "$1/begun.$OMPI_COMM_WORLD_LOCAL_RANK"
while [ "$(ls "$1" | grep -c begun)" -lt 2 ]; do sleep 0.02; done
"""


@pytest.fixture
def program(tmp_path: Path) -> tuple[str, str]:
    script = tmp_path / "rank"
    script.write_text(RANK)
    script.chmod(0o755)
    return str(script), str(tmp_path)


def started(*words: str) -> list[tuple[int, str]]:
    """Start two ranks; return how they ended and what they said."""
    ranks = [
        subprocess.Popen(
            [*ASK, *words],
            env=CLEAN | {"OMPI_COMM_WORLD_LOCAL_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [rank.communicate(timeout=240)[1] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    return [(rank.returncode, text) for rank, text in zip(ranks, said, strict=True)]


@pytest.mark.parametrize("command", ["predict", "characterize", "collect"])
def test_ranks_that_ask_for_advice_get_an_error_and_none_is_measured(
    tmp_path: Path, program: tuple[str, str], command: str
) -> None:
    words = program
    if command == "collect":
        words = ("campaign", "--into", str(tmp_path / "made"), "--mapping", ONE, "--program", shlex.join(program))
    for code, said in started(command, *words):
        assert code == 2, said
        assert "one of 2 tasks that mpirun started" in said
        assert "Traceback" not in said
    assert not list(tmp_path.glob("begun*"))


def test_ranks_that_apply_a_mapping_run_at_the_same_time(tmp_path: Path, program: tuple[str, str]) -> None:
    for code, said in started("run", "--mapping", ONE, "--", *program):
        assert code == 0, said
    assert len(list(tmp_path.glob("begun*"))) == 2
