"""Runs inside a guest: emitted commands, through sh, and what the program and the tools themselves report.

`python -m tests.guest.emitted REQUEST RESULTS`: the request is JSON, the results one JSON object a line.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.emission import Emission, emit
from numapredict.collect.placing.tools.tools import Tool
from numapredict.collect.program import program_of

RUN_S = 600  # hung, however busy the computer is


class Round(msgspec.Struct, frozen=True):
    """A mapping to be applied by a tool, and the program that it is to be applied to.

    ``in_domains``: by the list of NUMA domains that likwid-pin's command is said to be the same as.
    """

    tool: Tool
    label: str
    command: tuple[str, ...]
    in_domains: bool = False


class RoundRequest(msgspec.Struct, frozen=True):
    """What to run, and variables to run it with."""

    rounds: tuple[Round, ...]
    environment: dict[str, str] = {}


class Outcome(msgspec.Struct, frozen=True):
    """What came of it, beside what the mapping that was emitted says: PUs and home nodes by thread, page nodes."""

    round: Round
    text: str
    exact: bool
    applied: str
    code: int
    stdout: str
    stderr: str
    pus: tuple[int, ...]
    homes: tuple[int, ...]
    page_nodes: tuple[int, ...]


def main(request_file: str, results_file: str) -> None:
    request = msgspec.json.decode(Path(request_file).read_bytes(), type=RoundRequest)
    topology = host_topology()
    os_index = [node.os_index for node in topology.nodes]
    environment = {**os.environ, **request.environment}
    with Path(results_file).open("ab") as results:
        for one in request.rounds:
            emission = emit(one.tool, resolve(parse_label(one.label), topology), program_of(one.command), environment)
            text = in_domains(emission) if one.in_domains else emission.text
            done = subprocess.run(
                ["sh", "-c", text],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=RUN_S,
                stdin=subprocess.DEVNULL,
            )
            slots = resolve(emission.mapping, topology).slots
            outcome = Outcome(
                round=one,
                text=text,
                exact=emission.exact,
                applied=emission.mapping.label,
                code=done.returncode,
                stdout=done.stdout,
                stderr=done.stderr,
                pus=tuple(slot.pu for slot in slots),
                homes=tuple(os_index[topology.home(slot.node)] for slot in slots),
                page_nodes=tuple(os_index[node] for node in resolve(emission.mapping, topology).page_nodes),
            )
            results.write(msgspec.json.encode(outcome) + b"\n")


def in_domains(emission: Emission) -> str:
    """Return likwid-pin's command with the list of NUMA domains that one of its cautions names."""
    found = re.search(r"-c (\S+) means the same", "\n".join(emission.cautions))
    assert found is not None, emission.cautions
    return re.sub(r"-c \S+", f"-c {found[1]}", emission.text)


if __name__ == "__main__":
    main(*sys.argv[1:])
