"""The cache folder, for what can be computed again: traces, finished folds, results of the counters' self-test."""

import os
from pathlib import Path

import platformdirs

from numapredict.collect.host.durable import reason_and_advice, replace_file
from numapredict.native.errors import UnwritableError

FOLDER_VARIABLE = "NUMAPREDICT_CACHE"


_PROBE = ".room"
_ROOM_BYTES = 1 << 20


def cache_folder() -> Path:
    """Return the cache folder: NUMAPREDICT_CACHE, or the user's default."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("numapredict"))


def require_room(folder: Path, what: str) -> None:
    """Make a folder of the cache; raise UnwritableError where it cannot be made or has no room for a megabyte.

    To be called before long work whose result could otherwise not be kept. ``what`` names that result in messages.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / _PROBE, bytes(_ROOM_BYTES))
        (folder / _PROBE).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, what, error) from error


def unwritable(folder: Path, what: str, error: OSError) -> UnwritableError:
    """Return the error that says why a folder of the cache cannot be written, and what to do about it."""
    return UnwritableError(
        f"cannot write the {what} {folder}: {reason_and_advice(error)} ({FOLDER_VARIABLE}=FOLDER names another)"
    )
