"""The table that the library reads, and what it writes of a run that adapts."""

from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.adapt_table import AdaptTable, RegionTeam, Trial, read_result, write_table
from numapredict.native.errors import InvalidInputError
from tests.planted import four_by_eight

BASE = resolve(parse_label("32x4-contiguous-locality"), four_by_eight())


def test_columns_name_slots_of_all_pus_and_os_nodes(tmp_path: Path) -> None:
    labels = ("16x2-scatter-locality", "32x4-contiguous-interleave", "4x4-contiguous-dataset")
    columns = tuple((resolve(parse_label(label), four_by_eight()), number) for number, label in enumerate(labels, 1))
    table = AdaptTable(
        share=0.02,
        quiet_s=1,
        columns=columns,
        known=((0.5, (0, 1, -99, 0.5)),) * 2,
        teams=((resolve(parse_label("8x1-contiguous-bind"), four_by_eight()), 0.5),),
        regions=(RegionTeam(77, 1),),
        start=2,
        closed=(1,),
    )
    write_table(table, BASE, tmp_path / "table")
    lines = (tmp_path / "table").read_text().splitlines()
    assert lines[:5] == ["numaplace-adapt 2", "share 20000", "quiet 1000000000", "start 2", "close 1"]
    nodes = [str(BASE.topology.nodes[n].os_index) for n in range(4)]
    assert lines[5].split()[:3] == ["column", "locality", "1"]
    slots = [BASE.pus.index(pu) for pu in columns[0][0].pus]
    assert lines[5].split()[3] == ",".join(map(str, slots))
    assert lines[7].split()[:3] == ["column", "dataset", "3"]
    assert set(lines[7].split()[5].replace("-", ",").split(",")) <= set(nodes)
    assert [BASE.pus.index(pu) for pu in table.teams[0][0].pus] == list(range(8))
    assert lines[8:10] == ["team 2048 0-7", "region 77 1"]
    assert lines[10:] == ["known 500000000 0 4096 -131072 2048"] * 2


def test_where_the_kernel_moves_pages_the_table_says_so(tmp_path: Path) -> None:
    column = (resolve(parse_label("32x4-contiguous-interleave"), four_by_eight()), 1)
    for wanted in (True, False):
        table = AdaptTable(share=0.02, quiet_s=1, columns=(column,), known=((1.0, (0, 1)),), crowded_only=wanted)
        write_table(table, BASE, tmp_path / "table")
        assert ("crowded 1" in (tmp_path / "table").read_text().splitlines()) is wanted


def test_what_was_done_is_read_even_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_text(
        "steps 4 2000000\ntried 1 0 1 4096 1000000 2000000000 3 4 0\nregion 7 2\n"
        "tried 1 1 3 -2048 5000000 3000000000 1 0 1\nregion 7 0\nregion 9 2\n"
    )
    found = read_result(path)
    assert (found.regions, found.step_s, found.end, found.column) == (4, 0.002, False, 1)
    assert found.trials[1] == Trial(1, 1, "cut short", -0.5, 0.005, 3.0, 1, 0, True)
    assert found.teams == (RegionTeam(7, 0), RegionTeam(9, 2))


def test_an_end_and_a_mapping_given_up(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_text(
        "tried 1 0 1 4096 0 2000000000 3 0 0\ntried 1 0 4 -10 0 3000000000 3 0 0\n"
        "given-up several of its threads start regions\n"
        "end 0 0 4000000000 1000 2000 3\n"
    )
    found = read_result(path)
    assert (found.column, found.given_up, found.pages) == (0, "several of its threads start regions", 3)
    assert (found.time_s, found.spent_s, found.saved_s) == (4.0, 1e-6, 2e-6)


def test_a_program_without_regions_wrote_nothing(tmp_path: Path) -> None:
    assert read_result(tmp_path / "none").given_up == "no parallel region began in it"


@pytest.mark.parametrize("text", ["tried 1 0 9 0 0 0 0 0 0\n", "tried 1 0\n", "end a b\n", "steps\n"])
def test_other_text_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match="not what the library writes"):
        read_result(path)
