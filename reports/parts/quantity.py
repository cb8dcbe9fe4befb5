"""Quantities as a page writes them; the page's script writes times and factors the same way."""

NO_BREAK = "\u00a0"
"""Between a number and its unit: no line break."""


def seconds(time_s: float) -> str:
    """Return a time with three digits in s, ms or us."""
    for unit, per_s in (("s", 1.0), ("ms", 1e3)):
        if time_s * per_s >= 1:
            return f"{three_digits(time_s * per_s)}{NO_BREAK}{unit}"
    return f"{three_digits(time_s * 1e6)}{NO_BREAK}us"


def rate(bandwidth_GBps: float) -> str:
    """Return a bandwidth with three digits: `12.5 GB/s`."""
    return f"{three_digits(bandwidth_GBps)}{NO_BREAK}GB/s"


def factor(value: float) -> str:
    """Return a factor: `1.25x`."""
    return f"{value:.2f}x"


def size(size_bytes: float) -> str:
    """Return a size of memory or of a cache in a suitable binary unit."""
    for unit, bytes_each in (("GiB", 2**30), ("MiB", 2**20)):
        if size_bytes >= bytes_each:
            return f"{size_bytes / bytes_each:.4g}{NO_BREAK}{unit}"
    return f"{size_bytes / 2**10:.4g}{NO_BREAK}KiB"


def rounded(value: float) -> float:
    """Return a number rounded to four digits: the page's colours and tables show no more."""
    return float(f"{value:.4g}")


def three_digits(value: float) -> str:
    """Return a number with three digits, or all those before the point."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
