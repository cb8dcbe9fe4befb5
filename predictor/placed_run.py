"""Run a program under a mapping in this process's place, so that its exit code and signals are its own."""

import os
import sys
from typing import NoReturn

from numapredict.collect.host import host_topology
from numapredict.collect.machines.hardware import HardwareMachine
from numapredict.collect.mapping import parse_label
from numapredict.collect.program import program_of
from numapredict.collect.space import check


def replace_process(label: str, command: tuple[str, ...]) -> NoReturn:
    """Become the program, placed; raise what HardwareMachine.run raises where that is not possible."""
    topology = host_topology()
    mapping = parse_label(label)
    check(mapping, topology)
    start = HardwareMachine(topology).starting(program_of(command), mapping)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(start.command[0], start.command, start.environment)  # noqa: S606 - that no shell is used is the point
