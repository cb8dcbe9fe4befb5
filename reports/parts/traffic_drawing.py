"""The traffic between nodes before and after, drawn: a square for each pair, as large as its share of touches."""

import math

import msgspec

from numapredict.predictor.variables.traffic import Matrix, Traffic
from numapredict.reports.parts.touched_addresses import COLOURS

CELL, LINE, EDGE = 52, 66, 34  # a line has room for the share below its squares
MOST_NODES = 16
_MOST_SQUARE = 46


class Square(msgspec.Struct, frozen=True, kw_only=True):
    """The touches by threads of one node to the memory of one: the square's corner and side, and its share in words.

    The share stands around ``middle`` at the foot of the ``line``, by its number; ``own``: the nodes are the same.
    """

    x: float
    y: float
    side: float
    colour: int
    share: str
    middle: float
    line: int
    own: bool


class TrafficSide(msgspec.Struct, frozen=True):
    """One of the two drawings: what it shows, and the squares by lines."""

    title: str
    squares: tuple[Square, ...]


class TrafficDrawing(msgspec.Struct, frozen=True, kw_only=True):
    """Both drawings, of equal size; node ``nodes[n]`` has line and column n."""

    nodes: tuple[int, ...]
    width: int
    height: int
    sides: tuple[TrafficSide, ...]


def traffic_drawing(traffic: Traffic | None) -> TrafficDrawing | None:
    """Return the drawing; None where nothing is known or would change, and of more nodes than can be read."""
    if traffic is None or len(traffic.nodes) > MOST_NODES or traffic.as_it_is == traffic.with_remedy:
        return None
    most = max(max(map(max, one)) for one in (traffic.as_it_is, traffic.with_remedy)) or 1.0
    now, then = traffic.local_now, traffic.local_then
    return TrafficDrawing(
        nodes=traffic.nodes,
        width=EDGE + CELL * len(traffic.nodes),
        height=EDGE + LINE * len(traffic.nodes),
        sides=(
            TrafficSide(f"as it is: {now:.0%} of the touches are local", _squares(traffic, traffic.as_it_is, most)),
            TrafficSide(f"with what would help: {then:.0%}", _squares(traffic, traffic.with_remedy, most)),
        ),
    )


def _squares(traffic: Traffic, matrix: Matrix, most: float) -> tuple[Square, ...]:
    total = sum(map(sum, matrix)) or 1.0
    found = []
    for line, row in enumerate(matrix):
        for column, touches in enumerate(row):
            side = round(_MOST_SQUARE * math.sqrt(touches / most), 1)
            middle = EDGE + CELL * (column + 0.5)
            found.append(
                Square(
                    x=round(middle - side / 2, 1),
                    y=round(EDGE + LINE * line + (CELL - side) / 2, 1),
                    side=side,
                    colour=traffic.nodes[line] % COLOURS,
                    share=f"{touches / total:.0%}" if touches >= 0.005 * total else "",
                    middle=middle,
                    line=line,
                    own=line == column,
                )
            )
    return tuple(found)
