"""What a tool puts around a program to apply a mapping."""

from collections.abc import Callable
from collections.abc import Mapping as Variables

import msgspec

from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import left_to_first_touch

RUN_ANYTHING = ("nice", "-n0")
"""What env is to run where a program's name has an equals sign, which env takes for a variable; it changes nothing."""


class Wrapping(msgspec.Struct, frozen=True):
    """A whole command line with the variables that go before it.

    ``conflicting`` are variables of the caller that would undo it. ``cautions``, a line each, are conditions for the
    mapping to be applied that the command itself cannot ensure.
    """

    environment: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    conflicting: tuple[str, ...]
    cautions: tuple[str, ...] = ()


Expression = Callable[[Placement, tuple[str, ...], Variables[str, str]], Wrapping | None]
"""From a placement, a program's words and the shell's variables to the wrapping, None where a tool has none.

The page policy is one of EXPRESSIBLE. The threads are expressed by every tool; None means that its pages are not.
"""


def late_binding(placement: Placement, confined: bool = True) -> tuple[str, ...]:
    """Return the caution for first touch, where the main thread is not bound from the start.

    ICS'19 sec. 4.2: a runtime may bind the main thread as late as its first parallel region. libgomp does it when it
    is loaded, libomp and likwid-pin's library later. ``confined``: until then the tool keeps it on the thread nodes.
    """
    alone = confined and placement.mapping.thread_nodes == 1
    if not left_to_first_touch(placement) or alone or len(placement.topology.memory_nodes) == 1:
        return ()
    where = "any of these nodes" if confined else "any node"
    return (
        f"what a program writes before its first parallel region may land on {where}: clang's runtime and likwid-pin"
        " bind the main thread only then; numapredict run binds it at once",
    )
