"""From a CSV file of somebody's run times to a dataset in a folder."""

import datetime
from pathlib import Path

from numapredict.collect.dataset import DESCRIPTION_FILE, Dataset, write_dataset
from numapredict.collect.environment import package_version
from numapredict.collect.foreign_table import InvalidTableError, TableColumns, Tally, dataset_of_rows, read_rows
from numapredict.collect.journal import JOURNAL_FILE

MACHINE_COLUMN = "machine"


def import_table(file: Path, into: Path, columns: TableColumns, default: str | None, machine: str | None) -> Tally:
    """Write the dataset that a file's rows make into a folder, and return what became of the rows.

    The machine's name, where none is given, is what a column of that name was asked to be, or the file's. Raises
    InvalidTableError, also where the folder holds measurements already, and UnwritableDatasetError.
    """
    if any((into / name).exists() for name in (DESCRIPTION_FILE, JOURNAL_FILE)):
        raise InvalidTableError(f"{into}: holds a dataset already, which would be lost; name another folder")
    named = machine or dict(columns.where).get(MACHINE_COLUMN) or file.stem
    about = Dataset(
        machine=named,
        modelled=False,
        topology=None,
        made_by="numapredict collect import",
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        default=default,
        environment=(("numapredict", package_version()), ("table", file.name)),
    )
    try:
        dataset, tally = dataset_of_rows(read_rows(file), columns, named, about)
    except InvalidTableError as error:
        text = str(error)
        raise InvalidTableError(text if str(file) in text else f"{file}: {text}") from error
    write_dataset(dataset, into)
    return tally
