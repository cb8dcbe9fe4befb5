"""The traffic between nodes in words: as it is, and as it would be with what would help. Pure."""

from collections.abc import Iterator

from numapredict.predictor.variables.traffic import Matrix, Traffic, busiest

MOST_NODES = 8
"""More have no table: two would not stand side by side."""

_CELL, _NODE, _BETWEEN = 5, 6, 6


def traffic_in_words(traffic: Traffic) -> Iterator[str]:
    """Return the lines on all touches, none where nothing would change: a line a node of threads, a column a node."""
    if not changes(traffic):
        return
    yield "all touches, from the threads of each node (lines) to the memory of each node (columns)"
    if len(traffic.nodes) <= MOST_NODES:
        wide = _CELL * len(traffic.nodes)
        heads = "as it is", "with what would help"
        yield " " * _NODE + (" " * _BETWEEN).join(head.rjust(max(wide, len(head))) for head in heads)
        names = "".join(f"{node:>{_CELL}}" for node in traffic.nodes)
        rows = [names, *_rows(traffic.as_it_is)], [names, *_rows(traffic.with_remedy)]
        for name, *cells in zip(("", *traffic.nodes), *rows, strict=True):
            yield f"{name:>{_NODE}}" + (" " * _BETWEEN).join(
                cell.rjust(max(wide, len(head))) for cell, head in zip(cells, heads, strict=True)
            )
    yield (
        f"local: {traffic.local_now:.0%} as it is, {traffic.local_then:.0%} with what would help; the busiest node "
        f"serves {busiest(traffic.as_it_is):.0%}, then {busiest(traffic.with_remedy):.0%}"
    )


def changes(traffic: Traffic) -> bool:
    """Return whether any touch would go elsewhere."""
    return traffic.as_it_is != traffic.with_remedy


def _rows(matrix: Matrix) -> Iterator[str]:
    total = sum(map(sum, matrix)) or 1.0
    for row in matrix:
        yield "".join(f"{_share(cell / total):>{_CELL}}" for cell in row)


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "-"
