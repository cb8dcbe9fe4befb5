"""The command of another tool, alone on standard output, with its limits logged."""

import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from numapredict.collect.binding import mapping_on, threads_asked
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.placement import resolve
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.mapping_here import placement_of
from numapredict.collect.placing.tools.emission import emit
from numapredict.collect.placing.tools.of_ranks import mpirun_of_ranks, srun_of_ranks
from numapredict.collect.placing.tools.tools import TITLES, Printed, Tool
from numapredict.collect.program import Program, program_of
from numapredict.collect.rank_share import split_label
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError, UnsupportedMappingError, UsageError

if TYPE_CHECKING:  # `run --emit` gives no advice, and what advises loads SciPy
    from numapredict.predictor.advising.advice import Advice

log = logging.getLogger(__name__)

_L3S = re.compile("-[0-9]+l3")
_ONE_PROCESS = "cannot deal a mapping to the ranks of a job"

SBATCH = ("#!/bin/sh", "#SBATCH --nodes=1", "#SBATCH --ntasks=1", "#SBATCH --exclusive")
"""The head of a job script (sbatch(1)): without --exclusive a job has some of a node's PUs."""


def command_for_mapping(printed: Printed, label: str, command: tuple[str, ...]) -> str:
    """Return the command by which a tool runs the program under a labelled mapping on this computer; nothing is run.

    Each part that it cannot apply is logged. Raises InvalidMappingError if the mapping does not fit this computer,
    and UnsupportedMappingError if the tool can apply no part of it.
    """
    topology = host_topology()
    if printed == "mpirun" or split_label(label)[1] is not None:
        return _of_ranks(printed, label, command, topology)
    tool = _tool(printed)
    if starts_tasks(command):
        raise UnsupportedMappingError(
            f"{TITLES[tool]} {_ONE_PROCESS}, and {command[0]} starts some: leave --emit out, or use --emit mpirun"
            f" with {_L3S.sub('', label)}-1pernode (or -2persocket, -1perl3) and the program that each rank runs"
        )
    mapping = mapping_on(topology, label, threads_asked(os.environ.get("OMP_NUM_THREADS")))
    placement = resolve(mapping, topology)
    program = program_of(command)
    emission = emit(tool, placement, program, os.environ)
    obstacle = preloading_obstacle(tool, program)
    if obstacle and emission.mapping.page_policy == "first-touch" and len(topology.memory_nodes) > 1:
        raise UnsupportedMappingError(
            f"{TITLES[tool]} cannot express {mapping} for {program.name}: {obstacle}, and it has no option for "
            "the pages; the nearest is --emit numactl"
        )
    for line in (obstacle, emission.note, *emission.cautions):
        if line:
            log.info(line)
    return _script(printed, emission.text)


def command_for_advice(printed: Printed, advice: "Advice", program: Program) -> str:
    """Return the command by which a tool applies the advice, or the best mapping of the answer that it can apply.

    Its limits are logged with our name in front, since only the command goes to standard output.
    """
    tool = _tool(printed)
    if not advice.alternatives and starts_tasks(program.command):
        log.info(f"numapredict: {TITLES[tool]} {_ONE_PROCESS}: this is numapredict's own command")
        return _script(printed, advice.command)
    if advice.disturbed:
        log.warning(f"numapredict: {busy_in_words(advice.disturbed)}: this is the command of the program as it is")
        return _script(printed, advice.command)
    if not advice.alternatives:
        log.info("numapredict: no mapping was faster than the program as it is now: this is its command")
        return _script(printed, advice.command)
    alternative = next(one for one in advice.alternatives if one.tool == tool)
    if not alternative.exact:
        speed = alternative.speedup
        how = "modelled" if advice.modelled else "in its run"
        expected = f", {speed:.2f}x {how}" if speed is not None else ""
        log.info(
            f"numapredict: {TITLES[tool]} cannot express {advice.mapping}, which is advised: this command applies"
            f" {alternative.mapping}{expected}, instead; exact: {advice.command}"
        )
    for line in (preloading_obstacle(tool, program), alternative.note, *alternative.cautions):
        if line:
            log.info(f"numapredict: {line}")
    return _script(printed, alternative.command)


def _of_ranks(printed: Printed, label: str, command: tuple[str, ...], topology: Topology) -> str:
    """Return the command that starts ranks, each in its share of a mapping."""
    placement, ranks = placement_of(topology, label)
    if ranks is None:
        raise UsageError(
            f"say where the ranks go, as with --mapping {_L3S.sub('', label)}-1pernode: --emit mpirun starts ranks"
        )
    program = program_of(command)
    if starts_tasks(command):
        raise UsageError(f"--emit {printed} starts the ranks itself: give what each runs, without {command[0]}")
    if printed == "mpirun":
        text, doubt = mpirun_of_ranks(placement, label, program)
        if doubt:
            log.info(doubt)
        return text
    if printed not in {"slurm", "sbatch"}:
        raise UsageError(f"--emit {printed} starts one process: use --emit mpirun or slurm for {label}")
    inside = printed == "sbatch" or "SLURM_JOB_ID" in os.environ
    return _script(printed, srun_of_ranks(placement, label, program, inside=inside), placement.ranks)


def _tool(printed: Printed) -> Tool:
    if printed == "mpirun":
        raise UsageError("--emit mpirun is for ranks: numapredict run --mapping LABEL-1pernode --emit mpirun")
    return "slurm" if printed == "sbatch" else printed


def _script(printed: Printed, command: str, tasks: int = 1) -> str:
    """Return a command as it is to be printed: in a job script of a whole node for ``sbatch``."""
    if printed != "sbatch":
        return command
    return "\n".join([*SBATCH, command]).replace("--ntasks=1\n", f"--ntasks={tasks}\n")


def preloading_obstacle(tool: Tool, program: Program) -> str:
    """Return why likwid-pin would leave the program's threads unpinned, or an empty text.

    It pins in pthread_create, by a library that it preloads. Empty, too, for a program that is not found.
    """
    if tool != "likwid":
        return ""
    try:
        executable = Path(program.directory or ".") / executable_of(program)
    except UnrunnableProgramError:
        return ""
    reason = preload_obstacle(executable, Path(sys.executable))
    return f"likwid-pin preloads a library to pin threads, which does not work here: {reason}" if reason else ""
