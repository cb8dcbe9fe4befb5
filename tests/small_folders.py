"""A folder without room, for one command: a file system of its own that nobody else sees."""

import functools
import os
import subprocess
from pathlib import Path
from typing import Literal

import pytest

How = Literal["read-only", "full", "small"]

_SMALL_BYTES = 3 << 20
"""Room for a file of region times and the probe, but not for most traces."""

# The mount is in a namespace of its own, and goes with the command.
_SCRIPT = """
case $1 in
small) mount -t tmpfs -o size="$3" numapredict "$2" ;;
full) mount -t tmpfs -o size=64k numapredict "$2" && { head -c 1000000 /dev/zero > "$2/fill" || true; } ;;
read-only) mount -t tmpfs numapredict "$2" && mount -o remount,ro "$2" ;;
esac 2> /dev/null || exit 99
shift 3
exec "$@"
"""


def inside(folder: Path, how: How, *command: str) -> list[str]:
    """Return what runs a command that sees the folder full, read-only, or with room for three megabytes."""
    folder.mkdir(exist_ok=True)
    return [*namespace(), "sh", "-c", _SCRIPT, "sh", how, str(folder), str(_SMALL_BYTES), *command]


@functools.cache
def namespace() -> tuple[str, ...]:
    words = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    tried = [*words, "mount", "-t", "tmpfs", "numapredict", "/mnt"]
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    return words
