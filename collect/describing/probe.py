"""The native probe: what it is asked, and its answer.

The contract of its arguments and its line of JSON is in native/probe/main.c.
collect/measuring/samples/selftest.py asks it for latencies, too.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from numapredict.collect.index_list import index_list
from numapredict.collect.placing.tool_answer import tool_answer
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import probe_program

Subject = Literal["latency", "cache", "bandwidth", "frequency", "work", "team"]


class Question(msgspec.Struct, frozen=True):
    """One measurement: on ``pus``, of ``size_bytes`` on ``node`` (OS indices; -1: wherever its pages fall)."""

    subject: Subject
    pus: tuple[int, ...]
    node: int = -1
    size_bytes: int = 0

    def words(self, rounds: int, round_ms: int) -> tuple[str, ...]:
        """Return the probe's arguments."""
        memory = (str(self.node), str(self.size_bytes)) if self.size_bytes else ()
        return (self.subject, index_list(self.pus), str(rounds), str(round_ms), *memory)


class Answer(msgspec.Struct, frozen=True):
    """The values of each figure, one a round; ``on_node`` and ``huge`` are shares of the pages, -1 for unknown."""

    figures: dict[str, tuple[float, ...]]
    on_node: float = -1.0
    huge: float = -1.0


RunProbe = Callable[[Sequence[str]], Answer]
"""Runs the probe with arguments and returns its answer. Raises UnrunnableProgramError."""


def run_probe(arguments: Sequence[str]) -> Answer:
    """Run the probe on this computer."""
    task = f"measuring {arguments[0]} on PUs {arguments[1]}"
    return tool_answer((str(probe_program()), *arguments), Answer, task, UnrunnableProgramError)
