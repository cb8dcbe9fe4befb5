"""Lists of indices as the kernel and numactl write them: ``0-3,8``."""

import re
from collections.abc import Iterable


def index_list(numbers: Iterable[int]) -> str:
    """Return numbers, sorted, as numactl writes them: ``0-3,8``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def parse_index_list(text: str) -> frozenset[int]:
    """Return the numbers in a list as the kernel writes it ("0-3,8"); raise ValueError for another text."""
    numbers: set[int] = set()
    for part in text.strip().split(",") if text.strip() else ():
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part.strip())
        if match is None:
            raise ValueError(f"{text[:40]!r} is not a list of numbers such as 0-3,8")
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(numbers)
