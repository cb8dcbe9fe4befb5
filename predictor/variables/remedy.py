"""What would help a variable: by how threads share it and who touched it first. Pure."""

from typing import Literal

import msgspec

from numapredict.collect.page_policy import PagePolicy
from numapredict.predictor.variables.first_touch import Manner
from numapredict.predictor.variables.pattern import Pattern

Action = Literal[
    "initialise in parallel", "initialise alike", "initialise by its thread", "interleave", "nothing", "unknown"
]

PLACED: dict[Action, PagePolicy] = {
    "interleave": "interleave",
    "initialise in parallel": "locality",
    "initialise alike": "locality",
    "initialise by its thread": "locality",
}
"""Of what the pages of a variable alone are placed for: the policy that puts them where the remedy would."""

WORTH = 0.05
"""The least share of all the program's touches, to the variable from elsewhere, that is worth a change."""


class Remedy(msgspec.Struct, frozen=True):
    """What to do about a variable, as a word for programs and a sentence for people."""

    action: Action
    text: str


def remedy_of(
    pattern: Pattern, first: Manner, cost: float, schedule: str, only_read: bool | None, *, is_file: bool = False
) -> Remedy:
    """Return what would help; ``cost`` is the share of all touches that it causes from elsewhere.

    ``only_read``: whether regions only read it, None where that is not known. ``is_file``: it is a mapped file.
    """
    if cost < WORTH:
        return Remedy("nothing", f"not worth fixing: under {WORTH:.0%} of all touches are to it from elsewhere")
    if is_file and pattern.kind != "unknown":
        return _of_file(pattern)
    match pattern.kind:
        case "unknown":
            return Remedy("unknown", "it has too few samples to say: run a larger input")
        case "one thread":
            return Remedy("initialise by its thread", f"let thread {pattern.thread}, which uses it, initialise it too")
        case "shared" | "irregular":
            interleave = "interleave this one over the nodes (numa_alloc_interleaved)"
            if only_read:
                return Remedy("interleave", f"regions only read it: give each node a copy, or {interleave}")
            copy = "" if only_read is False else "; if it is only read, a copy on each node is better still"
            return Remedy("interleave", interleave + copy)
        case "blocked" | "strided":
            return _alike(pattern, first, schedule)


def _of_file(pattern: Pattern) -> Remedy:
    """Return what would help a mapped file, whose pages no loop of the program places."""
    spread = pattern.kind in {"shared", "irregular"}
    policy = "interleave" if spread else "locality"
    return Remedy(
        "interleave" if spread else "initialise in parallel",
        f"its pages are where the program ran that read it first, and stay there: `numapredict run` moves them under a "
        f"mapping with {policy}",
    )


def _alike(pattern: Pattern, first: Manner, schedule: str) -> Remedy:
    parts = "blocks" if pattern.in_blocks else "parts in turn"
    if first == "in turn":
        how = f"under schedule({schedule})" if schedule else "by several threads in another order"
        return Remedy(
            "initialise alike",
            f"initialise it as the loops that use it share it out: it is touched first {how} and used in {parts}",
        )
    if first == "equal blocks":
        return Remedy(
            "initialise alike",
            f"initialise it with the schedule and the number of threads of the loops that use it, in {parts}",
        )
    if_so = "if thread 0 alone initialises it, " if first == "supposed" else ""
    each = "each of its allocations" if pattern.each_allocation else "it"
    return Remedy(
        "initialise in parallel",
        f"{if_so}initialise {each} in a parallel loop that shares it out as the loops that use it do: in {parts} of "
        f"{pattern.threads} threads",
    )
