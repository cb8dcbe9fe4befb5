"""Where numapredict keeps what can be made again: traces, finished folds, what the counters' self-test found."""

import os
from pathlib import Path

import platformdirs

from numapredict.collect.host.durable import reason_and_advice, replace_file
from numapredict.native.errors import UnwritableError

FOLDER_VARIABLE = "NUMAPREDICT_CACHE"


_PROBE = ".room"
_ROOM_BYTES = 1 << 20


def cache_folder() -> Path:
    """Return the folder of what can be made again."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("numapredict"))


def require_room(folder: Path, what: str) -> None:
    """Make a folder of the cache; raise UnwritableError where it cannot be made or has no room for a megabyte.

    To be asked before what takes long is begun, and could then not be kept. ``what`` is kept there, in words.
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
