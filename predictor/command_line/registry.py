"""The commands that installed distributions register, without importlib.metadata: that loads more than all of click.

An entry point is a line `name = module:attribute` in the file entry_points.txt of a distribution's metadata (PyPA,
"Entry points specification"). If none is found this way, as in an archive, importlib.metadata is used.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence

GROUP = "numapredict.commands"
"""Entry point group under which the folders of this package register their commands."""

_FOLDERS = (".dist-info", ".egg-info")


def registered(group: str, path: Sequence[str] | None = None) -> dict[str, str]:
    """Return the `module:attribute` of each entry point of a group, by name.

    If a distribution is installed twice, the first in ``path`` (default `sys.path`) counts.
    """
    found: dict[str, str] = {}
    seen = set()
    for distribution, folder in _distributions(sys.path if path is None else path):
        if distribution not in seen:
            seen.add(distribution)
            for name, value in _entries(folder, group):
                found.setdefault(name, value)
    if not found and path is None:
        import importlib.metadata

        found = {entry.name: entry.value for entry in importlib.metadata.entry_points(group=group)}
    return found


def load(value: str) -> object:
    """Return what an entry point names; raise ImportError or AttributeError if it does not exist."""
    import importlib

    module, _, attributes = value.partition("[")[0].partition(":")
    found: object = importlib.import_module(module.strip())
    for attribute in filter(None, attributes.strip().split(".")):
        found = getattr(found, attribute)
    return found


def _distributions(path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each distribution's normalised name and the folder of its metadata."""
    for place in path:
        with contextlib.suppress(OSError):
            for entry in sorted(os.listdir(place or ".")):
                if entry.endswith(_FOLDERS):
                    name = entry.partition("-")[0].lower().replace(".", "_")
                    yield name, os.path.join(place or ".", entry)


def _entries(folder: str, group: str) -> Iterator[tuple[str, str]]:
    within = False
    with (
        contextlib.suppress(OSError, UnicodeDecodeError),
        open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file,
    ):
        for line in map(str.strip, file):
            if line.startswith("["):
                within = line == f"[{group}]"
            elif within and "=" in line and not line.startswith(("#", ";")):
                name, _, value = line.partition("=")
                yield name.strip(), value.strip()
