"""The curve of the speedup by the number of clusters."""

import itertools
import re

import pytest

from numapredict.predictor.learning.features import observe
from numapredict.reports.parts.curve import BELOW, HEIGHT, LEFT, RIGHT, TOP, WIDTH, CurveFigure, cuts_data
from numapredict.reports.parts.heatmap import heatmap_data
from numapredict.reports.program_order import order_programs
from tests.planted import planted_dataset


def figure(programs: int) -> CurveFigure:
    observations = observe(planted_dataset(programs))
    column = observations.column(observations.mappings[0])
    return cuts_data(heatmap_data(observations, column, order_programs(observations, column), 6)).figure


def test_lines_and_points_are_inside_and_agree() -> None:
    drawn = figure(12)
    assert drawn.points[0].x == LEFT
    assert drawn.points[-1].x == WIDTH - RIGHT
    for name in ("geometric", "arithmetic"):
        line = [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", getattr(drawn, name))]
        assert line == [(point.x, getattr(point, f"{name}_y")) for point in drawn.points]
        (best,) = (oracle.y for oracle in drawn.oracles if oracle.mean == name)
        assert best <= min(y for _, y in line) + 0.1, "no cut beats every program's own best"
        assert all(TOP <= y <= HEIGHT - BELOW for _, y in line)
    assert all(point.arithmetic_y <= point.geometric_y for point in drawn.points)
    assert drawn.points[5].text.startswith("6 clusters: ")
    assert drawn.numbers == tuple((point.x, 2 * at + 1) for at, point in enumerate(drawn.points[::2]))


def test_the_parts_that_choose_k_meet_and_do_not_overlap() -> None:
    points = figure(12).points
    for one, next_ in itertools.pairwise(points):
        assert one.left + one.width == pytest.approx(next_.left, abs=0.2)
        assert one.left < one.x < one.left + one.width


def test_ticks_are_in_order_and_inside() -> None:
    ticks = figure(12).ticks
    assert 2 <= len(ticks) <= 12
    assert [y for y, _ in ticks] == sorted((y for y, _ in ticks), reverse=True)
    values = [float(text.rstrip("x")) for _, text in ticks]
    assert values == sorted(set(values))


def test_one_cluster_is_a_point_in_the_middle() -> None:
    drawn = figure(1)
    (point,) = drawn.points
    assert point.x == (LEFT + WIDTH - RIGHT) / 2
    assert drawn.geometric == f"M{point.x:g} {point.geometric_y:g}"
