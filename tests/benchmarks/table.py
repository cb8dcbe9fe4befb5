"""Tables of text, in Markdown."""

import re
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first and those of labels stand right."""
    lines = [head, ["---"] + ["---:" if _numeric(rows, n) else "---" for n in range(1, len(head))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(not row[column] or re.match(r"[-+]?[0-9.]+%?( |$)", row[column]) for row in rows)
