import msgspec

from numapredict.predictor.variables.heat import Heat
from numapredict.reports.parts.touched_addresses import COLUMN, LEVELS, ROW, addresses_data
from tests.judged import NODES, judged_answer


def heat(number: int) -> Heat:
    found = judged_answer().variables[number].heat
    assert found is not None
    return found


def test_cells_have_the_threads_node_and_homes_the_first_threads() -> None:
    data = addresses_data("wrong", heat(0), NODES, 4096)
    assert (data.width, data.height) == (4 * COLUMN, 4 * ROW)
    assert [(cells.colour, cells.level) for cells in data.cells] == [(0, 3), (0, 5), (1, 1), (1, 5)]
    assert data.cells[0].path == f"M{COLUMN} {ROW}h{COLUMN}v{ROW}h-{COLUMN}z"
    assert [(cells.colour, cells.path.count("z")) for cells in data.homes] == [(0, 3)]
    assert [cells.path.count("z") for cells in addresses_data("right", heat(1), NODES, 4096).homes] == [2, 2]
    assert data.words == "a row is 1 thread, a column 64 KiB; the strongest colour is of 10 touches"


def test_without_nodes_all_threads_have_one_colour() -> None:
    assert {cells.colour for cells in addresses_data("wrong", heat(0), None, 4096).cells} == {0}


def test_a_touch_is_always_seen_and_none_is_not() -> None:
    rows = ((1, 0), (10_000, 0))
    data = addresses_data("a", msgspec.structs.replace(heat(0), touches=rows, first_threads=(None, None)), None, 4096)
    assert sorted(cells.level for cells in data.cells) == [1, LEVELS]
    assert sum(cells.path.count("z") for cells in data.cells) == 2
    nothing = addresses_data("a", msgspec.structs.replace(heat(0), touches=((0, 0),)), None, 4096)
    assert nothing.cells == ()
