"""Importing a table: its groups from a file, its outliers left out, its sisters named."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from numapredict.collect.cli import collect
from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.foreign_table import TableColumns, Tally
from numapredict.collect.data.table_import import About, import_table
from numapredict.collect.mapping import mapping_named, parse_label
from numapredict.native.errors import InvalidInputError
from tests.shapes import shape
from tests.unit.collect.data.test_outliers import CORRUPT_S, usual

COLUMNS = TableColumns(program=("program",), mapping=("mapping",), time="seconds")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table in which p1 is p0 at another length, and p2's time under m0 is corrupt."""
    times_s = usual(8, 20)
    times_s[1] = times_s[0] * 5
    times_s[2, 0] = CORRUPT_S
    file = tmp_path / "table.csv"
    lines = [f"p{row},m{column},{time_s}" for row, times in enumerate(times_s) for column, time_s in enumerate(times)]
    file.write_text("\n".join(["program,mapping,seconds", *lines]))
    return file


def imported(table: Path, groups: str | None = None, *, keep_outliers: bool = False) -> tuple[Tally, dict[str, str]]:
    """Return what became of the table, and the group of each program."""
    file = table.with_name("groups.csv")
    if groups is not None:
        file.write_text(groups)
    into = table.with_name("into")
    asked = About(default="m0", groups=None if groups is None else file, keep_outliers=keep_outliers)
    tally = import_table(table, into, COLUMNS, asked)
    return tally, {program.name: program.group for program in read_dataset(into).programs}


def test_groups_come_from_a_file_and_the_others_are_alone(table: Path) -> None:
    tally, groups = imported(table, "program,group\np0,twins\np1,twins\n")
    assert groups == {"p0": "twins", "p1": "twins"} | {f"p{n}": f"p{n}" for n in range(2, 8)}
    assert tally.similar == ()


def test_sisters_in_different_groups_are_named(table: Path) -> None:
    tally, _ = imported(table, "program,group\np0,one\np1,another\n")
    assert tally.similar == (("p0", "p1"),)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            "program,group\np9,x\n",
            r"groups.csv: 'p9' is no program of the table; there are 'p\d', 'p\d', 'p\d' and so on",
        ),
        ("program\np0\n", "groups.csv: the columns are program; the first line must be program,group"),
        ("group,program\nx,p0\n", "the first line must be program,group"),
        ("program,group\np0,x\np0,y\n", "line 3 puts 'p0' into 'y', a line before into 'x'; a program has one group"),
        ("program,group\np0,\n", "line 2 names no group"),
        ("program,group\n ,x\n", "line 2 names no program"),
        ("program,group\n", "names no program; add lines"),
        ("program,group\np0,p1\n", "group 'p1' has the name of a program that is not in it; rename it"),
        ("program,group\np0,x,y\n", "line 2 has 3 cells"),
        ("", "is empty; the first line must name the columns"),
    ],
)
def test_a_file_of_groups_that_makes_no_sense_gets_one_line(table: Path, groups: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as error:
        imported(table, groups)
    assert "\n" not in str(error.value)
    assert not table.with_name("into").exists()


def test_outliers_are_left_out_and_can_be_kept(table: Path) -> None:
    tally, _ = imported(table)
    assert [(each.program, each.mapping, each.time_s) for each in tally.outliers] == [("p2", "m0", CORRUPT_S)]
    assert tally.holes == 1
    read = {(m.program, m.mapping.label): m for m in read_dataset(table.with_name("into")).measurements}
    assert read["p2", "m0"].status == "crashed"


def test_what_is_kept_is_kept(table: Path) -> None:
    tally, _ = imported(table, keep_outliers=True)
    assert (tally.outliers, tally.holes) == ((), 0)
    read = {(m.program, m.mapping.label): m for m in read_dataset(table.with_name("into")).measurements}
    assert read["p2", "m0"].time_s == CORRUPT_S


def test_the_command_warns_of_both_and_names_the_options(table: Path) -> None:
    options = ["--program", "program", "--mapping", "mapping", "--time", "seconds", "--default", "m0"]
    done = CliRunner().invoke(collect, ["import", str(table), "-o", str(table.with_name("new")), *options])
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert "new: 1 outlier left out of the times: p2 under m0 (1.98e+05 s, usual" in said
    assert "without its default p2 cannot be judged; --keep-outliers keeps them" in said
    assert "nearly agree are not held out together: p0 and p1; if they are one code base, import the table with" in said
    both = [*options, "--group", "program", "--groups", str(table)]
    done = CliRunner().invoke(collect, ["import", str(table), "-o", str(table.with_name("other")), *both])
    assert "--group and --groups exclude each other" in done.output


LABELS = [f"{threads}x1-contiguous-bind" for threads in range(1, 9)] + [
    f"{threads}x2-{policy}-first-touch" for threads in range(2, 14, 2) for policy in ("contiguous", "scatter")
]
COUNTERPARTS = "mapping,label\n" + "".join(f"m{n},{label}\n" for n, label in enumerate(LABELS))


def with_counterparts(table: Path, text: str) -> Dataset:
    """Return the dataset of the table, read back, with counterparts on a machine of two nodes with eight cores."""
    file, into = table.with_name("counterparts.csv"), table.with_name("into")
    file.write_text(text)
    import_table(table, into, COLUMNS, About(default="m0", counterparts=file, topology=shape([8, 8])))
    return read_dataset(into)


def test_counterparts_are_read_back(table: Path) -> None:
    found = with_counterparts(table, COUNTERPARTS + "m99,1x1-contiguous-bind\n").counterparts
    assert found is not None
    assert found.topology == shape([8, 8])
    assert [found.of(mapping_named(f"m{n}")) for n in range(20)] == [parse_label(label) for label in LABELS]
    with pytest.raises(KeyError):  # not of the table, and left out
        found.of(mapping_named("m99"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (COUNTERPARTS.replace("m7,", "m77,").replace("m9,", "m99,"), "names no counterpart of m7, m9; add lines"),
        (COUNTERPARTS.replace(",8x1-", ",9x1-"), "counterparts: 9x1-contiguous-bind, for m7, is no mapping of"),
        (COUNTERPARTS.replace(",8x1-contiguous-bind", ",packed"), "counterparts: packed, for m7, is no mapping of"),
        (COUNTERPARTS + "m7,8x1-contiguous-bind\n", "counterparts: a mapping is there twice"),
        (COUNTERPARTS.replace("mapping,", "policy,"), "the columns are policy, label; the first line must be mapping,"),
        (COUNTERPARTS.replace(",8x1-contiguous-bind", ","), "line 9 names no label; fix it"),
    ],
)
def test_counterparts_that_make_no_sense_get_one_line(table: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=f"counterparts.csv: .*{message}"):
        with_counterparts(table, text)
    assert not table.with_name("into").exists()


def test_counterparts_and_their_machine_belong_together(table: Path) -> None:
    options = ["--program", "program", "--mapping", "mapping", "--time", "seconds", "--topology", "broadwell-2x10"]
    done = CliRunner().invoke(collect, ["import", str(table), "-o", str(table.with_name("new")), *options])
    assert done.exit_code == 2
    assert "--counterparts and --topology belong together" in done.output
