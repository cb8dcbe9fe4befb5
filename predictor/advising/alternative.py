"""What other tools can do of an answer without the preload library."""

import os
from collections.abc import Mapping as ByName

import msgspec

from numapredict.collect.machine import Machine
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.emission import emit, expresses
from numapredict.collect.placing.tools.tools import TOOLS, Tool
from numapredict.collect.program import Program


class Alternative(msgspec.Struct, frozen=True):
    """The command of a tool that needs no preload library.

    ``mapping`` is what it applies, and ``exact`` whether that is the advised mapping; otherwise it is the fastest
    mapping that the tool can express, with the ``speedup`` of its run over the baseline, or the nearest one, whose
    speedup is not known. ``note`` has remarks, ``cautions`` conditions.
    """

    tool: Tool
    mapping: AnyMapping
    speedup: float | None
    command: str
    exact: bool
    note: str
    cautions: tuple[str, ...] = ()


def alternatives_of(
    mapping: Mapping, speedups: ByName[Mapping, float], machine: Machine, program: Program
) -> tuple[Alternative, ...]:
    """Return each tool's command for the mapping, or for the fastest one that it can express and that was not slower.

    ``speedups`` are those of the mappings whose times are known, over the baseline. None of them goes before the
    advised mapping, which was confirmed. Where there is none it is for the nearest mapping, which did not run.
    """
    ranked = [each for each, speedup in sorted(speedups.items(), key=lambda pair: -pair[1]) if speedup >= 1]
    ranked = sorted(ranked, key=lambda each: each != mapping)
    shell = dict(os.environ)

    def alternative(tool: Tool) -> Alternative:
        for each in ranked:
            placement = resolve(each, machine.topology)
            if expresses(tool, placement):
                found = emit(tool, placement, program, shell)
                return Alternative(tool, each, speedups[each], found.text, each == mapping, found.note, found.cautions)
        found = emit(tool, resolve(mapping, machine.topology), program, shell)
        return Alternative(tool, found.mapping, None, found.text, found.exact, found.note, found.cautions)

    return tuple(map(alternative, TOOLS))
