"""What numapredict makes of a job that SLURM really gave it, and of the tasks that srun really started."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.slurm.cluster import NUMAPREDICT, Cluster

PUS = len(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.skipif(PUS < 2, reason="one core has one order only"),
]
TOPOLOGY = (*NUMAPREDICT, "topology")
WHOLE = ("srun", "--nodes=1", "--ntasks=1", "--exclusive", f"--cpus-per-task={PUS}")


def reported(text: str) -> list[str]:
    """Return what is said of the job, without its number."""
    return [re.sub(r"job \d+", "job", line) for line in text.splitlines() if "SLURM job" in line]


def test_a_step_of_a_whole_node(slurm: Cluster) -> None:
    done = slurm.run([*WHOLE, *TOPOLOGY])
    assert done.returncode == 0, done.stderr
    assert reported(done.stdout) == [f"SLURM job gave all {PUS} PUs of this computer"]


def test_a_mask_is_named_and_how_to_do_without(slurm: Cluster) -> None:
    done = slurm.run([*WHOLE, "--cpu-bind=mask_cpu:0x1", *TOPOLOGY])
    assert reported(done.stdout) == [
        f"SLURM job gave 1 of this computer's {PUS} PUs: node 0",
        f"SLURM job has {PUS} PUs here, but this process may use only 1 (mask_cpu:1): for all of them start it unbound,"
        " with srun --cpu-bind=none or mpirun --bind-to none",
    ]


def test_memory_that_was_requested_is_reported_in_a_job_script(slurm: Cluster) -> None:
    """A srun outside a job sets no variable of memory (22.05)."""
    done = slurm.batch(shlex.join(TOPOLOGY), "--nodes=1", "--exclusive", "--mem=512M")
    assert reported(done.stdout) == [f"SLURM job gave all {PUS} PUs of this computer; 0.5 GiB of memory"]


def test_tasks_with_a_part_each_have_what_they_were_given(slurm: Cluster) -> None:
    done = slurm.run(["srun", "--nodes=1", "--ntasks=2", f"--cpus-per-task={PUS // 2}", *TOPOLOGY])
    assert reported(done.stdout) == [f"SLURM job gave {PUS // 2} of this computer's {PUS} PUs: node 0"] * 2
    # SLURM sets no SLURM_CPUS_PER_TASK where that was not asked for.
    done = slurm.run(["srun", "--nodes=1", f"--ntasks={PUS}", *TOPOLOGY])
    assert reported(done.stdout) == [f"SLURM job gave 1 of this computer's {PUS} PUs: node 0"] * PUS


def test_a_batch_script_is_one_process_whatever_its_job_has(slurm: Cluster, tmp_path: Path) -> None:
    asked = shlex.join([*NUMAPREDICT, "characterize", "--dry-run", "--", "true"])
    done = slurm.batch(f"{shlex.join(TOPOLOGY)}\n{asked} 2>&1", "--nodes=1", f"--ntasks={PUS}")
    assert reported(done.stdout) == [f"SLURM job gave all {PUS} PUs of this computer"]
    assert "tasks that srun started" not in done.stdout


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """A program of ranks that wait for each other."""
    script = tmp_path / "rank"
    script.write_text(
        '#!/bin/sh\ntouch "$1/begun.$SLURM_PROCID"\n'
        'while [ "$(ls "$1" | grep -c begun)" -lt "$SLURM_NTASKS" ]; do sleep 0.02; done\n'
    )
    script.chmod(0o755)
    return [str(script), str(tmp_path)]


def test_two_tasks_that_ask_are_refused_and_do_not_wait_for_each_other(
    slurm: Cluster, tmp_path: Path, program: list[str]
) -> None:
    done = slurm.run(["srun", "--nodes=1", "--ntasks=2", *NUMAPREDICT, "characterize", "--", *program])
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("this is one of 2 tasks that srun started on this computer") == 2
    alone = re.search(r"ask from one process \((srun .*) numapredict \.\.\.\)", done.stderr)
    assert alone
    # As many PUs as the two tasks had: one each.
    assert re.search(r"gave (all )?2 (PUs )?of this computer", slurm.run([*alone[1].split(), *TOPOLOGY]).stdout)
    assert not list(tmp_path.glob("begun*"))


def test_two_tasks_that_apply_a_mapping_run_at_the_same_time(
    slurm: Cluster, tmp_path: Path, program: list[str]
) -> None:
    label = "1x1-contiguous-bind"
    done = slurm.run(["srun", "--nodes=1", "--ntasks=2", *NUMAPREDICT, "run", "--mapping", label, "--", *program])
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("begun*"))) == 2


def test_one_task_a_node_may_ask(slurm: Cluster, tmp_path: Path) -> None:
    """Both nodes are this computer here, so that they take turns."""
    words = ["campaign", "--mapping", "1x1-contiguous-bind", "--repetitions", "1", "--program", "true"]
    script = f'exec {shlex.join([*NUMAPREDICT, "collect", *words])} --into "{tmp_path}/$SLURM_PROCID"'
    done = slurm.run(["srun", "--nodes=2", "--ntasks=2", "sh", "-c", script])
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / name / "measurements.parquet").exists() for name in "01")
