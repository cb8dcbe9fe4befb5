"""The control: programs that every node runs, so that one that is not like the others shows.

A node is out of line where a control's time there is farther from the median of the other nodes' times than these are
from each other: by TOLERANCE, and by SPREADS median absolute deviations. Disturbed or throttled nodes are slower by
tens of percent, equal ones differ by some percent.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import msgspec

from numapredict.collect.machine import Machine
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import CODELETS, Program
from numapredict.native.errors import InvalidInputError

GROUP = "control"
"""The group of the control's programs, which no dataset has: they are of the nodes, not of what is measured."""

TOLERANCE = 1.1
SPREADS = 3.0
_TO_DEVIATION = 1.4826  # of a normal distribution, over its median absolute deviation
_CODELETS = ("stream-triad", "ep-pairs")
"""One that waits for memory, and one that computes."""


class OutOfLine(msgspec.Struct, frozen=True):
    """A node whose control took ``ratio`` times the median of so many ``others``; None where it failed."""

    node: str
    control: str
    ratio: float | None
    others: int

    def __str__(self) -> str:
        """Return it in words."""
        if self.ratio is None:
            return f"node {self.node} is out of line: {self.control} failed"
        middle = "the other node's time" if self.others == 1 else f"the median of {self.others} others"
        return f"node {self.node} is out of line: {self.control} took {self.ratio:.2f} times {middle}"


def control_programs(machine: Machine) -> tuple[Program, ...]:
    """Return the control's programs: small on a modelled machine, where the figures do not depend on clocks."""
    size = "tiny" if machine.modelled else "medium"
    return tuple(
        Program(name=f"{GROUP} {name}", command=(CODELETS, name, "--size", size, "--init", "parallel"), group=GROUP)
        for name in _CODELETS
    )


def control_times(measurements: Sequence[Measurement]) -> dict[str, float]:
    """Return each control's time among measurements of one node, the median of its starts; infinite if it failed.

    A modelled time is no node's: traces of one program differ by some per cent on the same node, so that it is 1 s
    for all nodes on which the control ran.
    """
    times: dict[str, list[float]] = {}
    for m in measurements:
        time_s = 1.0 if m.modelled else m.region_time_s or m.time_s
        times.setdefault(m.program, []).append(time_s if m.status == "ok" else math.inf)
    return {name: statistics.median_low(each) for name, each in times.items()}


def out_of_line(nodes: Mapping[str, Mapping[str, float]]) -> tuple[OutOfLine, ...]:
    """Return the nodes that are out of line, by each node's times of the controls, with the control that shows most.

    Raises InvalidInputError where they are not the smaller part, so that nobody can say which nodes are right.
    """
    found: dict[str, OutOfLine] = {}
    farthest: dict[str, float] = {}
    for control in sorted({name for times in nodes.values() for name in times}):
        times = {node: of[control] for node, of in nodes.items() if control in of}
        for node, own_s in times.items():
            ratio = _ratio_beyond(own_s, [time_s for other, time_s in times.items() if other != node])
            if abs(math.log(ratio)) > farthest.get(node, 0.0):
                farthest[node] = abs(math.log(ratio))
                found[node] = OutOfLine(node, control, ratio if math.isfinite(ratio) else None, len(times) - 1)
    if found and 2 * len(found) >= len(nodes):
        shown = "; ".join(f"{node} {_times_in_words(nodes[node])}" for node in sorted(nodes))
        raise InvalidInputError(
            f"the control's times differ from node to node, and no majority agrees ({shown}): move the journals of the"
            " nodes that you do not trust to another folder, or keep all with --keep-nodes"
        )
    return tuple(found[node] for node in sorted(found))


def _ratio_beyond(time_s: float, others: Sequence[float]) -> float:
    """Return a time over the median of others where it is out of line with them, else 1.

    Of an even number of others the nearer of the two in the middle counts: beside one node that is out of line, all
    others are in line.
    """
    finite = [other for other in others if math.isfinite(other)]
    if not finite:
        return 1.0
    if math.isinf(time_s):
        return math.inf
    middles = (statistics.median_low(finite), statistics.median_high(finite))
    middle = min(middles, key=lambda each: abs(math.log(time_s / each)))
    deviation = statistics.median(abs(math.log(other / middle)) for other in finite)
    beyond = abs(math.log(time_s / middle)) > max(math.log(TOLERANCE), SPREADS * _TO_DEVIATION * deviation)
    return time_s / middle if beyond else 1.0


def _times_in_words(times: Mapping[str, float]) -> str:
    return ", ".join(
        f"{control} {time_s:.3g} s" if math.isfinite(time_s) else f"{control} failed"
        for control, time_s in times.items()
    )
