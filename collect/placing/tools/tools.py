"""The tools that can be asked for, by the names that a command line takes."""

from typing import Literal, get_args

Tool = Literal["env", "numactl", "hwloc", "likwid", "slurm"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

TITLES: dict[Tool, str] = {
    "env": "OMP_* alone",
    "numactl": "OMP_* and numactl",
    "hwloc": "OMP_* and hwloc-bind",
    "likwid": "likwid-pin",
    "slurm": "OMP_* and srun",
}
"""What a sentence calls them: what does the placing."""
