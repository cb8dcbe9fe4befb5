"""`slurm`: OMP_* for the threads, srun for the task's PUs, numactl inside it for the pages.

srun(1); tests/slurm/test_emitted.py runs it under SLURM 22.05. Outside an allocation --exclusive implies --exact,
so that a step has one CPU unless --cpus-per-task asks for all, and a mask beyond the step's CPUs is an error. Inside
one, a step has all of the job's CPUs by itself, however many SLURM calls them. --mem-bind knows no interleaving, and
does nothing without a plugin: numactl sets the policy. --hint excludes --cpu-bind, and one task needs no
--distribution.
"""

from collections.abc import Mapping as Variables

from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import memory_words
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING
from numapredict.collect.topology import Topology

# srun(1), input environment variables: each stands for an option that excludes or narrows --cpu-bind.
_NARROWING = (
    "SLURM_HINT",
    "SLURM_EXACT",
    "SLURM_THREADS_PER_CORE",
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
)


def srun(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of srun, in the shell's allocation where SLURM_JOB_ID names one, else with a whole node."""
    topology = placement.topology
    mask = sum(1 << pu for pu in placement.pus)
    pages = memory_words(placement)
    inside = "SLURM_JOB_ID" in shell
    words = (
        *("srun", "--nodes=1", "--ntasks=1"),
        *(() if inside else ("--exclusive", f"--cpus-per-task={topology.pu_count}")),
        *("--export=ALL", f"--cpu-bind=mask_cpu:{mask:#x}", "--mem-bind=none"),
        *pages,
        *command,
    )
    each = placement.mapping.threads_per_core
    shared = f"the job needs {each} PUs of each core: it must not have --hint=nomultithread or --threads-per-core=1"
    cautions = (*_cautions(topology, inside, bool(pages)), *((shared,) if each > 1 else ()), *late_binding(placement))
    return Wrapping(emitted_variables(placement, confined=True), words, (*CONFLICTING, *_NARROWING), cautions)


def _cautions(topology: Topology, inside: bool, nested: bool) -> tuple[str, ...]:
    whole = (
        "the job must have these PUs: ask for a whole node by --exclusive (salloc, sbatch)"
        if inside
        else f"--cpus-per-task={topology.pu_count} asks for all PUs of a node: where SLURM has another number of CPUs"
        " there (CPUTot of scontrol show node), put that"
    )
    return (
        whole,
        "--cpu-bind needs SLURM's plugin task/affinity",
        *(("the pages need numactl on the node",) if nested else ()),
    )
