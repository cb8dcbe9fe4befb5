"""The command by which another tool applies a mapping, and its limits; pure."""

from collections.abc import Mapping as Variables

import msgspec

from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import EXPRESSIBLE, FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.command import applied, nearest_expressible, without_page_policy
from numapredict.collect.placing.tools.hwloc_bind import hwloc_bind
from numapredict.collect.placing.tools.likwid_pin import likwid_pin
from numapredict.collect.placing.tools.numactl import numactl
from numapredict.collect.placing.tools.openmp import openmp
from numapredict.collect.placing.tools.srun import srun
from numapredict.collect.placing.tools.taskset import taskset
from numapredict.collect.placing.tools.tools import TITLES, TOOLS, Tool
from numapredict.collect.placing.tools.wrapping import RUN_ANYTHING, Expression, Wrapping
from numapredict.collect.program import Program
from numapredict.collect.terminal.printable import shell_word

_EXPRESSIONS: dict[Tool, Expression] = {
    "env": openmp,
    "taskset": taskset,
    "numactl": numactl,
    "hwloc": hwloc_bind,
    "likwid": likwid_pin,
    "slurm": srun,
}


_RANKS = "each rank gets all threads of the mapping: only numapredict run deals them to the ranks of a job"


class Emission(msgspec.Struct, frozen=True):
    """A command for a shell, which applies ``mapping``: the requested one where ``exact`` is true.

    The threads are always placed as asked; the page policy of another ``mapping`` is the nearest that the tool has.
    ``note`` gives its limits and its changes to the shell's variables, ``cautions`` further conditions that must hold.
    """

    text: str
    mapping: Mapping
    exact: bool
    note: str
    cautions: tuple[str, ...]


def expresses(tool: Tool, placement: Placement) -> bool:
    """Return whether a tool can apply the mapping, pages and all."""
    return _wrapping(tool, placement, (), {}) is not None


def emit(
    tool: Tool, placement: Placement, program: Program, environment: Variables[str, str] | None = None
) -> Emission:
    """Return the command that runs ``program`` under a mapping or the nearest to it, ready to be pasted into sh.

    ``environment`` is the shell's: the command unsets variables in it that would counteract the mapping, and the note
    names those that it overrides.
    """
    shell = dict(environment or {})
    notes = []
    mapping, topology = placement.mapping, placement.topology
    for candidate in (mapping, nearest_expressible(mapping), without_page_policy(mapping)):
        wrapping = _wrapping(tool, resolve(candidate, topology), program.command, shell)
        if wrapping is not None:
            break
    else:
        raise AssertionError(f"{tool} must be able to leave pages to first touch: {mapping.label}")
    if candidate != mapping:
        notes.append(_shortfall(tool, placement, candidate))
    unset = [name for name in wrapping.conflicting if name in shell]
    changed = [name for name, value in wrapping.environment if shell.get(name, value) != value]
    if unset:
        notes.append(f"{', '.join(unset)} in your environment would counteract it and is unset here")
    if changed:
        notes.append(f"{', '.join(changed)} in your environment is overridden here")
    text = _text(wrapping, program, unset)
    ranks = (_RANKS,) if starts_tasks(program.command) else ()
    return Emission(text, candidate, candidate == mapping, "; ".join(notes), (*ranks, *wrapping.cautions))


def _wrapping(
    tool: Tool, placement: Placement, command: tuple[str, ...], shell: Variables[str, str]
) -> Wrapping | None:
    nearest = applied(placement)
    policy = nearest.mapping.page_policy
    if policy not in EXPRESSIBLE and not (tool == "numactl" and FACTS[policy].decided_by == "weights"):
        return None  # by no tool: what first touch alone applies is first touch or bind in its canonical form
    return _EXPRESSIONS[tool](nearest, command, shell)


def _shortfall(tool: Tool, placement: Placement, nearest: Mapping) -> str:
    """Return what the tool cannot do, what it does instead, and who can."""
    others = [f"--emit {other}" for other in TOOLS if other != tool and expresses(other, placement)]
    exact = " or ".join(others) or f"numapredict run --mapping {placement.mapping.label}"
    return (
        f"{TITLES[tool]} cannot express {placement.mapping.pages}: this command uses {nearest.pages} instead, with the"
        f" threads as they should be; exact: {exact}"
    )


def _text(wrapping: Wrapping, program: Program, unset: list[str]) -> str:
    """Return the command line, with the words quoted that a shell would interpret.

    Invisible characters come from printf, in octal: they would be copied unnoticed.
    """
    decided = {*dict(wrapping.environment), *wrapping.conflicting}
    own = [pair for pair in program.environment if pair[0] not in decided]
    words = [f"{name}={shell_word(value)}" for name, value in (*own, *wrapping.environment)]
    if unset:
        words = ["env", *(word for name in unset for word in ("-u", name)), *words]
        words += RUN_ANYTHING if "=" in wrapping.words[0] else ()
    first, *others = wrapping.words
    text = " ".join([*words, _command_name(first), *map(shell_word, others)])
    return text if program.directory is None else f"cd {shell_word(program.directory)} && {text}"


def _command_name(word: str) -> str:
    """Return a program's name as sh takes it: one with an equals sign, without quotes, would set a variable."""
    quoted = shell_word(word)
    return f"'{word}'" if quoted == word and "=" in word else quoted
