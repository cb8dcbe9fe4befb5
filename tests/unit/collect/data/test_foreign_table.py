"""Other people's tables: what becomes of their rows."""

import csv
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import Dataset, read_dataset, write_dataset
from numapredict.collect.data.foreign_table import TableColumns, Tally, dataset_of_rows, read_rows, tally_in_words
from numapredict.collect.mapping import AnyMapping, Mapping, mapping_named
from numapredict.native.errors import InvalidInputError

COLUMNS = TableColumns(program=("code", "input"), mapping=("policy", "threads"), time="ms", group="code", unit_s=1e-3)
HEAD = "code,input,policy,threads,ms,host,misses\n"


def about(default: str | None = None) -> Dataset:
    return Dataset(
        machine="box",
        modelled=False,
        topology=None,
        made_by="x",
        created="now",
        default=mapping_named(default) if default else None,
    )


def imported(
    tmp_path: Path, text: str, columns: TableColumns = COLUMNS, default: str | None = None
) -> tuple[Dataset, Tally]:
    file = tmp_path / "table.csv"
    file.write_text(HEAD + text)
    return dataset_of_rows(read_rows(file), columns, "box", about(default))


def test_rows_become_measurements_and_repetitions(tmp_path: Path) -> None:
    dataset, tally = imported(
        tmp_path, "a,1,near,4,10,h,5\na,1,near,4,30,h,6\na,1,far,4,20,h,7\na,2,near,4,5,h,8\nb,,far,4,8,h,9\n"
    )
    assert [(p.name, p.group) for p in dataset.programs] == [("a 1", "a"), ("a 2", "a"), ("b", "b")]
    first = dataset.measurements[0]
    assert first.mapping == AnyMapping("near-4")
    assert [r.time_s for r in first.repetitions] == [0.01, 0.03]
    assert (first.modelled, first.status) == (False, "ok")
    assert (tally.programs, tally.mappings, tally.repeated, tally.holes, tally.varying) == (3, 2, 1, 2, ())
    assert tally_in_words(tally) == (
        "3 programs x 2 mappings, 2 of the 6 pairs without a time, 1 further repetition; 5 rows"
    )


def test_times_that_say_nothing_are_counted_and_left_out(tmp_path: Path) -> None:
    text = "a,1,near,4,10,h,\na,1,far,4,,h,\na,1,none,4,NaN,h,\na,1,slow,4,>900,h,\na,1,slow,4,3,h,\na,1,zero,4,0,h,\n"
    dataset, tally = imported(tmp_path, text)
    assert {m.mapping.label: m.status for m in dataset.measurements} == {"near-4": "ok", "slow-4": "timeout"}
    assert (tally.missing, tally.censored, tally.holes) == (3, 1, 4)
    assert "of which 3 without a time, 1 cut off" in tally_in_words(tally)


def test_rows_are_picked_and_dropped_by_columns(tmp_path: Path) -> None:
    text = "a,1,near,4,10,h,0\na,1,near,4,99,other,0\na,1,far,4,20,h,1\na,1,off,4,20,h,0\n"
    columns = TableColumns(
        program=("code",), mapping=("policy",), time="ms", where=(("host", "h"),), drop_if=(("misses", "1"),)
    )
    dataset, tally = imported(tmp_path, text, columns)
    assert {m.mapping.label: m.time_s for m in dataset.measurements} == {"near": 10.0, "off": 20.0}
    assert (tally.other, tally.suspect) == (1, 1)


def test_rows_of_different_hosts_are_not_taken_together_in_silence(tmp_path: Path) -> None:
    _, tally = imported(tmp_path, "a,1,near,4,10,h,0\na,1,near,4,99,other,1\n")
    assert tally.varying == ("host",)
    assert tally_in_words(tally).endswith("differ in host: name it in --program, or pick one with --where")


def test_labels_of_ours_stay_ours(tmp_path: Path) -> None:
    columns = TableColumns(program=("code",), mapping=("policy",), time="ms", counters=("misses",))
    dataset, _ = imported(tmp_path, "a,1,8x2-scatter-interleave,0,1,h,7\na,1,else,0,1,h,\n", columns)
    assert [type(m.mapping) for m in dataset.measurements] == [Mapping, AnyMapping]
    assert [m.repetitions[0].readings for m in dataset.measurements] == [(("misses", 7.0),), ()]
    write_dataset(dataset, tmp_path / "data")
    assert read_dataset(tmp_path / "data") == dataset


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,1,near,4\n", "line 2 has fewer cells, the first line 7"),
        ("a,1,near,4,1,h,0,more\n", "line 2 has 8 cells"),
        ("a,1,near,4,soon,h,0\n", "line 2, column 'ms': 'soon' is no number"),
        ("a,1,near,4,1,h,0\na,1,far,4,1_000,h,0\n", "line 3, column 'ms': '1_000' is no number"),
        ("a,1,near,4,١٢٣,h,0\n", "line 2, column 'ms': '١٢٣' is no number"),
        ("a,1,near,4,\uff11\uff12,h,0\n", "line 2, column 'ms': .* is no number"),
        ('"a\nb",1,near,4,0x10,h,0\n', "line 3, column 'ms': '0x10' is no number"),
        ("a,1,near,4,1e400,h,0\n", "line 2, column 'ms': '1e400' is no number"),
        (
            "a,1,near,4,1e13,h,0\n",
            "line 2, column 'ms': '1e13' is a time of 1e\\+10 s, and runs take 1e-12 to 1e\\+09 s",
        ),
        ("a,1,near,4,5e-324,h,0\n", "runs take 1e-12 to 1e.09 s; fix the row, or check --time-unit"),
        (",,near,4,1,h,0\n", "names no program"),
        ("a,1,,,1,h,0\n", "names no mapping"),
        ("a,1,near,4,,h,0\n", "no run with a time is left of 1 rows"),
        ("", "the table has no rows"),
        ('a,"1,near,4,1,h,0\n', "is no CSV"),
    ],
)
def test_what_makes_no_sense_gets_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as error:
        imported(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_reading_is_held_to_the_same_form_as_a_time(tmp_path: Path) -> None:
    columns = TableColumns(program=("code",), mapping=("policy",), time="ms", counters=("misses",))
    with pytest.raises(InvalidInputError, match="line 3, column 'misses': '7_0' is no number"):
        imported(tmp_path, "a,1,near,4,1,h,7\na,1,far,4,1,h,7_0\n", columns)


def test_numbers_are_read_in_every_plain_form(tmp_path: Path) -> None:
    forms = ("10", " 10 ", "10.", "+1e1", ".1E+2", "1000e-2")
    dataset, _ = imported(tmp_path, "".join(f"a,1,m{n},4,{form},h,0\n" for n, form in enumerate(forms)))
    assert [m.time_s for m in dataset.measurements] == pytest.approx([0.01] * len(forms))


def test_names_are_checked_before_anything_is_made(tmp_path: Path) -> None:
    rows = "a,1,near,4,1,h,0\nb,1,near,4,1,h,0\n"
    with pytest.raises(InvalidInputError, match="no column 'time'; the columns are code, input"):
        imported(tmp_path, rows, TableColumns(program=("code",), mapping=("policy",), time="time"))
    with pytest.raises(InvalidInputError, match="default mapping 'far-4'; there are near-4"):
        imported(tmp_path, rows, default="far-4")
    with pytest.raises(InvalidInputError, match="in the groups 'a' and 'b'"):
        imported(tmp_path, rows, TableColumns(program=("input",), mapping=("policy",), time="ms", group="code"))
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    with pytest.raises(InvalidInputError, match="column 'a' is there twice"):
        read_rows(tmp_path / "twice.csv")
    (tmp_path / "binary.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        read_rows(tmp_path / "binary.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InvalidInputError, match="is empty"):
        read_rows(tmp_path / "empty.csv")


def test_how_long_cells_may_be_elsewhere_stays_as_it_was(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    imported(tmp_path, "a," + "x" * (before + 1) + ",near,4,10,h,5\n")
    assert csv.field_size_limit() == before
    with pytest.raises(InvalidInputError, match="fewer cells"):
        imported(tmp_path, "a\n")
    assert csv.field_size_limit() == before


def test_a_number_after_a_label_of_ours_is_that_of_threads_a_core(tmp_path: Path) -> None:
    columns = TableColumns(program=("code",), mapping=("policy", "threads"), time="ms")
    rows = [f"a,1,{cells},1,h,\n" for cells in ("8x2-scatter-interleave,2", "8x2-scatter-interleave,1", "close,2")]
    dataset, _ = imported(tmp_path, "".join(rows), columns)
    mappings = [m.mapping for m in dataset.measurements]
    assert [m.label for m in mappings] == ["8x2-scatter-interleave-smt2", "8x2-scatter-interleave", "close-2"]
    assert [type(m) for m in mappings] == [Mapping, Mapping, AnyMapping]
    alone = TableColumns(program=("code",), mapping=("policy",), time="ms")
    dataset, _ = imported(tmp_path, "a,1,8x2-scatter-interleave-smt2,0,1,h,7\n", alone)
    assert dataset.measurements[0].mapping == Mapping(8, 2, "scatter", 2, "interleave", 2)
