"""The answer "unknown": too little of a program was seen to advise anything; says what to try."""

import textwrap
from typing import Literal

import msgspec

from numapredict.collect.terminal.printable import name_cell, printable
from numapredict.native.errors import InsufficientDataError

_WIDTH, _COLUMN = 100, " " * 20


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The answer if nothing can be recommended, as `--json` prints it: ``answer`` distinguishes it from advice.

    ``reason`` says why, ``to_try`` what may help. ``trace_share`` is the part of the program's region time that was
    seen, for modelled runs.
    """

    answer: Literal["unknown"] = "unknown"
    program: str
    machine: str
    modelled: bool
    reason: str
    to_try: tuple[str, ...]
    trace_share: float | None
    warnings: tuple[str, ...] = ()


def unknown_in_words(found: Unknown) -> str:
    """Return the answer for a person to read."""
    modelled = " (modelled)" if found.modelled else ""
    lines = [f"{printable(found.program)} on {name_cell(found.machine)}{modelled}", ""]
    lines += [_under("answer", f"unknown: {found.reason}"), "", _under("to try", f"- {found.to_try[0]}")]
    lines += [_under("", f"- {text}") for text in found.to_try[1:]]
    if found.warnings:
        lines += ["", _under("warnings", f"- {found.warnings[0]}")]
        lines += [_under("", f"- {text}") for text in found.warnings[1:]]
    return "\n".join(lines)


def refuse_command(found: Unknown) -> InsufficientDataError:
    """Return the error for a caller that needs a command."""
    return InsufficientDataError(f"no command for {found.program}: {found.reason}; {found.to_try[0]}")


def _under(title: str, text: str) -> str:
    rest = _COLUMN + "  " * text.startswith("- ")
    return textwrap.fill(text, _WIDTH, initial_indent=f"  {title:18}", subsequent_indent=rest)
