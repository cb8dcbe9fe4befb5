"""Small tables for notebooks; whatever stands in them is escaped."""

from collections.abc import Sequence
from html import escape

from numapredict.collect.terminal.printable import printable


def notebook_table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return an HTML table with a title and a row a pair."""
    body = "".join(
        f'<tr><th style="text-align:left">{_safe(name)}</th><td style="text-align:left">{_safe(text)}</td></tr>'
        for name, text in rows
    )
    return f"<table><caption>{_safe(title)}</caption><tbody>{body}</tbody></table>"


def _safe(text: str) -> str:
    return "<br>".join(escape(printable(line)) for line in text.splitlines())
