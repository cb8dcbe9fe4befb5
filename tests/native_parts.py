"""Native parts for tests that are skipped where these were not built."""

from collections.abc import Callable
from pathlib import Path

from numapredict.native.errors import MissingNativePartError


def path_or_nothing(find: Callable[[], Path]) -> str:
    """Return the path of a part of ``numapredict.native.library``, "" where it was not built."""
    try:
        return str(find())
    except MissingNativePartError:
        return ""
