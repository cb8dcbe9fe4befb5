"""The bars of page policies: what they show, and that it is drawn there."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from numapredict.reports.characterisation import look
from numapredict.reports.characterisation.page_policies import (
    Bar,
    policy_times_data,
    policy_times_figure,
)
from tests.unit.collect.campaign.characterisation.test_result import characterised
from tests.unit.reports.characterisation.drawn import bars_of, one_node, svg


def test_the_bars_are_the_page_policies(tmp_path: Path) -> None:
    data = policy_times_data(characterised(regions=None))
    assert data is not None
    assert list(data.whole) == ["first-touch", "locality", "balance", "interleave", "mix", "dataset", "bind"]
    assert [(bar.series, bar.time_s) for bar in data.whole["mix"]] == [("contiguous", 3.5), ("scatter", 4.25)]
    assert {name: [bar.time_s for bar in bars] for name, bars in data.one_node.items()} == {
        "bind": [9.0],
        "interleave@2": [10.0],
        "remote": [20.0],
    }
    assert (data.default, data.default_s) == ("4x2-contiguous-first-touch", 6.0)
    text = svg(tmp_path, policy_times_figure, data)
    for words in (
        "run time in s",
        "4 threads on 2 nodes",
        "2 threads on 1 node",
        "20.0",
        "scatter threads",
        "interleave@2",
    ):
        assert words in text


def test_one_node_has_no_page_policies_to_compare() -> None:
    assert policy_times_data(one_node()) is None


def test_the_bars_of_page_policies_are_drawn_at_their_times() -> None:
    data = policy_times_data(characterised(regions=None))
    assert data is not None
    whole, one_node = policy_times_figure(data).axes
    names = [label.get_text() for label in whole.get_xticklabels()]
    assert names == list(data.whole)
    for series, shift, colour in (
        ("contiguous", -0.2, look.POLICY_COLOURS["contiguous"]),
        ("scatter", 0.2, look.POLICY_COLOURS["scatter"]),
    ):
        (legend,) = [text for text in whole.get_legend_handles_labels()[1] if text == f"{series} threads"]
        assert legend
        for at, bars in enumerate(data.whole.values()):
            (bar,) = [
                patch
                for patch in whole.patches
                if isinstance(patch, Rectangle) and abs(patch.get_x() + patch.get_width() / 2 - at - shift) < 0.01
            ]
            (expected,) = [each.time_s for each in bars if each.series == series]
            assert bar.get_height() == expected
            assert bar.get_facecolor() == to_rgba(colour)
    assert bars_of(one_node) == [(0, 9.0), (1, 10.0), (2, 20.0)]
    assert {text.get_text() for text in one_node.texts} == {"9.00", "10.0", "20.0"}
    for axes in (whole, one_node):
        (line,) = axes.lines
        assert np.asarray(line.get_ydata()).tolist() == [6.0, 6.0], "the default's time"
        assert all(text.get_zorder() > line.get_zorder() and text.get_path_effects() for text in axes.texts)
    failed = msgspec.structs.replace(
        data,
        whole={"first-touch": (Bar("contiguous", "x", None), Bar("scatter", "y", 0.002))},
        one_node={},
        default_s=None,
    )
    (axes,) = policy_times_figure(failed).axes
    assert bars_of(axes) == [(pytest.approx(0.2), pytest.approx(2.0))]  # what failed has no bar, and sets no unit
    assert "in ms" in axes.get_ylabel()
    # The tallest bar fills its panel, however much longer one node alone takes.
    assert one_node.get_title().endswith("(a scale of its own)")
    for axes, most in ((whole, max(bar.time_s or 0 for bars in data.whole.values() for bar in bars)), (one_node, 20.0)):
        assert 1.05 * most < axes.get_ylim()[1] < 1.3 * most
