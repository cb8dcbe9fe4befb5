"""`mpirun` and `slurm` for ranks that share a mapping: the launcher's own command, with each rank's place in it; pure.

mpirun(1) of Open MPI binds ranks that have a node's cores in a row, as many on each node. Others have a line each: Open
MPI and MPICH both take contexts with `:` between them, where numactl and OMP_* place a rank and the launcher binds
nothing. srun(1) takes a mask for each task in their order; it has no way to give each task variables of its own, so the
threads of a rank are in the order of its cores, with pages by first touch.
"""

from collections.abc import Sequence

from numapredict.collect.page_policy import EXPRESSIBLE
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.command import applied, launch, left_to_first_touch, nearest_expressible, run_words
from numapredict.collect.program import Program
from numapredict.collect.rank_share import share_of
from numapredict.collect.terminal.printable import command_line
from numapredict.native.errors import UnsupportedMappingError


def mpirun_of_ranks(placement: Placement, label: str, program: Program) -> tuple[str, str]:
    """Return the command of mpirun, and what it does not apply, empty where nothing."""
    shares = [share_of(placement, rank, placement.ranks) for rank in range(placement.ranks)]
    exact = f"{run_words(label)}mpirun -n {placement.ranks} {command_line(program.command)}"
    each = _ranks_a_node(placement, shares)
    if each:
        return _of_open_mpi(shares, each, program), f"--map-by is Open MPI's; for MPICH: {exact}"
    contexts, doubt = [], ""
    for rank in range(placement.ranks):
        share = applied(shares[rank])
        if share.mapping.page_policy not in EXPRESSIBLE:
            share = resolve(nearest_expressible(share.mapping), share.topology)
            doubt = f"numactl cannot express {placement.mapping.pages}: this command uses {share.mapping.pages} instead"
        placed = launch(share)
        variables = (f"{name}={value}" for name, value in placed.environment)
        contexts.append(command_line(("-n", "1", "env", *variables, *placed.numactl, *program.command)))
    return "mpirun --bind-to none " + " : \\\n  ".join(contexts), f"{doubt}; exact: {exact}" if doubt else ""


def _ranks_a_node(placement: Placement, shares: Sequence[Placement]) -> int:
    """Return how many ranks each node has where all have its cores in a row, one thread each; else 0."""
    nodes, threads = placement.topology.cpu_nodes, len(shares[0].pus)
    each = len(shares) // len(nodes)
    for rank, share in enumerate(shares):
        if each * len(nodes) != len(shares) or not left_to_first_touch(applied(share)):
            return 0
        first = rank % each * threads
        if share.pus != tuple(core.pus[0] for core in nodes[rank // each].cores[first : first + threads]):
            return 0
    return each


def _of_open_mpi(shares: Sequence[Placement], each: int, program: Program) -> str:
    threads = len(shares[0].pus)
    variables = {"NUM_THREADS": threads, "PLACES": "cores", "PROC_BIND": "close", "DYNAMIC": "false"}
    words = ("mpirun", "-n", str(len(shares)), "--map-by", f"ppr:{each}:numa:pe={threads}", "--bind-to", "core")
    given = (word for name, value in variables.items() for word in ("-x", f"OMP_{name}={value}"))
    return command_line((*words, *given, *program.command))


def srun_of_ranks(placement: Placement, label: str, program: Program, *, inside: bool) -> str:
    """Return the command of srun, ``inside`` an allocation; raise UnsupportedMappingError where it cannot apply it."""
    shares = [share_of(placement, rank, placement.ranks) for rank in range(placement.ranks)]
    exact = f"use --emit mpirun, or {run_words(label)}srun --ntasks={placement.ranks} {command_line(program.command)}"
    if any(list(share.pus) != sorted(share.pus) for share in shares):
        raise UnsupportedMappingError(f"srun cannot put the threads of a rank in the order of {label}: {exact}")
    if not all(left_to_first_touch(applied(share)) for share in shares):
        raise UnsupportedMappingError(f"srun cannot express {placement.mapping.pages} for ranks: {exact}")
    masks = ",".join(f"{sum(1 << pu for pu in share.pus):#x}" for share in shares)
    kind = "threads" if placement.mapping.threads_per_core > 1 else "cores"
    variables = f"OMP_NUM_THREADS={len(shares[0].pus)} OMP_PLACES={kind} OMP_PROC_BIND=close OMP_DYNAMIC=false"
    words: tuple[str, ...] = ("srun", "--nodes=1", f"--ntasks={placement.ranks}", "--export=ALL")
    if not inside:  # else each task would get one CPU
        words += ("--exclusive", f"--cpus-per-task={placement.topology.pu_count // placement.ranks}")
    return f"{variables} {command_line((*words, f'--cpu-bind=mask_cpu:{masks}', '--mem-bind=none', *program.command))}"
