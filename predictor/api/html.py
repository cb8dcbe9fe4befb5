"""A table of two columns for a notebook: titles and texts, escaped."""

import html
from collections.abc import Iterable

from numapredict.collect.terminal.printable import printable, printable_lines


def table(caption: str, rows: Iterable[tuple[str, str]], command: tuple[str, str] | None = None) -> str:
    """Return the table; ``command`` is a last row whose text is to be copied."""
    cells = [f"<tr>{_title(title)}<td>{_escaped(text)}</td></tr>" for title, text in rows]
    if command is not None:
        title, text = command
        cells.append(f"<tr>{_title(title)}<td><code>{html.escape(printable_lines(text))}</code></td></tr>")
    head = f"<caption>{_escaped(caption)}</caption>"
    return f'<table class="numapredict">{head}<tbody>{"".join(cells)}</tbody></table>'


def _title(text: str) -> str:
    return f'<th scope="row" style="text-align: left">{_escaped(text)}</th>'


def _escaped(text: str) -> str:
    return html.escape(printable(text))
