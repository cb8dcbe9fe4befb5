"""What batch systems set for their jobs, as their documentation has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.host.batch_job import Job, batch_job

SLURM = {"SLURM_JOB_ID": "123"}
NAMES = ("SLURM_JOB_ID", "SLURM_JOB_CPUS_PER_NODE", "SLURM_NODEID", "SLURM_MEM_PER_CPU", "PBS_JOBID", "LSB_MCPU_HOSTS")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"SLURM_JOB_ID": ""}, None),
        ({"SLURM_CPUS_ON_NODE": "4"}, None),  # left over outside a job
        (SLURM, Job("SLURM", "123")),
        (SLURM | {"SLURM_CPUS_ON_NODE": "16", "SLURM_JOB_CPUS_PER_NODE": "99"}, Job("SLURM", "123", 16)),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "16"}, Job("SLURM", "123", 16)),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "16(x2),8", "SLURM_NODEID": "1"}, Job("SLURM", "123", 16)),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "16(x2),8", "SLURM_NODEID": "2"}, Job("SLURM", "123", 8)),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "16(x2),8", "SLURM_NODEID": "3"}, Job("SLURM", "123")),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "many"}, Job("SLURM", "123")),
        (SLURM | {"SLURM_JOB_CPUS_PER_NODE": "0"}, Job("SLURM", "123")),
        (SLURM | {"SLURM_CPUS_PER_TASK": "8"}, Job("SLURM", "123", task_pus=8)),
        (SLURM | {"SLURM_MEM_PER_NODE": "2048"}, Job("SLURM", "123", memory_bytes=2 << 30)),
        (SLURM | {"SLURM_MEM_PER_NODE": "0"}, Job("SLURM", "123")),
        (
            SLURM | {"SLURM_MEM_PER_CPU": "512", "SLURM_CPUS_ON_NODE": "4"},
            Job("SLURM", "123", 4, memory_bytes=2 << 30),
        ),
        (SLURM | {"SLURM_CPU_BIND": "quiet,mask_cpu:0x3"}, Job("SLURM", "123", binding="mask_cpu:0x3")),
        (  # srun -n 2: each task has its half, and SLURM_CPUS_PER_TASK is not set
            SLURM | {"SLURM_CPUS_ON_NODE": "8", "SLURM_STEP_ID": "0", "SLURM_STEP_TASKS_PER_NODE": "2"},
            Job("SLURM", "123", 8, 4),
        ),
        ({"PBS_JOBID": "77.server.example", "NCPUS": "12"}, Job("PBS", "77", 12)),
        ({"PBS_JOBID": "77[3].server", "PBS_NUM_PPN": "6"}, Job("PBS", "77[3]", 6)),
        ({"LSB_JOBID": "5", "LSB_MCPU_HOSTS": "a 16"}, Job("LSF", "5", 16)),
        ({"LSB_JOBID": "5", "LSB_MCPU_HOSTS": "a 16 b 8"}, Job("LSF", "5")),
        ({"FLUX_JOB_ID": "ƒ2xY"}, Job("Flux", "2xY")),
        ({"JOB_ID": "9", "NSLOTS": "4"}, None),
        ({"JOB_ID": "9", "NSLOTS": "4", "SGE_ROOT": "/opt", "NHOSTS": "1"}, Job("Grid Engine", "9", 4)),
        ({"JOB_ID": "9", "NSLOTS": "4", "SGE_ROOT": "/opt", "NHOSTS": "2"}, Job("Grid Engine", "9")),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, Job("Open MPI's mpirun")),
        (SLURM | {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, Job("SLURM", "123")),
    ],
)
def test_a_job_by_its_variables(variables: dict[str, str], expected: Job | None) -> None:
    assert batch_job(variables) == expected


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=100)))
def test_any_text_is_shown_in_one_line_or_left(variables: dict[str, str]) -> None:
    job = batch_job(variables)
    if job is not None:
        assert job.name.isprintable()
        assert job.name.isascii()
        assert job.pus is None or job.pus >= 1
