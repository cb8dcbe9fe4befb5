"""Small files that the kernel writes, in /proc and /sys: their text, or nothing where there are none."""

from pathlib import Path


def kernel_text(path: Path) -> str:
    """Return a file's text, empty where there is none or it may not be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def kernel_line(path: Path) -> str:
    """Return a file's text without the blanks around it."""
    return kernel_text(path).strip()
