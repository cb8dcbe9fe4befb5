"""Advice asked for in jobs: of a whole node, of a part of one, under a mask."""

import os
import re
from pathlib import Path

import pytest

from tests.slurm.cluster import NUMAPREDICT, Cluster
from tests.workloads import example_program

PUS = len(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(PUS < 2, reason="one core has one order only"),
]
ONE_TASK = ("srun", "--nodes=1", "--ntasks=1")
JOBS = {
    "whole": (*ONE_TASK, "--exclusive", f"--cpus-per-task={PUS}"),
    "half": (*ONE_TASK, f"--cpus-per-task={PUS // 2}"),
    "mask": (*ONE_TASK, "--exclusive", f"--cpus-per-task={PUS}", "--cpu-bind=mask_cpu:0x1"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_program(tmp_path_factory.mktemp("heat"))


def test_advice_for_another_machine_is_the_same_in_every_part_of_a_node(slurm: Cluster, program: Path) -> None:
    asked = (*NUMAPREDICT, "--machine", "sandybridge-4x8", str(program), "400", "4")
    answers = {}
    for name, job in JOBS.items():
        done = slurm.run([*job, *asked])
        assert done.returncode == 0, done.stderr
        assert "SLURM job" not in done.stderr  # the answer is of that machine, not of the job's part of this one
        answers[name] = re.search(r"numapredict run --mapping (\S+) -- ", done.stdout)
    assert len({answer[1] for answer in answers.values() if answer}) == 1
    assert all(answers.values())


@pytest.mark.parametrize("name", JOBS)
def test_advice_for_the_node_is_about_what_the_job_has_of_it(slurm: Cluster, program: Path, name: str) -> None:
    """This computer has one memory node: a job is told so, and what it has of it."""
    done = slurm.run([*JOBS[name], *NUMAPREDICT, str(program), "400", "4"])
    pus = PUS if name == "whole" else PUS // 2 if name == "half" else 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"this computer: 1 NUMA node with {pus} core"), done.stderr
    assert sum("SLURM job" in line for line in lines) == {"whole": 0, "half": 1, "mask": 2}[name], done.stderr
    assert ("but this process may use only 1 (mask_cpu:1)" in done.stderr) == (name == "mask")
