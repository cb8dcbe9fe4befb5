import msgspec

from numapredict.predictor.variables.traffic import Traffic
from numapredict.reports.parts.traffic_drawing import CELL, EDGE, LINE, MOST_NODES, traffic_drawing

TRAFFIC = Traffic(nodes=(0, 9), as_it_is=((3.0, 0.0), (1.0, 0.0)), with_remedy=((3.0, 0.0), (0.0, 1.0)))


def test_squares_have_areas_like_their_shares_and_the_colours_of_threads_nodes() -> None:
    drawing = traffic_drawing(TRAFFIC)
    assert drawing is not None
    now, then = drawing.sides
    assert (drawing.width, drawing.height) == (EDGE + 2 * CELL, EDGE + 2 * LINE)
    assert [one.share for one in now.squares] == ["75%", "", "25%", ""]
    assert [one.colour for one in now.squares] == [0, 0, 1, 1]
    big, _, small, _ = now.squares
    assert abs(big.side**2 / small.side**2 - 3) < 0.05
    assert (small.x + small.side / 2, small.y + small.side / 2) == (EDGE + CELL / 2, EDGE + LINE + CELL / 2)
    assert [one.own for one in now.squares] == [True, False, False, True]
    assert [one.share for one in then.squares] == ["75%", "", "", "25%"]
    assert (now.title, then.title) == ("as it is: 75% of the touches are local", "with what would help: 100%")


def test_what_does_not_change_or_cannot_be_read_is_not_drawn() -> None:
    assert traffic_drawing(None) is None
    assert traffic_drawing(msgspec.structs.replace(TRAFFIC, with_remedy=TRAFFIC.as_it_is)) is None
    many = MOST_NODES + 1
    rows = tuple((1.0,) * many for _ in range(many))
    wide = Traffic(nodes=tuple(range(many)), as_it_is=rows, with_remedy=((2.0,) * many, *rows[1:]))
    assert traffic_drawing(wide) is None
