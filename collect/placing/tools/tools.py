"""The supported tools, by their names on the command line."""

from typing import Literal, get_args

Tool = Literal["env", "taskset", "numactl", "hwloc", "likwid", "slurm"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

Printed = Literal["env", "taskset", "numactl", "hwloc", "likwid", "slurm", "sbatch", "mpirun"]
OF_RANKS: Printed = "mpirun"
PRINTED: tuple[Printed, ...] = tuple(name for name in get_args(Printed) if name != OF_RANKS)
"""What --emit prints: a tool's command, or as a whole job script the one of ``slurm``; ``run`` also that of ranks."""

TITLES: dict[Tool, str] = {
    "env": "OMP_* alone",
    "taskset": "OMP_* and taskset",
    "numactl": "OMP_* and numactl",
    "hwloc": "OMP_* and hwloc-bind",
    "likwid": "likwid-pin",
    "slurm": "OMP_* and srun",
}
"""Their names in sentences."""
