"""Which mappings a running program can be given, and which of them have their pages in the same places; pure."""

from collections.abc import Sequence
from typing import Final

from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import PagePolicy

MOVED: Final[frozenset[PagePolicy]] = frozenset(
    {"first-touch", "interleave", "bind", "dataset", "locality", "balance", "mix"}
)
"""Policies whose pages can be moved once they are there; under first touch they stay where the program had them."""


def in_place(mapping: Mapping, threads: int, nodes: int) -> bool:
    """Return whether a program with teams of so many threads can be given a mapping while it runs.

    What is shared is spread over all ``nodes``.
    """
    spread = mapping.page_policy not in ("balance", "mix") or mapping.page_nodes == nodes
    return mapping.page_policy in MOVED and mapping.threads <= threads and spread


def pages_of(mappings: Sequence[Mapping]) -> list[int]:
    """Return the number of each mapping's placement of pages: equal for mappings between which none has to move.

    By locality and by dataset, the threads decide where pages go; 0 is first touch's, whatever the threads.
    """
    numbers: dict[tuple[object, ...], int] = {("first-touch",): 0}
    found = []
    for each in mappings:
        key: tuple[object, ...] = ("first-touch",)
        if each.page_policy in ("interleave", "bind"):
            key = (each.page_policy, each.page_nodes)
        elif each.page_policy != "first-touch":
            key = (each.page_policy, each.choices)
        found.append(numbers.setdefault(key, len(numbers)))
    return found
