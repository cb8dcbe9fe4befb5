"""The metric in a program's output: found in a process of its own, for a pattern may take forever on some texts."""

import math
import re
import subprocess
import sys
from decimal import Decimal, InvalidOperation

from numapredict.collect.figure import FLAGS, STEP, VALUE
from numapredict.collect.measuring.window import Readings
from numapredict.collect.placing.process import Ending
from numapredict.collect.terminal.printable import printable

KEPT_BYTES = 4 << 20
"""How much of the end of each output is searched."""

MOST_S = 10
"""The processor time that a search may take, in seconds."""

_NOTHING, _SHOWN = 3, 60
_SEARCH = f"""
import re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_S}, {MOST_S}))
pattern = re.compile(bytes.fromhex(sys.argv[1]).decode("utf-8", "surrogatepass"), {int(FLAGS)})
data, length = sys.stdin.buffer.read(), int(sys.argv[2])
for part in data[:length], data[length:]:
    found = None
    for match in pattern.finditer(part.decode(errors="replace")):
        found = found if match[1] is None else match[1]
    if found is not None:
        sys.stdout.buffer.write(found.encode(errors="replace"))
        sys.exit()
sys.exit({_NOTHING})
"""


def metric_of(pattern: str, ending: Ending) -> tuple[Readings, str]:
    """Return the readings of a run with its metric, and its step, or none and in words why there is no metric.

    It is the last match in standard output, or, where nothing there matches, in standard error.
    """
    output, errors = _lines(ending.output), _lines(ending.errors)
    words = [pattern.encode("utf-8", "surrogatepass").hex(), str(len(output))]
    done = subprocess.run(
        [sys.executable, "-I", "-c", _SEARCH, *words], input=output + errors, capture_output=True, check=False
    )
    shown = printable(pattern)
    if done.returncode == _NOTHING:
        cut = max(len(ending.output), len(ending.errors)) >= KEPT_BYTES
        where = f"the last {KEPT_BYTES >> 20} MiB of its output" if cut else "its output"
        return (), f"--metric '{shown}' matches nothing in {where}; make it match a line that each run prints"
    if done.returncode:
        return (), f"--metric '{shown}' takes over {MOST_S} s to find in its output; write a simpler pattern"
    text = done.stdout.decode(errors="replace")
    found = _readings(text)
    if found:
        return found, ""
    what = "one without commas" if re.search(r"\d,\d", text) else "one"
    return (), f"the metric '{printable(text[:_SHOWN])}' is no positive finite number; match {what}"


def _readings(text: str) -> Readings:
    """Return the readings of a metric; none where the text is no positive finite number."""
    if "_" in text:  # which Python allows between digits
        return ()
    try:
        value, digits = float(text), Decimal(text.strip()).as_tuple().exponent
    except (ValueError, InvalidOperation):
        return ()
    if not 0 < value < math.inf or not isinstance(digits, int):
        return ()
    return (VALUE, value), (STEP, 10.0 ** max(digits, -300))


def _lines(tail: bytes) -> bytes:
    """Return the end of an output without the rest of the line in which it begins."""
    if len(tail) < KEPT_BYTES:
        return tail
    return tail[tail.find(b"\n") + 1 :]
