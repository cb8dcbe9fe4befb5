"""From a CSV file of run times to a dataset in a folder."""

import datetime
import difflib
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from numapredict.collect.data.counterparts import Counterparts
from numapredict.collect.data.dataset import DESCRIPTION_FILE, Dataset, write_dataset
from numapredict.collect.data.foreign_table import TableColumns, Tally, dataset_of_rows, read_rows
from numapredict.collect.data.journal import JOURNAL_FILE
from numapredict.collect.data.outliers import Outlier, without_outliers
from numapredict.collect.data.similar_programs import similar_programs
from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError
from numapredict.native.version import version

MACHINE_COLUMN = "machine"
GROUP_COLUMNS = ("program", "group")
COUNTERPART_COLUMNS = ("mapping", "label")


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a table does not say: the default mapping, the machine's name, a file of groups, whether outliers stay.

    ``counterparts`` names a file of the mappings' counterparts on a machine of that ``topology``; both or neither.
    """

    default: str | None = None
    machine: str | None = None
    groups: Path | None = None
    keep_outliers: bool = False
    counterparts: Path | None = None
    topology: Topology | None = None


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
        environment=(("numapredict", version()), ("table", file.name)),
    )
    try:
        dataset, tally = dataset_of_rows(read_rows(file), columns, named, about)
    except InvalidInputError as error:
        text = str(error)
        raise InvalidInputError(text if str(file) in text else f"{file}: {text}") from error
    if asked.groups is not None:
        dataset = _grouped(dataset, asked.groups)
    if asked.counterparts is not None and asked.topology is not None:
        mappings = {measurement.mapping for measurement in dataset.measurements}
        found = read_counterparts(asked.counterparts, asked.topology, mappings)
        dataset = msgspec.structs.replace(dataset, counterparts=found)
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
    for line, program, group in _pairs(path, GROUP_COLUMNS):
        if groups.setdefault(program, group) != group:
            raise InvalidInputError(
                f"{path}: line {line} puts {program!r} into {group!r}, a line before into {groups[program]!r};"
                " a program has one group"
            )
    if not groups:
        raise InvalidInputError(f"{path}: names no program; add lines such as PROGRAM,GROUP")
    return groups


def read_counterparts(path: Path, topology: Topology, mappings: Collection[AnyMapping]) -> Counterparts:
    """Return the counterparts of all ``mappings`` from a CSV file with the columns ``mapping,label``.

    Raises InvalidInputError for other columns, for a mapping without a counterpart, and for one that does not fit.
    """
    pairs = [(mapping_named(name), mapping_named(label)) for _, name, label in _pairs(path, COUNTERPART_COLUMNS)]
    missing = sorted({mapping.label for mapping in mappings} - {opaque.label for opaque, _ in pairs})
    if missing:
        raise InvalidInputError(f"{path}: names no counterpart of {', '.join(missing[:5])}; add lines MAPPING,LABEL")
    try:
        return Counterparts(topology, tuple(pair for pair in pairs if pair[0] in mappings))
    except ValueError as error:
        raise InvalidInputError(f"{path}: {error}; fix the line") from error


def _pairs(path: Path, columns: tuple[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield the line and both cells of each row of a CSV file with these two columns; neither may be empty."""
    for row in read_rows(path):
        if tuple(row.cells) != columns:
            raise InvalidInputError(
                f"{path}: the columns are {', '.join(row.cells)}; the first line must be {','.join(columns)}"
            )
        first, second = (row.cells[name].strip() for name in columns)
        if not first or not second:
            raise InvalidInputError(f"{path}: line {row.line} names no {columns[bool(first)]}; fix it")
        yield row.line, first, second
