"""Libraries whose parallel regions cannot be seen (native/placement/process/unseen_library.h), and the line on each."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.terminal.printable import name_cell


def unseen_libraries(files: PlacementFiles) -> Iterator[str]:
    """Return a line for each library that a run opened so that what it does was not seen."""
    base = files.report or files.profile or files.map
    try:
        text = "" if base is None else Path(f"{base}.unseen").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for name in dict.fromkeys(text.splitlines()):
        yield (
            f"{name_cell(name)} was opened with RTLD_DEEPBIND by code with a library path of its own (DT_RUNPATH): its"
            " parallel regions cannot be seen, nor are its threads bound; open it by a path with a slash"
        )
