"""Groups from a file: which programs are one code base, so that they are held out together.

The file is a CSV table whose first line is ``program,group``; each further line has a program's name, as the dataset
has it, and its group's. A program that is not named is a group of its own.
"""

from pathlib import Path

from numapredict.collect.data.foreign_table import read_rows
from numapredict.native.errors import InvalidInputError

COLUMNS = ("program", "group")


def read_groups(path: Path) -> dict[str, str]:
    """Return the group of every program that the file names; InvalidInputError for anything else than such a file."""
    groups: dict[str, str] = {}
    for row in read_rows(path):
        if tuple(row.cells) != COLUMNS:
            raise InvalidInputError(
                f"{path}: the columns are {', '.join(row.cells)}; the first line must be {','.join(COLUMNS)}"
            )
        program, group = (row.cells[name].strip() for name in COLUMNS)
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
