"""The folder of the locks that all users of the computer share."""

import stat
from pathlib import Path

from numapredict.collect.host.site_settings import setting

FOLDER_VARIABLE = "NUMAPREDICT_LOCKS"
# The same for all users of the computer, so never TMPDIR: FHS 3.0 sec. 3.15 and 5.9, shm_overview(7).
_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path("/dev/shm"), Path("/tmp"))  # noqa: S108 - empty files only


def lock_folder() -> Path:
    """Return NUMAPREDICT_LOCKS, or the first folder that every user may write to, so that it is the same for all."""
    own = setting(FOLDER_VARIABLE)
    return Path(own) if own else next((folder for folder in _FOLDERS if _is_everybodys(folder)), _FOLDERS[-1])


def _is_everybodys(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return False
