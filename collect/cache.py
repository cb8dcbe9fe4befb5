"""Where numapredict keeps what can be made again: traces, finished folds, what the counters' self-test found."""

import os
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "NUMAPREDICT_CACHE"


def cache_folder() -> Path:
    """Return the folder of what can be made again."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("numapredict"))
