"""Reads an HTML page as the standard has it: its tags, the texts in them, its tables and its records."""

import html.parser
import json
from typing import Any


class Document(html.parser.HTMLParser):
    """A page's tags, the texts in them, and its scripts, as the HTML standard reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []  # the caption, then the rows' cells
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "br", "rect"}:
            self.open.append(tag)
        self.texts.setdefault(tag, []).append("")
        if tag == "table":
            self.tables.append([])
        elif tag in {"caption", "tr"} and self.tables:
            self.tables[-1].append([""] if tag == "caption" else [])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data
        if {"caption", "td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data.strip()

    def table(self, caption: str) -> list[list[str]]:
        """Return the rows of the table whose caption begins so, its head first."""
        found = [rows for rows in self.tables if rows and rows[0][0].startswith(caption)]
        assert len(found) == 1, caption
        return found[0][1:]

    def records(self) -> Any:  # noqa: ANN401 # any JSON
        return json.loads(self.texts["script"][0])
