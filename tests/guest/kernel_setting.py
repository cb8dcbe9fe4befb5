"""Runs inside a guest: a setting of its kernel, changed for a while."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HUGE_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
JOINING_PAUSE_SETTING = HUGE_SETTING.parent / "khugepaged/scan_sleep_millisecs"
BALANCING_SETTING = Path("/proc/sys/kernel/numa_balancing")
MAPPINGS_SETTING = Path("/proc/sys/vm/max_map_count")


@contextmanager
def kernel_setting(file: Path, value: str) -> Iterator[None]:
    """Write a value to a file of /proc or /sys, and afterwards what stood there: of a choice, the word in brackets."""
    before = file.read_text()
    chosen = re.search(r"\[(\w+)\]", before)
    file.write_text(value)
    try:
        yield
    finally:
        file.write_text(chosen[1] if chosen else before)
