"""The answer on a program's variables, as `variables --json` prints it."""

from typing import Literal

import msgspec

from numapredict.collect.source.excerpt import Excerpt
from numapredict.collect.source.place import Place
from numapredict.predictor.variables.first_touch import Manner
from numapredict.predictor.variables.heat import Heat
from numapredict.predictor.variables.memory_accesses import LPI_WORTH, MemoryAccesses
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import WORTH, Remedy
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.time_cost import TimeCost
from numapredict.predictor.variables.traffic import Traffic

Kind = Literal["allocated", "static", "mapped", "small allocations", "file"]
"""By malloc, new or the like; a static object; by mmap; the heap's blocks under 4 KiB, all together; a mapped file."""


How = Literal["interleaved", "with its threads", "in near memory", "in far memory"]
"""How a plan places a variable."""

Severity = Literal["share of touches", "measured time", "modelled time"]
"""What variables are judged by."""


class RegionTouches(msgspec.Struct, frozen=True):
    """The touches within one parallel region, whose function begins at ``place``; None where it is not known.

    ``touch_share`` of all the program's touches are of it; ``other_threads_share`` of these, of 0 to 1, by other
    threads than touched the page first, ``remote_share`` by threads of another node; None where not known.
    """

    place: Place | None
    touch_share: float
    other_threads_share: float | None
    remote_share: float | None

    @property
    def cost(self) -> float:
        """Return the share of all the program's touches that are of this region and from elsewhere."""
        share = self.other_threads_share if self.remote_share is None else self.remote_share
        return self.touch_share * (share or 0.0)


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """One variable: what it costs, who touched it first, how it is shared, and what would help.

    ``name`` is None where it is not known; ``allocated`` is the line of its allocation or declaration, by code of a
    header (``by_container``) as that of std::vector.
    ``allocations`` make it, the most that there were at a time, of ``block_bytes`` each, but for one
    in a hundred; None where they differ.
    ``through`` is a function that allocates for its callers: the variables of several of them may count as one.
    ``touches`` were seen, which are ``touch_share`` of the program's. ``other_threads_share`` of them are by other
    threads than the one that touched the page first, ``remote_share`` by threads of another node; None where not known.
    ``cost`` is the share of all the program's touches that are to it from elsewhere. The stacks have the calls that led
    there, innermost first. ``first_in_region``: whether the first touch was within a parallel region; it is known of
    ``first_touch_known`` of the pages, 0 to 1. ``only_read``: whether regions were only seen to read it, None where too
    few of its pages were watched for writes. ``regions`` has its touches by region, the costliest first. ``requests``
    are its touches by the node that serves them, ``traffic`` those from node to node, as it is and with its remedy;
    None where no touch can be remote or it is not known. ``accesses`` are
    what the processor sampled of it, None where it did not. ``source`` has the lines around ``first_touch``, ``heat``
    which threads touch which part; None of all but the costliest variables. ``time`` is what its remedy takes off the
    time in regions, None where that was not asked for or is not known.
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
    block_bytes: int | None = None
    allocation_stack: tuple[Place, ...] = ()
    first_touch_stack: tuple[Place, ...] = ()
    first_in_region: bool | None = None
    first_touch_known: float = 0.0
    only_read: bool | None = None
    regions: tuple[RegionTouches, ...] = ()
    requests: Requests | None = None
    traffic: Traffic | None = None
    accesses: MemoryAccesses | None = None
    source: Excerpt | None = None
    heat: Heat | None = None
    time: TimeCost | None = None


class PlacedVariable(msgspec.Struct, frozen=True):
    """A variable that a plan places: how, and how many pages of it; one without a name is called by its line.

    ``speedup`` is that of the parallel regions with this one alone placed so, modelled; None where it is not known.
    """

    name: str
    how: How
    pages: int
    speedup: float | None = None


class VariablePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that was written for `run --plan`: its file, the mapping that it is for, and what it places.

    ``speedup`` is that of the parallel regions by all of it, modelled; None where it is not known.
    """

    path: str
    mapping: str
    variables: tuple[PlacedVariable, ...]
    speedup: float | None = None


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """The variables of one profiled run, the costliest first.

    ``mapping`` on ``machine`` says which threads share a node; None where the computer has one node and no machine was
    named, so that costs are by the touches of other threads. ``exit_code`` is the program's, as a shell reports it,
    None of an earlier run. ``touches`` were seen in ``region_time_s`` seconds of parallel regions. Severity is by
    share of touches, below ``worth`` of which nothing is worth fixing, or, of those above it, by time: ``time`` is what
    all their remedies take off the time in regions together. ``plan`` was written if one was asked for. ``nodes`` has
    each thread's node, by ``mapping``; ``requests`` and ``traffic`` are those of all variables of which they are known,
    the latter with the remedies of all that are worth it. ``accesses``
    are all that the processor sampled of this run, None where it did not; an lpi_NUMA above ``lpi_worth`` is worth a
    change, says HPCToolkit. Pages have ``page_bytes``. ``modelled``: pages are taken to be where first touch puts
    them; else the kernel said where.
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
    severity: Severity = "share of touches"
    worth: float = WORTH
    nodes: tuple[int, ...] | None = None
    requests: Requests | None = None
    traffic: Traffic | None = None
    accesses: MemoryAccesses | None = None
    lpi_worth: float = LPI_WORTH
    time: TimeCost | None = None
    page_bytes: int = 4096
    variables: tuple[Variable, ...] = ()
    plan: VariablePlan | None = None
    regions: tuple[RegionTouches, ...] = ()
    notes: tuple[str, ...] = ()
