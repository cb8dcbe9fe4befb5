"""Settings of a site or a user in a file: /etc/numapredict.toml, and the user's, which comes first.

Each names what an environment variable names, which comes before both. TOML is read as data alone. What is wrong in a
file is a warning: it must not stop every user's runs.
"""

import functools
import logging
import os
from pathlib import Path

from numapredict.collect.host.bounded_file import read_bounded

SITE_FILE = Path("/etc/numapredict.toml")
NAMES = {
    "NUMAPREDICT_CACHE": "cache",
    "NUMAPREDICT_CACHE_MB": "cache_MB",
    "NUMAPREDICT_DATA": "data",
    "NUMAPREDICT_LOCKS": "locks",
}
"""By environment variable, its name in a file: all but ``cache_MB``, a whole number, are folders."""

_MOST_BYTES = 1 << 20

log = logging.getLogger(__name__)


def user_file() -> Path | None:
    """Return the user's file: numapredict.toml in $XDG_CONFIG_HOME, ~/.config by default; None without a home."""
    home = os.environ.get("HOME")
    folder = os.environ.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    return Path(folder, "numapredict.toml") if folder else None


def setting(variable: str) -> str | None:
    """Return what an environment variable or else a file says; None where neither does, or it is empty."""
    given = os.environ.get(variable)
    if given:
        return given
    for file in filter(None, (user_file(), SITE_FILE)):
        found = _read(file).get(NAMES[variable])
        if found:
            return found
    return None


@functools.cache
def _read(file: Path) -> dict[str, str]:
    try:
        data = read_bounded(file, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}  # as nearly always, without the time that loading tomllib takes
    except OSError as error:
        return _warned(file, f"cannot be read: {error.strerror or error}")
    import tomllib

    try:
        given = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return _warned(file, f"cannot be read: {error}")
    found = {}
    for name, value in given.items():
        if name not in NAMES.values():
            _warned(file, f"names {name!r}: settings are {', '.join(sorted(NAMES.values()))}")
        elif name == "cache_MB":
            if isinstance(value, int) and not isinstance(value, bool):
                found[name] = str(value)
            else:
                _warned(file, f"{name} is no whole number")
        elif isinstance(value, str) and os.path.isabs(os.path.expanduser(value)):
            found[name] = os.path.expanduser(value)
        else:
            _warned(file, f"{name} is no folder's whole path")
    return found


def _warned(file: Path, what: str) -> dict[str, str]:
    log.warning(f"{file} {what}: going on without it")
    return {}
