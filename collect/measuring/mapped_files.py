"""The files that measured programs map: each run finds their pages where no run under another mapping has left them."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from numapredict.collect.host.cached_file import Nodes, nodes_of, put_back
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.allowance import family
from numapredict.collect.program import Program
from numapredict.collect.terminal.printable import printable

PROVENANCE = "mapped_files"
"""The name of a measurement's note with the files that its program maps, a line each."""

_LEAST_BYTES = 1 << 20
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/etc/", "/dev/", "/proc/", "/sys/")
_COLUMNS = 6  # of /proc/self/maps: addresses, rights, offset, device, inode, path (proc_pid_maps(5))

_State = dict[Path, Nodes]


class MappedFiles:
    """Where the pages of the files that programs map were after the last run under each mapping.

    The first run under a mapping begins with those of the first run of all, a later one with those of the one before
    under the same mapping. Programs are watched in their first runs alone.
    """

    def __init__(self) -> None:
        self._left: dict[str, dict[AnyMapping, _State]] = {}

    def expect(self, program: Program, mapping: AnyMapping, paths: Iterable[str]) -> None:
        """Take the files that an earlier command saw a program map, and their pages as they are, as left by a run."""
        self._left.setdefault(program.identity, {mapping: _state(map(Path, paths))})

    @contextlib.contextmanager
    def kept_apart(self, program: Program, mapping: AnyMapping, own: Path) -> Iterator[Callable[[], None]]:
        """Put the pages of a program's files back for a run inside; yield what is to be called while it runs.

        Files in the folder ``own`` are none of the program's.
        """
        left = self._left.get(program.identity)
        if left is not None:
            for path, nodes in left.get(mapping, next(iter(left.values()))).items():
                put_back(path, nodes)
        seen: dict[Path, None] = {} if left is None else dict.fromkeys(next(iter(left.values())))
        calls = 0

        def look() -> None:
            nonlocal calls
            calls += 1
            if left is None and calls & (calls - 1) == 0:  # a program with many mappings takes long to look at
                seen.update(dict.fromkeys(path for path in _mapped() if own not in path.parents))

        yield look
        self._left.setdefault(program.identity, {})[mapping] = _state(seen)

    def note(self, program: Program) -> tuple[tuple[str, str], ...]:
        """Return the note of a program's measurements, none where it maps no file."""
        left = self._left.get(program.identity, {})
        paths = sorted({str(path) for state in left.values() for path in state})
        return ((PROVENANCE, "\n".join(paths)),) if paths else ()


def files_of(measurement: Measurement) -> tuple[str, ...]:
    """Return the paths of the files that a measurement's program maps, as far as they were kept apart."""
    return tuple(dict(measurement.provenance).get(PROVENANCE, "").splitlines())


def files_in_words(measured: Iterable[Measurement]) -> Iterator[str]:
    """Yield a sentence on what was done with the files that the program maps, none where it maps none."""
    paths = dict.fromkeys(path for one in measured for path in files_of(one))
    if paths:
        names = ", ".join(printable(Path(path).name) for path in paths)
        yield (
            f"the program maps {names}: a file's pages stay in memory where a run leaves them; so before each run they "
            "were moved back to where the one before under the same mapping had left them, or, where there was none, "
            "the first run of all; the first run under a mapping includes the time that moving them takes"
        )


def _state(paths: Iterable[Path]) -> _State:
    found = ((path, nodes_of(path)) for path in paths)
    return {path: nodes for path, nodes in found if nodes is not None}


def _mapped() -> Iterator[Path]:
    """Yield the files, not code, of which a descendant of this process maps a large part."""
    for process in family(os.getpid()):
        if process == os.getpid():
            continue
        sizes: dict[str, int] = {}
        code: set[str] = set()
        try:
            lines = Path(f"/proc/{process}/maps").read_text(errors="surrogateescape").splitlines()
        except OSError:
            continue
        for line in lines:
            words = line.split(maxsplit=_COLUMNS - 1)
            if len(words) < _COLUMNS or not words[-1].startswith("/") or words[-1].startswith(_SYSTEM):
                continue
            start, end = (int(word, 16) for word in words[0].split("-"))
            sizes[words[-1]] = sizes.get(words[-1], 0) + end - start
            if "x" in words[1]:
                code.add(words[-1])
        yield from (Path(path) for path, size in sizes.items() if size >= _LEAST_BYTES and path not in code)
