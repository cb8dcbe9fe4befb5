"""Routes: which links an access crosses on its way from a core's node to a memory node."""

import itertools
from collections.abc import Sequence

from numapredict.native.errors import InvalidInputError

Ends = tuple[int, int]  # (core's side, memory's side) of a directed link


def routes_over(
    node_count: int, ends: Sequence[Ends], paths: Sequence[Sequence[int]] = ()
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the link indices crossed from each core node (row) to each memory node (column); () on the diagonal.

    ``paths`` are chains of nodes that fix a route, from the core's node to the memory's; every other pair takes the
    fewest hops, and among equals the first links. Raises InvalidInputError.
    """
    index_of = {pair: index for index, pair in enumerate(ends)}
    fixed: dict[Ends, tuple[int, ...]] = {}
    for path in paths:
        missing = [hop for hop in itertools.pairwise(path) if hop not in index_of]
        if len(path) < 2 or len(set(path)) != len(path) or missing:
            because = (
                f"there is no link {missing[0][0]} -> {missing[0][1]}" if missing else "it must join distinct nodes"
            )
            raise InvalidInputError(f"path {list(path)} is not a route: {because}")
        if (path[0], path[-1]) in fixed:
            raise InvalidInputError(f"path {list(path)} is the second one from node {path[0]} to node {path[-1]}")
        fixed[path[0], path[-1]] = tuple(index_of[hop] for hop in itertools.pairwise(path))
    rows = []
    for source in range(node_count):
        shortest = _shortest_from(source, ends)
        for target in range(node_count):
            if (source, target) not in fixed and target not in shortest:
                raise InvalidInputError(f"no chain of links leads from node {source} to node {target}")
        rows.append(tuple(fixed.get((source, target), shortest.get(target, ())) for target in range(node_count)))
    return tuple(rows)


def _shortest_from(source: int, ends: Sequence[Ends]) -> dict[int, tuple[int, ...]]:
    """Return, for every node that can be reached, the links of a shortest route (breadth first, links in order)."""
    found: dict[int, tuple[int, ...]] = {source: ()}
    frontier = [source]
    while frontier:
        reached = []
        for node in frontier:
            for index, (start, end) in enumerate(ends):
                if start == node and end not in found:
                    found[end] = (*found[node], index)
                    reached.append(end)
        frontier = reached
    return found
