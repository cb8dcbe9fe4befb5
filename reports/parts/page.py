"""One self-contained HTML page on a dataset, a model or an answer.

The page is one file: its content security policy allows only the script and the style sheet inside it, by their
digests, and no requests. Texts from files, such as program names, are escaped by the templates, or reach the script as
JSON and the document as text; in both, control characters and marks that change the direction of writing are shown as
escapes.
"""

import base64
import hashlib
import importlib.resources
import unicodedata
from pathlib import Path

import jinja2
import msgspec
from markupsafe import Markup

from numapredict.collect.host.durable import write_whole
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.printable import counted, percent, printable_lines, shortened
from numapredict.native.errors import UsageError
from numapredict.native.version import version
from numapredict.reports.palette import ink_on
from numapredict.reports.parts import quantity
from numapredict.reports.parts.contents import PageData

SUFFIXES = (".html", ".htm")
SCRIPTS = ("drawing.js", "tree.js", "bars.js", "heatmap.js", "cuts.js", "tables.js", "start.js")
STYLES = ("page.css", "figures.css")

WHOLE_LETTERS = 300
"""Most letters of a name that may take several lines."""

LEVELS = 33
LIGHT = ("053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d", "b2182b", "67001f")
"""ColorBrewer's RdBu (Brewer 2003), from fast to slow: colour-blind people can distinguish blue and red."""

DARK = ("c4e4ff", "86c2f5", "4d9ad6", "2d6ca0", "254a66", "303034", "63302b", "a3423a", "dc6055", "ff958a", "ffcfc8")
"""The same for a dark page: the middle is dark and both ends are light."""


def write_page(page: PageData, path: Path) -> int:
    """Write a page in one step and return its size in bytes; raises UnwritableError."""
    check_name(path)
    data = render(page).encode()
    write_whole(path, data, f"cannot write the page {path}")
    return len(data)


def check_name(path: Path) -> None:
    """Raise UsageError for a name without a suffix of HTML."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: a page is written as .html; end the name with that")


def render(page: PageData) -> str:
    """Return the page as HTML; equal records give equal pages."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        seconds=quantity.seconds,
        factor=quantity.factor,
        percent=percent,
        count=counted,
        rate=quantity.rate,
        digits=quantity.three_digits,
        short=shortened,
        sentence=lambda text: text[:1].upper() + text[1:],
    )
    environment.globals["whole_letters"] = WHOLE_LETTERS
    script, style = _script(), _style()
    return environment.get_template("page.html").render(
        page=page,
        made=page.made or ("modelled" if page.modelled else "measured"),
        policy=(
            f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; "
            "form-action 'none'; require-trusted-types-for 'script'"
        ),
        # Both are our own files, without any input data.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
        records=_embedded(page.drawn),
        version=version(),
    )


def _seen(value: object) -> object:
    """Return a text, or a mapping's label, with invisible characters except blanks as escapes; our markup unchanged."""
    if isinstance(value, AnyMapping):
        value = value.label
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(letter if unicodedata.category(letter) == "Zs" else printable_lines(letter) for letter in value)


def _all_seen(record: object) -> object:
    """Return a record as builtins, with ``_seen`` applied to each text in it."""
    if isinstance(record, dict):
        return {_seen(key): _all_seen(value) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [_all_seen(each) for each in record]
    return _seen(record)


def _template(name: str) -> str:
    return (importlib.resources.files("numapredict.reports") / "templates" / name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the page's script: its files concatenated, in one scope."""
    return "(() => {\n" + '"use strict";\n' + "\n".join(map(_template, SCRIPTS)) + "})();\n"


def _style() -> str:
    """Return the style sheet with the heatmap's colours, for light pages and paper and for dark pages."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{_colours(DARK)}}}\n"
    return "\n".join(map(_template, STYLES)) + _colours(LIGHT) + dark


def _colours(stops: tuple[str, ...]) -> str:
    """Return CSS rules per level: its colour, interpolated between the stops, and the ink of text on it."""
    lines = []
    for level in range(LEVELS):
        at = level / (LEVELS - 1) * (len(stops) - 1)
        low = min(int(at), len(stops) - 2)
        a, b = (tuple(bytes.fromhex(stops[stop])) for stop in (low, low + 1))
        mixed = (round(x + (y - x) * (at - low)) for x, y in zip(a, b, strict=True))
        colour = f"#{bytes(mixed).hex()}"
        lines.append(f".q{level} {{ fill: {colour}; }}\n.on-q{level} {{ fill: {ink_on(colour)}; }}\n")
    return "".join(lines)


def _digest(text: str) -> str:
    """Return the source expression that allows exactly this text (CSP level 3, sec. 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(records: dict[str, msgspec.Struct]) -> Markup:
    """Return records as JSON in which no tag, comment or entity can start (HTML standard, sec. 4.12.1.3)."""
    text = msgspec.json.encode(_all_seen(msgspec.to_builtins(records))).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704
