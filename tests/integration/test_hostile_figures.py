"""Every figure with names that try to be formulas, terminal codes or another direction of writing."""

import functools
import struct
import warnings
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from defusedxml import ElementTree

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placement import resolve
from numapredict.predictor.evaluation.budget_curve import BudgetCurve, CurvePoint
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.evaluation.evaluate import Evaluations, together
from numapredict.predictor.evaluation.thesis import Sweep, sweeps_of
from numapredict.predictor.learning.features import observe
from numapredict.reports.accuracy import accuracy_data, accuracy_figure
from numapredict.reports.budget_curve import budget_curves_data, budget_figure
from numapredict.reports.calibration import calibration_data, calibration_figure
from numapredict.reports.characterisation.page_policies import policy_times_data, policy_times_figure
from numapredict.reports.characterisation.times import times_data, times_figure
from numapredict.reports.characterisation.traffic import traffic_data, traffic_figure
from numapredict.reports.clustermap import clustermap_data
from numapredict.reports.clustermap_figure import figure_of
from numapredict.reports.drawable import drawable
from numapredict.reports.figure_file import write_figure
from numapredict.reports.placed_mapping import mapping_figure, placed_mapping_data
from numapredict.reports.region_gains import region_gains_data
from numapredict.reports.region_gains_figure import region_gains_figure
from numapredict.reports.related_work import related_data
from numapredict.reports.related_work_figure import related_figure
from numapredict.reports.source import origin_of
from numapredict.reports.sweep_curves import sweep_curves_data, sweep_figure
from numapredict.reports.topology_map import computer_map_data, topology_figure
from tests.evaluations import evaluation, held_out
from tests.hostile import NAMES, SHAPELESS, with_hostile_names
from tests.planted import four_by_eight, planted_dataset
from tests.replayed import on_a_server
from tests.unit.collect.campaign.characterisation.test_result import characterised

HOSTILE = (*SHAPELESS, *NAMES)
MACHINES = (*SHAPELESS[-3:], "\x1b[31m$x^2$\x00\u202enot\na line", "$\\foo$")
Draw = Callable[[str, Path], None]
TOPOLOGY = four_by_eight()


@functools.cache
def measured() -> Dataset:
    return with_hostile_names(planted_dataset(25), HOSTILE)


@functools.cache
def swept() -> tuple[Sweep, ...]:
    return tuple(sweeps_of(observe(measured()), TOPOLOGY)[:2])


def dataset_of(machine: str) -> Dataset:
    dataset = measured()
    own = tuple(msgspec.structs.replace(each, machine=machine) for each in dataset.measurements)
    return msgspec.structs.replace(dataset, machine=machine, measurements=own)


def evaluations(machine: str) -> Evaluations:
    programs = [
        held_out(name, 1.0 + n, 2.0 + n, Forecast(4.0 + n, 3.0 + n, 5.0 + n, 0.9, 1.0 + n))
        for n, name in enumerate(HOSTILE)
    ]
    return together([evaluation(name, programs) for name in (machine, f"{machine} 2")])


def clustermap(name: str, path: Path) -> None:
    write_figure(figure_of(clustermap_data(dataset_of(name))), path)


def sweeps(name: str, path: Path) -> None:
    odd = [msgspec.structs.replace(sweep, default=AnyMapping(name)) for sweep in swept()]
    write_figure(sweep_figure(sweep_curves_data(odd, origin_of(dataset_of(name), name))), path)


def related(name: str, path: Path) -> None:
    found = evaluations(name)
    odd = tuple(msgspec.structs.replace(each, default=AnyMapping(name)) for each in found.datasets)
    write_figure(related_figure(related_data(msgspec.structs.replace(found, datasets=odd), [TOPOLOGY, None])), path)


def accuracy(name: str, path: Path) -> None:
    write_figure(accuracy_figure(accuracy_data(evaluations(name))), path)


def calibration(name: str, path: Path) -> None:
    write_figure(calibration_figure(calibration_data(evaluations(name))), path)


def budget(name: str, path: Path) -> None:
    point = CurvePoint(share=0.3, pilots=2, mappings=9, gain_captured=0.5, low=0.4, high=0.6, by_chance=0.2)
    curve = BudgetCurve(machine=name, modelled=True, programs=9, mappings=20, full=0.8, points=(point,))
    nothing = msgspec.structs.replace(curve, full=0.0)
    write_figure(budget_figure(budget_curves_data([curve, nothing], [origin_of(dataset_of(name), name)])), path)


def topology(name: str, path: Path) -> None:
    write_figure(topology_figure(computer_map_data(msgspec.structs.replace(TOPOLOGY, name=name))), path)


def mapping(name: str, path: Path) -> None:
    label = planted_dataset(1).measurements[0].mapping
    write_figure(
        mapping_figure(placed_mapping_data(resolve(label, msgspec.structs.replace(TOPOLOGY, name=name)))), path
    )


def times(name: str, path: Path) -> None:
    write_figure(
        times_figure(times_data(msgspec.structs.replace(characterised(), machine=name, command=("./app", name)))), path
    )


def page_policies(name: str, path: Path) -> None:
    data = policy_times_data(msgspec.structs.replace(characterised(), machine=name, command=("./app", name)))
    assert data is not None
    write_figure(policy_times_figure(data), path)


def accesses(name: str, path: Path) -> None:
    data = traffic_data(msgspec.structs.replace(characterised(), machine=name, command=("./app", name)), "accesses")
    assert data is not None
    write_figure(traffic_figure(data), path)


def regions(name: str, path: Path) -> None:
    answer = on_a_server()
    odd = tuple(
        msgspec.structs.replace(one, place=None, name=evil, problem=one.problem and evil)
        for one, evil in zip(answer.regions, HOSTILE, strict=False)
    )
    answer = msgspec.structs.replace(answer, machine=name, command=("./app", name), regions=odd)
    write_figure(region_gains_figure(region_gains_data(answer)), path)


FIGURES: tuple[Draw, ...] = (
    clustermap, sweeps, related, accuracy, calibration, budget, topology, mapping, times, page_policies, accesses,
    regions,
)  # fmt: skip


def svg_texts(path: Path) -> list[str]:
    """Return the texts of an SVG file, which must be XML, with the lines that a text was broken into put together."""
    root = ElementTree.parse(path).getroot()
    return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]


def size_of(path: Path) -> tuple[int, int]:
    """Return the pixels across and up of a PNG file (PNG specification, 11.2.2: IHDR)."""
    across, up = struct.unpack(">II", path.read_bytes()[16:24])
    return across, up


@pytest.mark.parametrize(
    ("draw", "name"),
    [*((draw, name) for draw in FIGURES for name in MACHINES[2:4]), *((topology, name) for name in MACHINES)],
)
def test_a_machine_of_any_name_is_named_letter_by_letter(draw: Draw, name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(name, tmp_path / "a.svg")
        draw(name, tmp_path / "a.png")
    assert max(size_of(tmp_path / "a.png")) < 3500
    texts = svg_texts(tmp_path / "a.svg")
    together = "".join(texts).replace(" ", "")
    # Titles are broken into lines, and some have room for fewer letters: the name's ends are what must be there.
    shown = drawable(name, 30).replace(" ", "")
    start, _, end = shown.partition("…")
    assert start[:10] in together
    assert (end or shown)[-10:] in together
    assert not any(letter < " " or letter in "\u202e\u2066" for text in texts for letter in text)


def test_every_program_has_its_row_and_its_letters(tmp_path: Path) -> None:
    clustermap("machine", tmp_path / "a.svg")
    texts = svg_texts(tmp_path / "a.svg")
    for name in HOSTILE:
        assert texts.count(drawable(name, 40)) == 1, name


def test_the_misses_have_their_letters(tmp_path: Path) -> None:
    accuracy("machine", tmp_path / "a.svg")
    texts = svg_texts(tmp_path / "a.svg")
    worst = HOSTILE[0]
    assert any(drawable(worst, 40) in text for text in texts)


def test_a_plain_figure_has_no_marks_of_formulas(tmp_path: Path) -> None:
    for draw in FIGURES:
        draw("plain", tmp_path / "a.svg")
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        hostile = {drawable(name, 40) for name in HOSTILE}
        for text in ("".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")):
            if not any(name in text for name in hostile):
                assert "mathdefault" not in text, draw.__name__
