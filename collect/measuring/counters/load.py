"""The known load of the self-test: `numapredict-stream` reads memory of one node from another's cores.

The contract of its arguments and its line of JSON is in native/stream/stream.c; this is their only user.
"""

from collections.abc import Sequence

import msgspec

from numapredict.collect.placing.tool_answer import LASTS_S, tool_answer
from numapredict.native.errors import CounterError
from numapredict.native.library import stream_program

ON_NODE = 0.99
"""The share of pages that must be on the requested node, or the load's bytes are unknown."""


class Load(msgspec.Struct, frozen=True):
    """Threads on ``pus`` that read ``size_bytes`` on a node, or write them; PUs and node are OS indices."""

    pus: tuple[int, ...]
    memory_node: int
    size_bytes: int
    writes: bool = False


class Moved(msgspec.Struct, frozen=True):
    """What one run moved: bytes a pass, number of passes, and their total time; -1 for an unknown share.

    ``sum`` is the sum of the values read, modulo 2^64.
    """

    bytes: int
    passes: int
    time_s: float
    on_node: float
    sum: int


def stream_command(load: Load, passes: int) -> tuple[str, ...]:
    """Return the load's command; raise MissingNativePartError where it was not built."""
    pus = ",".join(map(str, load.pus))
    words = (str(stream_program()), str(load.size_bytes), str(passes), str(load.memory_node), pus)
    return (*words, "write") if load.writes else words


def run_stream(command: Sequence[str], timeout_s: float = LASTS_S) -> Moved:
    """Run a command that ends with the load's command and return what was moved; CounterError if it fails."""
    moved = tool_answer(command, Moved, "the test's load", CounterError, timeout_s)
    if 0 <= moved.on_node < ON_NODE:
        raise CounterError(f"only {moved.on_node:.0%} of the test's pages stand on their node: free some of its memory")
    return moved
