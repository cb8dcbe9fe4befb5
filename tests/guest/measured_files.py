"""Runs inside a guest: a program that maps a file is measured as it is and under two mappings, in turn.

    python -m tests.guest.measured_files PROGRAM FILE LOG

It prints the note of the last measurement, and what an answer says of it.
"""

import sys

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.mapped_files import files_in_words, files_of
from numapredict.collect.program import Program

BIND, STAYS = "2x1-contiguous-bind", "4x2-contiguous-first-touch"

if __name__ == "__main__":
    program = Program(name="mapped_file", command=(sys.argv[1], sys.argv[2], "log", sys.argv[3]))
    machine = HardwareMachine(host_topology(), repetitions=1, warm_up=0)
    said = []
    for label in (None, BIND, None, STAYS, BIND):
        measured = machine.run_as_it_is(program) if label is None else machine.run(program, parse_label(label))
        said.append(f"{measured.status} {measured.message}")
    sys.stdout.write("\n".join([*said, *files_of(measured), *files_in_words([measured]), ""]))
