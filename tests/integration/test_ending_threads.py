"""Threads that end while pages are protected: the C library frees next to these with all signals blocked."""

import os
import subprocess

import pytest

from tests.preloaded import GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
MAPPING = f"cpus={CPU}*4;homes=0*2,1*2;threads=contiguous;nodes=0,1"


@pytest.mark.parametrize("pages", ["locality", "balance", "mix"])
def test_nested_teams_that_end_and_begin_again_run_as_without_it(
    pages: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = built("ending_teams.c", tmp_path_factory.mktemp("ending"), GCC)
    command = [program, "200"]
    alone = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    for _ in range(2):
        environment = placed(f"{MAPPING};pages={pages}", 4)
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stdout) == (0, alone.stdout)
