"""Emitted commands in a guest, through sh, and what the program and the tools themselves report."""

import re
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.placing.tools.emission import Emission, emit
from numapredict.collect.placing.tools.tools import Tool
from numapredict.collect.program import program_of
from tests.guest.batch import Batch


class Round(msgspec.Struct, frozen=True):
    """A mapping to be applied by a tool, and the program that it is to be applied to.

    ``in_domains``: by the list of NUMA domains that likwid-pin's command is said to be the same as.
    """

    tool: Tool
    label: str
    command: tuple[str, ...]
    in_domains: bool = False


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


def prepared(rounds: Sequence[Round], variables: dict[str, str], batch: Batch) -> Generator[None, None, list[Outcome]]:
    """Add the rounds' commands to a batch, to run with these variables; when they have run return what they said."""
    ran: list[tuple[Round, Emission, str, Path]] = []
    for one in rounds:
        emission = emit(one.tool, batch.placement(one.label), program_of(one.command), variables)
        text = in_domains(emission) if one.in_domains else emission.text
        ran.append((one, emission, text, batch.add(["sh", "-c", text], variables)))
    yield
    os_index = [node.os_index for node in batch.topology.nodes]
    outcomes = []
    for one, emission, text, place in ran:
        said, applied = batch.said(place), batch.placement(emission.mapping.label)
        outcomes.append(
            Outcome(
                round=one,
                text=text,
                exact=emission.exact,
                applied=emission.mapping.label,
                code=said.code,
                stdout=said.stdout.decode(),
                stderr=said.stderr.decode(),
                pus=tuple(slot.pu for slot in applied.slots),
                homes=tuple(os_index[batch.topology.home(slot.node)] for slot in applied.slots),
                page_nodes=tuple(os_index[node] for node in applied.page_nodes),
            )
        )
    return outcomes


def in_domains(emission: Emission) -> str:
    """Return likwid-pin's command with the list of NUMA domains that one of its cautions names."""
    found = re.search(r"-c (\S+) means the same", "\n".join(emission.cautions))
    assert found is not None, emission.cautions
    return re.sub(r"-c \S+", f"-c {found[1]}", emission.text)
