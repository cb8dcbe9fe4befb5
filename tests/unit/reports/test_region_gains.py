"""The heat map of regions by mappings: its data, and what is drawn of it."""

from pathlib import Path

import msgspec
import pytest
from defusedxml import ElementTree
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.figure_file import write_figure
from numapredict.reports.region_gains import (
    MOST_COLUMNS,
    MOST_ROWS,
    NotReplayed,
    RegionGainsData,
    region_gains_data,
    short_name,
    shown_part,
)
from numapredict.reports.region_gains_figure import region_gains_figure
from tests.replayed import (
    BASELINE,
    BIND,
    FEW,
    HALF,
    LOCAL,
    NO_MEMORY,
    NO_WRITE,
    ONE,
    QUARTER,
    SCATTER,
    SPREAD,
    base,
    gain,
    on_a_server,
    region,
)
from tests.unit.reports.legible import assert_legible

replace = msgspec.structs.replace
DATA = region_gains_data(on_a_server())


def states(data: RegionGainsData, row: int) -> dict[str, str]:
    return {label: cell.state for label, cell in zip(data.mappings, data.rows[row].cells, strict=True)}


def best_of(data: RegionGainsData) -> list[str]:
    return [data.mappings[row.best] for row in data.rows]


def test_regions_stand_by_their_time_and_mappings_by_their_size_after_the_baseline() -> None:
    assert DATA.mappings == (BASELINE, ONE, FEW, BIND, QUARTER, HALF, LOCAL, SPREAD, SCATTER)
    shares = [row.share for row in DATA.rows]
    assert len(shares) == 8
    assert shares == sorted(shares, reverse=True)
    back = region_gains_data(replace(on_a_server(), regions=on_a_server().regions[::-1]))
    assert [row.share for row in back.rows] == shares
    assert (DATA.rows[0].name, DATA.rows[0].instances, DATA.rows[0].team) == ("sweep, solver.cc:812", 81200, 32)


def test_a_cell_says_how_sure_its_gain_is_or_why_it_has_none() -> None:
    assert states(DATA, 0) == {
        BASELINE: "baseline", ONE: "failed", FEW: "not tried", BIND: "no gain", QUARTER: "not tried",
        HALF: "no gain", LOCAL: "once", SPREAD: "confirmed", SCATTER: "not tried",
    }  # fmt: skip
    assert states(DATA, 1)[SCATTER] == "not always"  # the greatest median of its row, but it lost in a round
    own = states(DATA, 7)  # a region of eight threads where the baseline has 32
    assert {label for label, state in own.items() if state == "own team"} == {ONE, FEW, HALF, LOCAL, SCATTER}
    assert own[BIND] == "not tried"  # it has eight threads
    why = {cell.state: cell.why for row in DATA.rows for cell in row.cells}
    assert why["failed"] == NO_MEMORY
    assert "own number of threads" in why["own team"]
    assert not why["confirmed"]
    assert DATA.rows[0].cells[DATA.mappings.index(SPREAD)].speedup == 2.61


def test_the_best_cell_is_confirmed_or_the_baseline() -> None:
    assert best_of(DATA) == [SPREAD, SPREAD, SPREAD, BASELINE, QUARTER, FEW, BASELINE, BASELINE]
    assert [row.unlike for row in DATA.rows] == [False] * 3 + [True] + [False] * 4


def test_the_last_row_is_one_mapping_for_the_whole_program() -> None:
    (one,) = on_a_server().one_mapping
    assert DATA.mappings[DATA.best] == one.mapping == SPREAD
    cell = DATA.whole[DATA.best]
    assert (cell.state, cell.speedup, cell.lowest) == ("confirmed", one.speedup, one.lowest)
    assert [each.state for each in DATA.whole].count("not tried") == 7
    assert DATA.bound == on_a_server().speedup
    hasty = replace(on_a_server(), regions=(region("sweep", 812, 0.5, base(), gain(SPREAD, 2.0, 2.0, 1)),))
    assert region_gains_data(hasty).whole[-1].state == "once"  # as sure as its least sure region


def test_reasons_have_their_regions_and_their_share_of_the_time() -> None:
    found = {each.reason: (each.regions, each.share) for each in DATA.not_replayed}
    assert found["an instance takes less than 5 us"] == (("limit, solver.cc:590", "norm, solver.cc:61"), 0.04)
    assert found[NO_WRITE] == (("write_checkpoint, solver.cc:1501",), 0.05)
    assert [each.share for each in DATA.not_replayed] == sorted((s for _, s in found.values()), reverse=True)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("mean, heat.c:52", "mean, heat.c:52"),
        ("CalcMonotonicQGradientsForElems, lulesh.cc:1618", "CalcMonotonicQGradients…, lulesh.cc:1618"),
        ("void A<B<int>, 3>::go(std::vector<int>&, int) const, a.cc:7", "A::go, a.cc:7"),
        ("x" * 60, "x" * 20 + "…" + "x" * 19),
        ("f, " + "y" * 60 + ".c:3", "f, " + "y" * 17 + "…" + "y" * 15 + ".c:3"),
    ],
)
def test_a_name_loses_the_end_of_its_function_never_its_line(name: str, short: str) -> None:
    assert short_name(name, 40) == short
    assert len(short) <= 40


def many() -> ReplayedRegions:
    """Return more regions and mappings than there is room for; the last region's best mapping is its own."""
    labels = [f"{threads}x1-contiguous-bind" for threads in range(1, 31)]
    regions = [
        region(f"f{n}", n + 1, 0.02 - n / 10000, base(), *(gain(x, 0.5, 0.5, 1) for x in labels[: n % 4]))
        for n in range(50)
    ]
    regions[39] = region("last", 99, 0.0161, base(), gain(labels[-1], 2.0, 2.0, 3))
    return replace(on_a_server(), regions=tuple(regions), one_mapping=())


def test_what_there_is_no_room_for_is_told() -> None:
    data = region_gains_data(many())
    regions = replace(many(), regions=tuple(
        region(f"f{n}", n + 1, 0.02, base(), gain(f"{n + 1}x1-contiguous-bind", 0.5, 0.5, 1)) for n in range(30)
    ))  # fmt: skip
    shown = shown_part(data)
    assert len(shown.rows) == MOST_ROWS
    assert shown.not_replayed[-1].reason == "no room in this figure"
    assert len(shown.not_replayed[-1].regions) == 50 - MOST_ROWS
    assert [(row.name, shown.mappings[row.best]) for row in shown.rows if row.best] == [
        ("last, solver.cc:99", "30x1-contiguous-bind")
    ]
    wide = region_gains_data(regions)
    assert len(wide.mappings) == 31
    assert len(shown_part(wide).mappings) == MOST_COLUMNS
    text = "".join(assert_legible(region_gains_figure(wide)))
    assert "11 more mappings" in text


def drawn(data: RegionGainsData, folder: Path) -> list[str]:
    write_figure(region_gains_figure(data), folder / "a.svg")
    root = ElementTree.parse(folder / "a.svg").getroot()
    return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_cell_name_and_reason_is_drawn_and_legible(tmp_path: Path) -> None:
    assert_legible(region_gains_figure(DATA))
    texts = drawn(DATA, tmp_path)
    for row in DATA.rows:
        assert short_name(row.name, 44) in texts
        assert f"{row.share:.0%}" in texts
        for cell in row.cells:
            if cell.speedup is not None and cell.state != "baseline":
                assert f"{cell.speedup:.2f}x" in texts
    assert texts.count("once") == 4
    assert texts.count("not always") == 3
    assert "31.00 ms" in texts
    assert "0.31 x run" in texts
    whole = " ".join(texts)
    for words in (
        DATA.title,
        DATA.source,
        f"a: {DATA.rows[0].cells[1].why}",
        f"b: {NO_MEMORY}",
        "c: the region sets",
        "Not replayed, 12% of the time",
        f"5%  {NO_WRITE}",
        "one mapping for the whole program",
        "1.52x",
    ):
        assert words in whole, words


def test_frames_and_colours_are_those_of_the_cells() -> None:
    figure = region_gains_figure(DATA)
    axes = next(each for each in figure.axes if any(text.get_text() == "2.61x" for text in each.texts))
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    framed = {(int(box.get_x()), int(box.get_y())) for box in boxes if not box.get_fill()}
    assert {(row.best, at) for at, row in enumerate(DATA.rows)} < framed
    assert len(framed) == len(DATA.rows) + 1
    colour = {(box.get_x(), box.get_y()): box.get_facecolor() for box in boxes if box.get_fill()}
    gained, lost = colour[DATA.mappings.index(SPREAD), 0], colour[DATA.mappings.index(BIND), 0]
    assert gained[2] > gained[0]  # more blue than red
    assert lost[0] > lost[2]
    assert to_hex(colour[DATA.mappings.index(ONE), 0]) == "#ffffff"  # it failed
    bold = {text.get_text() for text in axes.texts if text.get_weight() == "bold"}
    assert bold == {"2.61x", "1.84x", "1.36x", "1.60x", "1.22x", "7.90x", "1.27x"}


def test_without_any_replay_the_reasons_are_all_there_is(tmp_path: Path) -> None:
    left = replace(on_a_server(), regions=on_a_server().regions[8:], one_mapping=())
    data = region_gains_data(left)
    assert_legible(region_gains_figure(data))
    assert "No region could be replayed." in drawn(data, tmp_path)
    kept = replace(left, regions=(region("f", 1, 1.0, base(), gain(SPREAD, 0.5, 0.5, 1)),))
    assert any(text.startswith("No region noticeably gains") for text in drawn(region_gains_data(kept), tmp_path))
    none = region_gains_data(replace(left, regions=()))
    assert "No OpenMP parallel region began." in drawn(none, tmp_path)
    assert none.not_replayed == ()
    assert isinstance(data.not_replayed[0], NotReplayed)


def test_beside_a_load_the_figure_claims_nothing(tmp_path: Path) -> None:
    busy = replace(on_a_server(), disturbed="other programs used 1.0 of its 2 PUs")
    texts = [" ".join(text.split()) for text in drawn(region_gains_data(busy), tmp_path)]
    assert any(text.startswith("This computer was busy, other programs used 1.0 of its 2 PUs") for text in texts)
    assert not any("as fast" in text for text in texts)
