"""Describing this computer: what `numapredict topology --measure` does."""

import datetime
import logging
import os
from pathlib import Path

from numapredict.collect.describing.caches import found_caches
from numapredict.collect.describing.computer import Shape, measure_computer
from numapredict.collect.describing.description import About, described
from numapredict.collect.describing.doubts import doubts
from numapredict.collect.describing.pairs import ALL_PAIRS, check_memory
from numapredict.collect.host.durable import refused_as, replace_file
from numapredict.collect.host.environment import emulation, host_environment
from numapredict.collect.host.facts.memory import node_memories
from numapredict.collect.host.host import describes_this_computer, host_cache_details, host_topology
from numapredict.collect.host.known_bandwidths import keep_bandwidths
from numapredict.collect.host.packages import packages
from numapredict.collect.host.tasks import check_one_asker
from numapredict.collect.measuring.disturbance import wait_for_quiet
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.modelled.description import described_by
from numapredict.collect.modelled.description_file import MachineFile, parse_file
from numapredict.collect.modelled.description_text import description_text
from numapredict.collect.terminal.progress import doing
from numapredict.native.errors import InvalidInputError, UsageError

QUIET_S = 10.0

log = logging.getLogger(__name__)


def measure_this_computer(output: Path | None) -> MachineFile:
    """Measure this computer, write its description to ``output`` if one is given, and return it.

    Raises UsageError where the environment names another machine or has several tasks, InvalidInputError where
    ``output`` cannot be written (before anything is measured), and UnrunnableProgramError where something cannot be
    measured.
    """
    check_one_asker()
    if not describes_this_computer():
        raise UsageError("--measure is for this computer: unset HWLOC_XMLFILE, HWLOC_SYNTHETIC and HWLOC_FSROOT")
    if output is not None:
        _check_writable(output)
    topology = host_topology()
    caches = found_caches(topology, host_cache_details())
    check_memory(topology, caches, node_memories(Path("/")))
    if emulation():
        log.warning(f"{emulation()} emulates this computer: the figures say nothing of a real one")
    if len(topology.nodes) > ALL_PAIRS:
        log.info(f"{len(topology.nodes)} nodes: of the remote pairs with the same distance one is measured")
    with MeasurementLock().take():
        pus = [core.pus[0] for node in topology.cpu_nodes for core in node.cores]
        with doing("waiting until other programs are done"):
            quiet = wait_for_quiet(pus, QUIET_S) is None
        if not quiet:
            log.warning("other programs use these cores: the figures will be off (numapredict doctor says more)")
        measured = measure_computer(Shape(topology, caches, packages()))
    for doubt in doubts(measured):
        log.warning(doubt)
    file = described(measured, _about(output))
    text = description_text(file, "Made by `numapredict topology --measure`; models/machines/README.md has the format.")
    bandwidths = described_by(parse_file(text.encode(), "of this computer")).topology.bandwidths
    if bandwidths is not None:
        keep_bandwidths(topology, bandwidths)
    if output is not None:
        with refused_as(f"cannot write {output}"):
            replace_file(output, text.encode())
        log.info(f"{output}: numapredict train --machine {_as_path(output)} makes a model of it, here or elsewhere")
    return file


def _about(output: Path | None) -> About:
    facts = dict(host_environment())
    words = " ".join(facts["processor"].split())
    return About(
        name=output.stem if output is not None else "measured",
        processor="".join(letter for letter in words if letter.isprintable()),
        kernel=facts["kernel"],
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        page_bytes=os.sysconf("SC_PAGESIZE"),
    )


def _check_writable(output: Path) -> None:
    if output.suffix != ".toml":
        raise InvalidInputError(f"cannot write {output}: the name of a description ends in .toml")
    with refused_as(f"cannot write {output}", InvalidInputError):
        replace_file(output.with_name(f".{output.name}.trial"), b"")
        output.with_name(f".{output.name}.trial").unlink()
        if output.exists() and not output.is_file():
            raise FileExistsError(17, "is there and is no regular file", str(output))


def _as_path(output: Path) -> str:
    """Return the path as --machine takes it for one."""
    return str(output) if output.parent != Path() or output.is_absolute() else f"./{output}"
