"""What the tests of a characterisation's figures draw, and read from a drawing."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from numapredict.collect.campaign.characterisation.plan import plan_of
from numapredict.collect.campaign.characterisation.result import Characterisation, characterisation_of
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.reports.figure_file import write_figure
from tests.shapes import shape
from tests.unit.collect.campaign.characterisation.test_result import PROGRAM


def svg(folder: Path, figure_of: Any, data: Any) -> str:  # noqa: ANN401 - any figure
    """Return the text of a figure that was drawn as SVG."""
    write_figure(figure_of(data), folder / "figure.svg")
    return (folder / "figure.svg").read_text()


def lines_of(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    return {
        str(line.get_label()): list(zip(*(np.asarray(each).tolist() for each in line.get_data()), strict=True))
        for line in axes.lines
    }


def bars_of(axes: Axes) -> list[tuple[float, float]]:
    """Return the middle and the height of every bar, from left to right."""
    drawn = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return sorted((round(bar.get_x() + bar.get_width() / 2, 6), bar.get_height()) for bar in drawn)


def one_node() -> Characterisation:
    """Return the characterisation of a machine with one node of two cores, without counters."""
    topology = shape([2])
    plan = plan_of(topology)
    runs = [
        Measurement(program="app", mapping=m, machine="one", modelled=False, repetitions=(Repetition(6.0 / m.threads),))
        for m in plan.mappings
    ]
    return characterisation_of(PROGRAM, topology, plan, runs)
