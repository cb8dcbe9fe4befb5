"""Settings of a site or a user in a file: /etc/numapredict.toml, and the user's, which comes first.

Each names what an environment variable names, which comes before both. TOML is read as data alone.
"""

import os
from pathlib import Path

from numapredict.native.errors import InvalidInputError

SITE_FILE = Path("/etc/numapredict.toml")
NAMES = {
    "NUMAPREDICT_CACHE": "cache",
    "NUMAPREDICT_CACHE_MB": "cache_MB",
    "NUMAPREDICT_DATA": "data",
    "NUMAPREDICT_LOCKS": "locks",
}
"""By environment variable, its name in a file."""

_MOST_BYTES = 1 << 16


def user_file() -> Path:
    """Return the user's file: numapredict.toml in $XDG_CONFIG_HOME, ~/.config by default."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "numapredict.toml"


def setting(variable: str) -> str | None:
    """Return what an environment variable or else a file says; None where neither does, or it is empty.

    Raises InvalidInputError, with the file and what is wrong in it.
    """
    given = os.environ.get(variable)
    if given:
        return given
    for file in (user_file(), SITE_FILE):
        found = _read(file).get(NAMES[variable])
        if found:
            return found
    return None


def _read(file: Path) -> dict[str, str]:
    try:
        data = file.read_bytes()[:_MOST_BYTES]
    except (FileNotFoundError, NotADirectoryError):
        return {}  # as nearly always, without the time that loading tomllib takes
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}; mend it, or move it away") from None
    import tomllib

    try:
        given = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}; mend it, or move it away") from None
    known = sorted(NAMES.values())
    for name, value in given.items():
        if name not in known:
            raise InvalidInputError(f"{file} names {name!r}: settings are {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InvalidInputError(f"{file}: {name} is neither a text nor a whole number")
    return {name: str(value) for name, value in given.items()}
