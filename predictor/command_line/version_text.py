"""What `numapredict --version` says: enough to tell two installations apart."""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path

from numapredict.native.build_record import BuildRecord, build_record
from numapredict.native.errors import MissingNativePartError
from numapredict.native.library import PARTS
from numapredict.native.version import version


def version_text(record: BuildRecord | None = None, parts: Mapping[str, Callable[[], Path]] = PARTS) -> str:
    """Return the version, and a line each on the commit, the native parts found or missing, and Python."""
    built_from = build_record() if record is None else record
    there = [name for name, path in parts.items() if _is_there(path)]
    missing = [name for name in parts if name not in there]
    native = ", ".join(there) or "none"
    return "\n".join(
        (
            f"numapredict {version()}",
            f"built from  commit {built_from.commit}, by {built_from.compiler}",
            f"native      {native}" + (f"; not built: {', '.join(missing)}" if missing else ""),
            f"Python      {platform.python_version()}, {platform.system()} {platform.machine()}",
        )
    )


def _is_there(path: Callable[[], Path]) -> bool:
    try:
        path()
    except MissingNativePartError:
        return False
    return True
