"""The line table of a compile unit: which file and line an address comes from."""

import os
from typing import Any

import numpy as np

Position = tuple[str | None, int | None, int | None]
"""A file, a line in it and a column in that."""

MOST_ROWS = 1 << 23


class LineTable:
    """The lines of one compile unit by address (DWARF 5 sec. 6.2)."""

    def __init__(self, unit: Any) -> None:  # noqa: ANN401 - pyelftools before 0.32 ships no types
        self._program = unit.dwarfinfo.line_program_for_CU(unit)
        top = unit.get_top_DIE().attributes
        self._folder = _text(top["DW_AT_comp_dir"].value) if "DW_AT_comp_dir" in top else ""
        rows: list[tuple[int, int, int, int, int]] = []
        for entry in self._program.get_entries() if self._program is not None else ():
            state = entry.state
            if state is not None and len(rows) < MOST_ROWS:
                # Of several rows for an address the last counts; a sequence's end before the next one's start.
                rows.append((state.address, 0 if state.end_sequence else 1, state.file, state.line, state.column))
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        self._rows = table[np.lexsort((np.arange(len(table)), table[:, 1], table[:, 0]))]

    def at(self, address: int) -> Position:
        """Return the position of an address, None for what is not known of it."""
        number = int(np.searchsorted(self._rows[:, 0], address, side="right")) - 1
        if number < 0:
            return None, None, None
        _, begins, file, line, column = (int(value) for value in self._rows[number])
        if not begins or line == 0:
            return None, None, None
        return self.file(file), line, column or None

    def file(self, number: int) -> str | None:
        """Return the path of a file by its number in the table, None for one that is not there."""
        if self._program is None:
            return None
        header = self._program.header
        newer = header["version"] >= 5  # files and folders are counted from 0, the first is the unit's own
        files, folders = header["file_entry"], header["include_directory"]
        at = number if newer else number - 1
        if not 0 <= at < len(files):
            return None
        entry = files[at]
        folder = entry["dir_index"] if newer else entry["dir_index"] - 1
        name = _text(entry["name"])
        place = _text(folders[folder]) if 0 <= folder < len(folders) else ""
        return os.path.normpath(os.path.join(self._folder, place, name))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
