"""The cache folder, for what can be computed again: traces, finished folds, results of the counters' self-test."""

import atexit
import contextlib
import functools
import logging
from pathlib import Path

import platformdirs

from numapredict.collect.host.durable import reason_and_advice, replace_file
from numapredict.collect.host.site_settings import setting
from numapredict.collect.host.work_folder import work_folder
from numapredict.native.errors import UnwritableError

FOLDER_VARIABLE = "NUMAPREDICT_CACHE"


_PROBE = ".room"
_ROOM_BYTES = 1 << 20

log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return the cache folder: NUMAPREDICT_CACHE, what settings name, or the user's default."""
    return Path(setting(FOLDER_VARIABLE) or platformdirs.user_cache_dir("numapredict"))


def has_room(folder: Path, what: str) -> bool:
    """Make a folder of the cache; where it cannot be made or has no room for a megabyte, a line says so.

    To be called before long work whose result could then not be kept. ``what`` names that result in messages.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / _PROBE, bytes(_ROOM_BYTES))
        (folder / _PROBE).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        log.warning(
            f"cannot write the {what} {folder}: {reason}: going on without it ({FOLDER_VARIABLE}=FOLDER names another)"
        )
        return False
    return True


@functools.cache
def stand_in() -> Path:
    """Return a folder that serves this process where the cache has no room; raise UnwritableError."""
    stack = contextlib.ExitStack()
    folder = stack.enter_context(work_folder())
    atexit.register(stack.close)
    return folder


def unwritable(folder: Path, what: str, error: OSError) -> UnwritableError:
    """Return the error that says why a folder of the cache cannot be written, and what to do about it."""
    return UnwritableError(
        f"cannot write the {what} {folder}: {reason_and_advice(error)} ({FOLDER_VARIABLE}=FOLDER names another)"
    )
