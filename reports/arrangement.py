"""Where the boxes of a drawing stand, and which links between them can be drawn."""

import itertools
import math

import msgspec

Ends = tuple[int, int]
Links = dict[Ends, str]
"""What is written at each link, by the numbers of the boxes that it joins."""


class Arrangement(msgspec.Struct, frozen=True, kw_only=True):
    """The column and row of each box; every link is in a mesh, a line or listed.

    In a row of ``meshes`` any two boxes are linked, with this text; ``lines`` join neighbours; ``listed`` would cross
    other boxes or lines.
    """

    places: tuple[tuple[int, int], ...]
    meshes: dict[int, str]
    lines: Links
    listed: Links

    @property
    def columns(self) -> int:
        """Return the number of columns."""
        return 1 + max(column for column, _ in self.places)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return 1 + max(row for _, row in self.places)


def arranged(count: int, links: Links, with_cores: int) -> Arrangement:
    """Return the boxes in rows of at most four, more above 16; the ``with_cores`` first apart from the others.

    Of up to eight linked boxes, those with the fewest listed links, then the shortest lines; in a ring, successive
    boxes are neighbours.
    """
    columns = min(count, max(4, math.ceil(math.sqrt(count))), with_cores if with_cores > 1 else count)
    half = math.ceil(count / 2)
    ways = [_in_rows(count, columns)]
    if links and 2 < count <= 8:
        square = _in_rows(count, half)
        ring = [place if place[1] == 0 else (half - 1 - place[0], 1) for place in square]
        ways = [ring, square, *ways]
    return min((_linked(places, links) for places in ways), key=_cost)


def _in_rows(count: int, columns: int) -> list[tuple[int, int]]:
    return [(at % columns, at // columns) for at in range(count)]


def _linked(places: list[tuple[int, int]], links: Links) -> Arrangement:
    meshes: dict[int, str] = {}
    rest = dict(links)
    for row in {row for _, row in places}:
        pairs = list(itertools.combinations([at for at, place in enumerate(places) if place[1] == row], 2))
        texts = {links.get(pair) for pair in pairs}
        if len(pairs) > 1 and len(texts) == 1 and (text := texts.pop()) is not None:
            meshes[row] = text
            rest = {pair: text for pair, text in rest.items() if pair not in pairs}
    lines: Links = {}
    middles = set()
    for (one, other), text in rest.items():
        (x1, y1), (x2, y2) = places[one], places[other]
        middle = (x1 + x2, y1 + y2)
        if max(abs(x1 - x2), abs(y1 - y2)) == 1 and middle not in middles:
            lines[one, other] = text
            middles.add(middle)
    listed = {pair: text for pair, text in rest.items() if pair not in lines}
    return Arrangement(places=tuple(places), meshes=meshes, lines=lines, listed=listed)


def _cost(way: Arrangement) -> tuple[int, int]:
    return len(way.listed), sum(
        abs(way.places[one][0] - way.places[other][0]) + abs(way.places[one][1] - way.places[other][1])
        for one, other in way.lines
    )
