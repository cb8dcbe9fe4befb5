"""`slurm`: OMP_* for the threads, srun for the task's PUs and the node of its pages.

Written after srun(1), and never run under SLURM. Explicit masks are honoured only where the whole node is allocated.
--cpus-per-task is left out: since 21.08 it implies --exact, and the step then gets PUs of SLURM's choice. --hint
excludes --cpu-bind, and one task needs no --distribution.
"""

from collections.abc import Mapping as Variables

from numapredict.collect.emission.wrapping import Wrapping, late_binding
from numapredict.collect.machines.command import EXPRESSIBLE, openmp_variables
from numapredict.collect.machines.variables import CONFLICTING
from numapredict.collect.mapping import Mapping
from numapredict.collect.placement import page_node_set, thread_slots
from numapredict.collect.topology import Topology

# srun(1), input environment variables: each stands for an option that excludes or narrows --cpu-bind.
_NARROWING = (
    "SLURM_HINT",
    "SLURM_EXACT",
    "SLURM_THREADS_PER_CORE",
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
)
_CAUTIONS = (
    "srun must have the whole node: in an allocation of your own (salloc, sbatch) ask for it by --exclusive",
    "--cpu-bind and --mem-bind need SLURM's plugin task/affinity",
)


def srun(mapping: Mapping, topology: Topology, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping | None:
    """Return the call of srun, in the shell's allocation where SLURM_JOB_ID names one; it has no interleaving."""
    memory = _memory(mapping, topology)
    if memory is None:
        return None
    mask = sum(1 << slot.pu for slot in thread_slots(mapping, topology))
    words = (
        *("srun", "--nodes=1", "--ntasks=1"),
        *(() if "SLURM_JOB_ID" in shell else ("--exclusive",)),
        *("--export=ALL", f"--cpu-bind=mask_cpu:{mask:#x}", f"--mem-bind={memory}"),
        *command,
    )
    cautions = (*_CAUTIONS, *late_binding(mapping, topology))
    return Wrapping(openmp_variables(mapping, topology), words, (*CONFLICTING, *_NARROWING), cautions)


def _memory(mapping: Mapping, topology: Topology) -> str | None:
    """Return what --mem-bind takes: ``none`` for first touch, else the one node; None for several nodes in turn."""
    if len(topology.memory_nodes) == 1 or mapping.page_policy == "first-touch":
        return "none"
    nodes = page_node_set(mapping, topology)
    if mapping.page_policy not in EXPRESSIBLE or len(nodes) > 1:
        return None
    return f"map_mem:{topology.nodes[nodes[0]].os_index}"
