import msgspec
from matplotlib.figure import Figure

from numapredict.predictor.evaluation.evaluate import together
from numapredict.reports.figure_file import LINE_HEIGHT, extent
from numapredict.reports.source import Origin, evaluated_origins, origin_of, sign, source_line
from tests.evaluations import DEFAULT, evaluation, held_out
from tests.planted import planted_dataset


def test_the_version_and_commit_that_the_environment_tells_stand_for_the_command() -> None:
    dataset = planted_dataset(2)
    assert origin_of(dataset, "x").made_by == "tests/planted.py"
    reported = (("kernel", "Linux"), ("numapredict", "0.1.0"))
    assert origin_of(msgspec.structs.replace(dataset, environment=reported)).made_by == "numapredict 0.1.0"
    with_commit = msgspec.structs.replace(dataset, environment=(*reported, ("commit", "0123456789abcdef")))
    assert origin_of(with_commit).made_by == "numapredict 0.1.0 (commit 0123456789ab)"


def test_the_line_says_where_when_by_what_and_over_which_default() -> None:
    line = source_line([origin_of(planted_dataset(2), "32x4-contiguous-first-touch")])
    assert line == (
        "Source: planted-4x8, modelled, made on 2025-01-01 by tests/planted.py. "
        "Speedups are over 32x4-contiguous-first-touch."
    )
    assert source_line([Origin(machine="here", modelled=False)]) == "Source: here, measured."
    assert source_line([Origin(machine="m", modelled=True, made_by="x")]) == "Source: m, modelled, made by x."
    odd = Origin(machine="m\n", modelled=True, created="some\x1btime")
    assert source_line([odd]) == "Source: m\ufffd, modelled, made some\ufffdtime."


def test_different_defaults_stand_with_their_machines() -> None:
    one, other = (Origin(machine=name, modelled=True, default=f"default of {name}") for name in "ab")
    assert source_line([one, other]) == (
        "Source: a, modelled, speedups over default of a; b, modelled, speedups over default of b."
    )
    same = msgspec.structs.replace(other, default=one.default)
    assert source_line([one, same]) == "Source: a, modelled; b, modelled. Speedups are over default of a."


def test_evaluations_tell_what_they_know_and_datasets_the_rest() -> None:
    evaluations = together([evaluation("planted-4x8", [held_out("a", 1.0, 2.0), held_out("b", 1.0, 2.0)], False)])
    assert evaluated_origins(evaluations) == (Origin(machine="planted-4x8", modelled=False, default=DEFAULT.label),)
    (origin,) = evaluated_origins(evaluations, [planted_dataset(2)])
    assert (origin.created, origin.default) == ("2025-01-01T00:00:00Z", DEFAULT.label)


def test_the_line_stands_below_the_figure_which_is_higher_for_it() -> None:
    figure = Figure(figsize=(3, 2))
    assert extent(figure).extents.tolist() == [0, 0, 3, 2]
    sign(figure, "Source: " + "word " * 30)
    (text,) = figure.texts
    lines = text.get_text().count("\n") + 1
    assert lines > 2
    below = extent(figure)
    assert below.y0 == -LINE_HEIGHT * (lines + 0.6)
    box = text.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert below.y0 <= box.y0 < box.y1 <= 0
    assert 0 <= box.x0 < box.x1 <= 3
