"""The file of a page plan; its contract is native/placement/policy/plan.h, and this is its only writer."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.placing.page_plan import PagePlan

FIRST_LINE = "numaplace-plan 1"


def plan_text(plan: PagePlan) -> str:
    """Return the file's text."""
    return "".join(f"{line}\n" for line in _lines(plan))


def write_plan(plan: PagePlan, path: Path) -> None:
    """Write the file; raise OSError where it cannot be written."""
    path.write_text(plan_text(plan), encoding="ascii")


def _lines(plan: PagePlan) -> Iterator[str]:
    yield FIRST_LINE
    for planned in plan.ranges:
        known = planned.range
        yield f"range {known.kind} {known.site:016x} {known.slot} {known.order} {known.pages}"
        for first, count, node in planned.runs:
            yield f"run {first} {count} {node}"
