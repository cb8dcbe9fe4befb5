"""Exit codes other than 0: which of them may be a program's habit, and how one is kept with a census or a trace.

A program that ran its parallel regions and never ends with 0 has worked; one that a signal killed, that could not be
started, or that ends so only now and then has failed.
"""

import struct
from collections.abc import Sequence

from numapredict.collect.measurement import Measurement

PROVENANCE = "exit_code"
"""The name of a measurement's note with the exit code of its runs, where that is not 0."""

_MAGIC = 0x31304E5449584555  # UEXITN01
_TRAILER = struct.Struct("<QQ")
_NOT_RUN = (126, 127)  # POSIX, shell command language 2.8.2: cannot be executed, is not there
_SIGNALS = range(129, 193)  # how a shell reports a child that a signal ended: 128 and the signal's number


def may_be_habit(code: int) -> bool:
    """Return whether a program that worked may end with this code; negative ones are signals."""
    return code >= 0 and code not in _NOT_RUN and code not in _SIGNALS


def with_exit_code(data: bytes, code: int) -> bytes:
    """Return a census or trace file's bytes with the exit code of its run appended, unchanged for 0."""
    return data + _TRAILER.pack(_MAGIC, code) if code > 0 else data


def exit_code_in(data: bytes) -> int:
    """Return the exit code appended to a census or trace file, 0 where there is none."""
    if len(data) < _TRAILER.size:
        return 0
    magic, code = _TRAILER.unpack_from(data, len(data) - _TRAILER.size)
    return int(code) if magic == _MAGIC and code < 256 else 0


def refusal(program: str, code: int) -> str:
    """Return the message that --strict refuses a program with this exit code."""
    return f"{program} ends with exit code {code}, which --strict refuses; make it end with 0, or leave --strict out"


def exit_code_of(measurement: Measurement) -> int:
    """Return the exit code of a measurement's runs."""
    return int(dict(measurement.provenance).get(PROVENANCE, "0"))


def exit_codes_in_words(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Return a line for each program that ends with an exit code other than 0."""
    found: dict[str, dict[int, None]] = {}
    for m in measurements:
        if m.status == "ok" and exit_code_of(m):
            found.setdefault(m.program, {})[exit_code_of(m)] = None
    return tuple(
        f"{program} ends with exit code {', '.join(map(str, codes))}; its parallel regions ran, so it counts as having "
        "worked (--strict refuses it)"
        for program, codes in found.items()
    )
