"""The supported tools, by their names on the command line."""

from typing import Literal, get_args

Tool = Literal["env", "numactl", "hwloc", "likwid", "slurm"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

Printed = Literal["env", "numactl", "hwloc", "likwid", "slurm", "sbatch", "mpirun"]
PRINTED: tuple[Printed, ...] = get_args(Printed)
"""What --emit prints: a tool's command, as a whole job script the one of ``slurm``, or that of ranks."""

TITLES: dict[Tool, str] = {
    "env": "OMP_* alone",
    "numactl": "OMP_* and numactl",
    "hwloc": "OMP_* and hwloc-bind",
    "likwid": "likwid-pin",
    "slurm": "OMP_* and srun",
}
"""Their names in sentences."""
