"""The answer on a program's variables, as `variables --json` prints it."""

from typing import Literal

import msgspec

from numapredict.collect.source.excerpt import Excerpt
from numapredict.collect.source.place import Place
from numapredict.predictor.variables.first_touch import Manner
from numapredict.predictor.variables.heat import Heat
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import WORTH, Remedy
from numapredict.predictor.variables.requests import Requests

Kind = Literal["allocated", "static", "mapped", "small allocations"]
"""By malloc, new or the like; a static object; by mmap; or all of the heap's blocks under 64 KiB together."""


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """One variable: what it costs, who touched it first, how it is shared, and what would help.

    ``name`` is None where it is not known; ``allocated`` is the line of its allocation or declaration, by code of a
    header (``by_container``) as that of std::vector.
    ``through`` is a function that allocates for its callers: the variables of several of them may count as one.
    ``touches`` were seen, which are ``touch_share`` of the program's. ``other_threads_share`` of them are by other
    threads than the one that touched the page first, ``remote_share`` by threads of another node; None where not known.
    ``cost`` is the share of all the program's touches that are to it from elsewhere. ``requests`` are its touches by
    the node that serves them, None where no touch can be remote or it is not known. ``source`` has the lines around
    ``first_touch``, ``heat`` which threads touch which part; None of all but the costliest variables.
    """

    name: str | None
    kind: Kind
    size_bytes: int
    allocations: int
    allocated: Place | None
    through: str
    by_container: bool
    touches: int
    touch_share: float
    first_touch: Place | None
    first_thread: int | None
    first_manner: Manner
    first_schedule: str
    pattern: Pattern
    other_threads_share: float | None
    remote_share: float | None
    cost: float
    remedy: Remedy
    requests: Requests | None = None
    source: Excerpt | None = None
    heat: Heat | None = None


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """The variables of one profiled run, the costliest first.

    ``mapping`` on ``machine`` says which threads share a node; None where the computer has one node and no machine was
    named, so that costs are by the touches of other threads. ``exit_code`` is the program's, as a shell reports it,
    None of an earlier run. ``touches`` were seen in ``region_time_s`` seconds of parallel regions. Severity is by
    share of touches: below ``worth`` nothing is worth fixing. ``nodes`` has each thread's node, by ``mapping``;
    ``requests`` are those of all variables of which they are known. Pages have ``page_bytes``.
    """

    command: tuple[str, ...]
    profile: str | None
    threads: int
    machine: str | None
    mapping: str | None
    modelled: bool
    exit_code: int | None
    region_time_s: float
    touches: int
    severity: Literal["share of touches"] = "share of touches"
    worth: float = WORTH
    nodes: tuple[int, ...] | None = None
    requests: Requests | None = None
    page_bytes: int = 4096
    variables: tuple[Variable, ...] = ()
    notes: tuple[str, ...] = ()
