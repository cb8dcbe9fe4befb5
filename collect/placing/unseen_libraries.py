"""What the preload library could not see (native/placement/process/unseen_library.h), and a line on each."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.terminal.printable import name_cell


def unseen_libraries(files: PlacementFiles) -> Iterator[str]:
    """Return a line for each library that a run opened so that what it does was not seen."""
    for name in _lines(files, "unseen"):
        yield (
            f"{name_cell(name)} was opened with RTLD_DEEPBIND by code with a library path of its own (DT_RUNPATH): its"
            " parallel regions cannot be seen, nor are its threads bound; open it by a path with a slash"
        )


_UNPROFILED = {
    "blocked": (
        "a thread of its, started by a library that was opened with RTLD_DEEPBIND or by a system call of the program's"
        " own, has SIGSEGV blocked, so that no page of its may be protected"
    ),
    "forked": (
        "its parallel regions are in a process that was forked from one with several threads or with regions of its"
        " own: only the parent can be profiled; start its processes by exec (in Python, multiprocessing's method"
        " 'spawn')"
    ),
}


def unprofiled(files: PlacementFiles) -> Iterator[str]:
    """Return why processes of a run that had parallel regions were not profiled, a line for each cause."""
    for cause in _lines(files, "unprofiled"):
        if cause in _UNPROFILED:
            yield _UNPROFILED[cause]


def _lines(files: PlacementFiles, suffix: str) -> Iterator[str]:
    base = files.report or files.profile or files.map
    try:
        text = "" if base is None else Path(f"{base}.{suffix}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from dict.fromkeys(text.splitlines())
