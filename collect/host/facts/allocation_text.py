"""An allocation in words, for a person."""

from collections.abc import Iterator, Sequence

from numapredict.collect.host.facts.allocation import Allocation, allocation
from numapredict.collect.host.host import describes_this_computer
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology


def allocation_lines(topology: Topology) -> Iterator[str]:
    """Return lines on what this process was given of this computer, none where it has it all and is in no job."""
    found = allocation(topology) if describes_this_computer() else None
    if found is not None and (found.restricts or found.job is not None):
        yield ""
        yield allocation_in_words(found)
        yield from contradictions_in_words(found)


def restriction_lines(topology: Topology) -> Iterator[str]:
    """Return the lines to log before a run: only what is left out of the machine, or should have been."""
    found = allocation(topology) if describes_this_computer() else None
    if found is None:
        return
    if found.restricts:
        yield allocation_in_words(found)
    yield from contradictions_in_words(found)


def allocation_in_words(found: Allocation) -> str:
    """Return what a job or limit allows: ``SLURM job 123 gave 16 of this computer's 64 PUs: nodes 0 and 1``."""
    text = f"{found.giver} {'gave' if found.job else 'allows'} "
    text += (
        f"all {found.all_pus} PUs of this computer"
        if found.pus == found.all_pus
        else f"{found.pus} of this computer's {found.all_pus} PUs: {_named(found.nodes)}"
    )
    if found.threads_a_core < found.all_threads_a_core:
        text += f"; at most {counted(found.threads_a_core, 'PU')} of a core: no mapping has more threads on one"
    if len(found.memory_nodes) < len(found.all_memory_nodes) and found.memory_nodes != found.nodes:
        text += f", with the memory of {_named(found.memory_nodes)} alone"
    if found.job is not None and found.job.memory_bytes is not None:
        text += f"; {found.job.memory_bytes / 2**30:.1f} GiB of memory"
    return text


def contradictions_in_words(found: Allocation) -> Iterator[str]:
    """Return a line where a job says that it has another number of PUs than this process may use.

    A batch system may count cores where the kernel counts PUs, and give each task of a job its part.
    """
    job = found.job
    if job is None or job.pus is None:
        return
    granted = {job.pus, job.pus * found.threads_a_core}
    if job.task_pus is not None:
        granted |= {job.task_pus, job.task_pus * found.threads_a_core}
    if found.pus in granted:
        return
    given = f"{job.name} has {counted(job.pus, 'PU')} here"
    bound = f" ({job.binding})" if job.binding else ""
    if found.pus > max(granted):
        yield (
            f"{given}, but this process is not bound to that{bound}: it takes {found.pus}; start it bound, with "
            "srun --cpu-bind=cores or taskset"
        )
    else:
        yield (
            f"{given}, but this process may use only {found.pus}{bound}: for all of them start it unbound, with "
            "srun --cpu-bind=none or mpirun --bind-to none"
        )


def _named(nodes: Sequence[int]) -> str:
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    return f"nodes {', '.join(map(str, nodes[:-1]))} and {nodes[-1]}"
