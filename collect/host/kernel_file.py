"""Small kernel files in /proc and /sys: their text, empty where a file is missing."""

from pathlib import Path

from numapredict.collect.index_list import parse_index_list


def kernel_text(path: Path) -> str:
    """Return a file's text, empty where it is missing or may not be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def kernel_line(path: Path) -> str:
    """Return a file's text, as ``kernel_text``, without white space at its ends."""
    return kernel_text(path).strip()


def kernel_numbers(path: Path) -> frozenset[int]:
    """Return the numbers in a file's list (``0-3,8``), none where it is missing or holds something else."""
    try:
        return parse_index_list(kernel_text(path))
    except ValueError:
        return frozenset()
