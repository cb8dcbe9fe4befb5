"""How many tasks (mostly MPI ranks) one job step started on this computer, by the launcher's variables.

srun(1), tried with SLURM 22.05, and mpirun(1) of Open MPI, tried with 4.1; by documentation: MPICH and Intel MPI
(Hydra), MVAPICH2, Cray's PALS and flux-environment(7). MPICH until 3.2 gives each rank its number on the node, but
always a count of 1 (pmodels/mpich, pull request 2371): both are read. A batch script is one process, independent of
its job's number of tasks.
"""

import os
import re
from collections.abc import Mapping as Variables
from collections.abc import Sequence

import msgspec

from numapredict.native.errors import UsageError


class Tasks(msgspec.Struct, frozen=True):
    """So many tasks were started on this computer by ``starter``; ``alone`` is the command that starts one.

    ``rank`` is this task's number on this computer, from 0; None where unknown.
    """

    count: int
    starter: str
    alone: str
    rank: int | None = None


class _Starter(msgspec.Struct, frozen=True):
    """A launcher's variables: the number of tasks on a node, and this task's number there, from 0."""

    name: str
    alone: str
    count: str
    rank: str


_STARTERS = (
    _Starter("mpirun", "mpirun -n 1", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    _Starter("mpiexec", "mpiexec -n 1", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"),
    _Starter("mpirun", "mpirun -n 1", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
    _Starter("mpiexec", "mpiexec -n 1", "PMI_LOCAL_SIZE", "PMI_LOCAL_RANK"),
    _Starter("flux", "flux run -n 1", "", "FLUX_TASK_LOCAL_ID"),
)


_LAUNCHERS = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich"}
    | {"orterun", "prterun", "prun", "srun", "jsrun", "aprun", "ibrun", "mpirun_rsh", "flux"}
)
UNBOUND = (
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),  # Open MPI 4
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),  # Open MPI 5
    ("SLURM_CPU_BIND", "none"),  # srun
)
"""Variables by which launchers leave ranks on all PUs, unless their command line says otherwise."""


def starts_tasks(command: Sequence[str]) -> bool:
    """Return whether a command is a launcher, which starts tasks and computes nothing itself."""
    return bool(command) and os.path.basename(command[0]) in _LAUNCHERS


def check_one_asker(variables: Variables[str, str] | None = None) -> None:
    """Raise UsageError where this process is one of several tasks that were started together on this computer.

    Programs of such tasks often wait for each other, and the measurement lock admits one: its holder's program would
    wait for another task's program, which waits for the lock.
    """
    found = tasks_here(os.environ if variables is None else variables)
    if found is not None and found.count > 1:
        raise UsageError(
            f"this is one of {found.count} tasks that {found.starter} started on this computer, and only one may"
            f" measure: ask from one process ({found.alone} numapredict ...), then start all tasks by numapredict run"
            " with the mapping"
        )


def tasks_here(variables: Variables[str, str]) -> Tasks | None:
    """Return the largest number of tasks started here together with this process, or None where unknown."""
    found = [
        Tasks(count, one.name, one.alone, number(variables.get(one.rank), least=0))
        for one in _STARTERS
        if (count := _count(variables, one))
    ]
    flux, nodes = (number(variables.get(name)) for name in ("FLUX_JOB_SIZE", "FLUX_JOB_NNODES"))
    if flux and nodes and "FLUX_TASK_LOCAL_ID" in variables:
        found.append(
            Tasks(-(-flux // nodes), "flux", "flux run -n 1", number(variables["FLUX_TASK_LOCAL_ID"], least=0))
        )
    slurm = of_this_node(variables, "SLURM_STEP_TASKS_PER_NODE") if "SLURM_STEP_ID" in variables else None
    if slurm:
        pus = number(variables.get("SLURM_CPUS_ON_NODE"))  # without, a step of one task may get one PU
        alone = "srun --ntasks=1" + (f" --cpus-per-task={pus}" if pus else "")
        found.append(Tasks(slurm, "srun", alone, number(variables.get("SLURM_LOCALID"), least=0)))
    return max(found, key=lambda tasks: tasks.count, default=None)


def of_this_node(variables: Variables[str, str], name: str) -> int | None:
    """Return this node's entry of a SLURM list (``16(x2),8``), by the node's index in the job or the step."""
    counts = []
    for part in variables.get(name, "").split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:\(x([0-9]{1,5})\))?", part.strip())
        if match is None:
            return None
        counts += [int(match[1])] * int(match[2] or 1)
    place = number(variables.get("SLURM_NODEID", "0"), least=0)
    return counts[place] if place is not None and place < len(counts) else None


def number(text: str | None, least: int = 1) -> int | None:
    """Return the number in a text, or None where it is missing, no number, or below ``least``."""
    text = (text or "").strip()  # int() strips less: not every separator of Unicode
    if not re.fullmatch(r"[0-9]{1,9}", text):
        return None
    found = int(text)
    return found if found >= least else None


def _count(variables: Variables[str, str], starter: _Starter) -> int | None:
    count = number(variables.get(starter.count))
    rank = number(variables.get(starter.rank), least=0)
    return max(count or 0, 0 if rank is None else rank + 1) or None
