"""From a CSV file of run times to a dataset in a folder."""

import datetime
import difflib
from pathlib import Path

import msgspec

import numapredict
from numapredict.collect.data.dataset import DESCRIPTION_FILE, Dataset, write_dataset
from numapredict.collect.data.foreign_table import TableColumns, Tally, dataset_of_rows, read_rows
from numapredict.collect.data.journal import JOURNAL_FILE
from numapredict.collect.data.outliers import Outlier, without_outliers
from numapredict.collect.data.similar_programs import similar_programs
from numapredict.collect.mapping import mapping_named
from numapredict.native.errors import InvalidInputError

MACHINE_COLUMN = "machine"
GROUP_COLUMNS = ("program", "group")


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a table does not say: the default mapping, the machine's name, a file of groups, whether outliers stay."""

    default: str | None = None
    machine: str | None = None
    groups: Path | None = None
    keep_outliers: bool = False


def import_table(file: Path, into: Path, columns: TableColumns, asked: About) -> Tally:
    """Write the dataset of a file's rows into a folder, and return how the rows were used.

    Without a given machine name, the machine column picked by ``where`` names it, else the file does. Raises
    InvalidInputError, also where the folder already holds measurements, and UnwritableError.
    """
    if any((into / name).exists() for name in (DESCRIPTION_FILE, JOURNAL_FILE)):
        raise InvalidInputError(f"{into}: holds a dataset already, which would be lost; name another folder")
    named = asked.machine or dict(columns.where).get(MACHINE_COLUMN) or file.stem
    about = Dataset(
        machine=named,
        modelled=False,
        topology=None,
        made_by="numapredict collect import",
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        default=None if asked.default is None else mapping_named(asked.default),
        environment=(("numapredict", numapredict.__version__), ("table", file.name)),
    )
    try:
        dataset, tally = dataset_of_rows(read_rows(file), columns, named, about)
    except InvalidInputError as error:
        text = str(error)
        raise InvalidInputError(text if str(file) in text else f"{file}: {text}") from error
    if asked.groups is not None:
        dataset = _grouped(dataset, asked.groups)
    outliers: tuple[Outlier, ...] = ()
    if not asked.keep_outliers:
        dataset, outliers = without_outliers(dataset)
    write_dataset(dataset, into)
    return msgspec.structs.replace(
        tally, holes=tally.holes + len(outliers), outliers=outliers, similar=similar_programs(dataset)
    )


def _grouped(dataset: Dataset, file: Path) -> Dataset:
    """Return the dataset with the groups of a file; a program that it does not name is a group of its own."""
    groups = read_groups(file)
    names = [program.name for program in dataset.programs]
    for name in groups:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3) or names[:3]
            raise InvalidInputError(
                f"{file}: {name!r} is no program of the table; there are {', '.join(map(repr, near))} and so on"
            )
    for group in groups.values():  # or the two would be held out together without being named so
        if group in names and groups.get(group) != group:
            raise InvalidInputError(f"{file}: group {group!r} has the name of a program that is not in it; rename it")
    programs = tuple(msgspec.structs.replace(p, group=groups.get(p.name, p.name)) for p in dataset.programs)
    return msgspec.structs.replace(dataset, programs=programs)


def read_groups(path: Path) -> dict[str, str]:
    """Return the group of every program that a file names: programs of one code base are held out together.

    The file is a CSV table whose first line is ``program,group``; each further line has a program's name, as the
    dataset has it, and its group's. Raises InvalidInputError for anything else.
    """
    groups: dict[str, str] = {}
    for row in read_rows(path):
        if tuple(row.cells) != GROUP_COLUMNS:
            raise InvalidInputError(
                f"{path}: the columns are {', '.join(row.cells)}; the first line must be {','.join(GROUP_COLUMNS)}"
            )
        program, group = (row.cells[name].strip() for name in GROUP_COLUMNS)
        if not program or not group:
            raise InvalidInputError(f"{path}: line {row.line} names no {'group' if program else 'program'}; fix it")
        if groups.setdefault(program, group) != group:
            raise InvalidInputError(
                f"{path}: line {row.line} puts {program!r} into {group!r}, a line before into {groups[program]!r};"
                " a program has one group"
            )
    if not groups:
        raise InvalidInputError(f"{path}: names no program; add lines such as PROGRAM,GROUP")
    return groups
