"""What a batch system or process launcher gave to a job, by the environment variables that it sets.

sbatch(1) and srun(1), "OUTPUT ENVIRONMENT VARIABLES", tried with SLURM 22.05. From documentation alone: PBS
Professional, qsub(1B), and Torque; LSF, "Environment variables set for job execution"; flux-environment(7); Grid
Engine, submit(1); Open MPI, mpirun(1).
"""

import re
from collections.abc import Callable
from collections.abc import Mapping as Variables

import msgspec

from numapredict.collect.host.tasks import number, of_this_node, tasks_here


class Job(msgspec.Struct, frozen=True):
    """A job of a batch system on this computer.

    ``pus`` is what the job has here, ``task_pus`` what each of its tasks has, ``memory_bytes`` what it may use here;
    None where unknown. ``binding`` is what the system was asked to bind processes to.
    """

    system: str
    identifier: str = ""
    pus: int | None = None
    task_pus: int | None = None
    memory_bytes: int | None = None
    binding: str = ""

    @property
    def name(self) -> str:
        """Return the job as a person would name it: ``SLURM job 123``."""
        return f"{self.system} job {self.identifier}" if self.identifier else self.system


def batch_job(variables: Variables[str, str]) -> Job | None:
    """Return the job that this process is part of, or None; the outermost where one launcher runs within another."""
    return next((job for read in _READERS if (job := read(variables)) is not None), None)


def _slurm(variables: Variables[str, str]) -> Job | None:
    identifier = _name(variables.get("SLURM_JOB_ID", ""))
    if not identifier:
        return None
    pus = number(variables.get("SLURM_CPUS_ON_NODE")) or of_this_node(variables, "SLURM_JOB_CPUS_PER_NODE") or None
    task_pus = number(variables.get("SLURM_CPUS_PER_TASK"))
    tasks = tasks_here(variables)
    if task_pus is None and pus is not None and tasks is not None:  # set only if a number was requested
        task_pus = max(pus // tasks.count, 1)
    memory_MB = number(variables.get("SLURM_MEM_PER_NODE"))
    if memory_MB is None and pus is not None:
        each_MB = number(variables.get("SLURM_MEM_PER_CPU"))
        memory_MB = None if each_MB is None else each_MB * pus
    return Job(
        "SLURM",
        identifier,
        pus,
        task_pus,
        memory_MB << 20 if memory_MB else None,  # --mem=0 asks for all of the computer's
        _name(variables.get("SLURM_CPU_BIND", "")).removeprefix("quiet,"),
    )


def _pbs(variables: Variables[str, str]) -> Job | None:
    identifier = _name(variables.get("PBS_JOBID", "")).partition(".")[0]
    if not identifier:
        return None
    return Job("PBS", identifier, number(variables.get("NCPUS")) or number(variables.get("PBS_NUM_PPN")))


def _lsf(variables: Variables[str, str]) -> Job | None:
    identifier = _name(variables.get("LSB_JOBID", ""))
    if not identifier:
        return None
    hosts = variables.get("LSB_MCPU_HOSTS", "").split()  # name, slots, name, slots ...
    slots = number(hosts[1]) if len(hosts) == 2 else None
    return Job("LSF", identifier, slots, binding=_name(variables.get("LSB_BIND_CPU_LIST", "")))


def _flux(variables: Variables[str, str]) -> Job | None:
    identifier = _name(variables.get("FLUX_JOB_ID", ""))
    return Job("Flux", identifier) if identifier else None


def _grid_engine(variables: Variables[str, str]) -> Job | None:
    identifier = _name(variables.get("JOB_ID", ""))
    if not identifier or "SGE_ROOT" not in variables:  # other software may also set JOB_ID
        return None
    alone = variables.get("NHOSTS", "1") == "1"
    return Job("Grid Engine", identifier, number(variables.get("NSLOTS")) if alone else None)


def _open_mpi(variables: Variables[str, str]) -> Job | None:
    return Job("Open MPI's mpirun") if "OMPI_COMM_WORLD_LOCAL_SIZE" in variables else None


_READERS: tuple[Callable[[Variables[str, str]], Job | None], ...] = (_slurm, _pbs, _lsf, _flux, _grid_engine, _open_mpi)


def _name(text: str) -> str:
    """Return a variable's text as far as it is fit to be shown."""
    return re.sub(r"[^\x21-\x7e]", "", text)[:80]
