"""The fidelity table: published figures against the model's, as Markdown."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from numapredict.collect.fidelity.claim import Claim, Comparison
from numapredict.collect.host.durable import refused_as, replace_file

_HEAD = (
    "| figure | unit | published | modelled | deviation | asked | met |\n| --- | --- | ---: | ---: | ---: | --- | --- |"
)


_KEPT = ("## Measured seconds: ", "## Timed guest ")
"""How sections begin that another command adds to the file (tests/benchmarks); they stand last."""


def write_table(table: str, path: Path) -> None:
    """Write a table in one step; sections that another command added stay behind it. Raises UnwritableError."""
    with refused_as(f"cannot write the table {path}"):
        _, kept = _parts(path.read_text() if path.is_file() else "")
        replace_file(path, "\n".join([table, *kept]).encode())


def with_section(page: str, made: str) -> str:
    """Return the file's text with such a section, in the place of the one of the same heading, or among the last."""
    table, kept = _parts(page)
    title = made.partition("\n")[0]
    others = [section for section in kept if section.partition("\n")[0] != title]
    return "\n".join([table, *sorted([*others, made])])


def _parts(page: str) -> tuple[str, list[str]]:
    """Return the table of a page, and the sections that another command added, each with one line's end."""
    parts = [part.rstrip("\n") + "\n" for part in re.split(r"^(?=## )", page, flags=re.MULTILINE)]
    return "\n".join(part for part in parts if not part.startswith(_KEPT)), [p for p in parts if p.startswith(_KEPT)]


def fidelity_table(comparisons: Sequence[Comparison], command: str) -> str:
    """Return the comparisons as a Markdown page, with the command that made it."""
    claims = [claim for comparison in comparisons for claim in comparison.claims]
    predicted, given = ([claim for claim in claims if claim.given is known] for known in (False, True))
    back = f"; besides, {_met(given)} of {len(given)} that a machine is described by come back" if given else ""
    parts = [
        "# Fidelity of the modelled machines",
        f"Published and modelled figures: {_met(predicted)} of {len(predicted)} that the model predicts are as "
        f"asked{back}. Made by `{command}`.",
        *(_section(comparison) for comparison in comparisons),
    ]
    return "\n\n".join(parts) + "\n"


def _met(claims: Sequence[Claim]) -> int:
    return sum(claim.met for claim in claims)


def _section(comparison: Comparison) -> str:
    lines = [f"## {_cell(comparison.source)}: {_cell(comparison.machine)}"]
    if comparison.used:
        lines.append(f"Given: {comparison.used}. Predicted: {comparison.predicted}.")
    lines.append("\n".join([_HEAD, *(_row(claim) for claim in comparison.claims)]))
    lines += _reasons(comparison.claims)
    return "\n\n".join(lines)


def _row(claim: Claim) -> str:
    published = "" if claim.published is None else f"{claim.published:.4g}"
    deviation = "" if claim.deviation is None else f"{claim.deviation:+.0%}"
    cells = (claim.quantity, claim.unit, published, f"{claim.modelled:.4g}", deviation, claim.asked)
    met = ("yes (given)" if claim.given else "yes") if claim.met else "**no**"
    return f"| {' | '.join(map(_cell, cells))} | {met} |"


def _reasons(claims: Sequence[Claim]) -> Iterator[str]:
    for reason in dict.fromkeys(claim.reason for claim in claims if claim.reason):
        yield f"Not met: {reason}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
