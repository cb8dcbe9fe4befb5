"""How OMP_* variables and numactl express a mapping: pure, for this computer's runs and for a person's shell.

OMP_PLACES lists one place a thread in thread order, so that thread i of a team that has as many threads as places gets
place i (OpenMP 5.2 sec. 10.1.3); ``close`` is asked for because the placement under ``true`` is left to the runtime.
"""

import shlex
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Variables

import msgspec

from numapredict.collect.machines.variables import CONFLICTING
from numapredict.collect.mapping import Mapping, PagePolicy
from numapredict.collect.placement import page_node_set, thread_slots
from numapredict.collect.program import Program
from numapredict.collect.space import canonical
from numapredict.collect.topology import Topology

EXPRESSIBLE: tuple[PagePolicy, ...] = ("first-touch", "interleave", "bind", "remote")


_SHORTEST_ROW = 3  # below, writing places out is as short


class Launch(msgspec.Struct, frozen=True):
    """Variables to set and the numactl call to put before a command.

    ``numactl`` is the whole call, ``memory_policy`` whether it also sets a memory policy: without one the call only
    repeats for the whole process what OMP_PLACES says for its threads.
    """

    environment: tuple[tuple[str, str], ...]
    numactl: tuple[str, ...]
    memory_policy: bool


class Command(msgspec.Struct, frozen=True):
    """A command for a shell; ``exact`` is false where it only comes near the mapping, and ``note`` then says how."""

    text: str
    exact: bool
    note: str


def applied(mapping: Mapping, topology: Topology) -> Mapping:
    """Return an equal mapping whose page policy can be expressed, or the mapping itself where there is none."""
    return mapping if mapping.page_policy in EXPRESSIBLE else canonical(mapping, topology)


def nearest_expressible(mapping: Mapping) -> Mapping:
    """Return the expressible mapping that comes near one whose page policy is not.

    Interleaving evens out what addresses can tell; the other policies mostly follow the thread that writes first.
    """
    if mapping.page_policy == "balance":
        return msgspec.structs.replace(mapping, page_policy="interleave")
    return msgspec.structs.replace(mapping, page_policy="first-touch", page_nodes=mapping.thread_nodes)


def launch(mapping: Mapping, topology: Topology) -> Launch:
    """Return what applies a mapping; page policies outside EXPRESSIBLE are left to first touch."""
    slots = thread_slots(mapping, topology)
    pus = [slot.pu for slot in slots]
    environment = (
        ("OMP_NUM_THREADS", str(mapping.threads)),
        ("OMP_PLACES", places(pus)),
        ("OMP_PROC_BIND", "close"),
        ("OMP_DYNAMIC", "false"),
    )
    option = _memory_option(mapping, topology)
    return Launch(environment, ("numactl", f"--physcpubind={ranges(pus)}", *option), bool(option))


def shell_command(
    mapping: Mapping, topology: Topology, program: Program, environment: Variables[str, str] | None = None
) -> Command:
    """Return the command that runs ``program`` under ``mapping``, ready to be pasted into a shell.

    ``environment`` is the shell's own: variables in it that would counteract the mapping are unset by the command, and
    OMP_* variables that the command overrides are named in the note.
    """
    nearest = applied(mapping, topology)
    exact = nearest.page_policy in EXPRESSIBLE
    notes = []
    if not exact:
        nearest = nearest_expressible(mapping)
        notes.append(
            f"OMP_* and numactl cannot express {mapping.page_policy}: this command uses {nearest.page_policy} instead"
        )
    start = launch(nearest, topology)
    shell = dict(environment or {})
    unset = [name for name in CONFLICTING if name in shell]
    changed = [name for name, value in start.environment if shell.get(name, value) != value]
    if unset:
        notes.append(f"{', '.join(unset)} in your environment would counteract it and is unset here")
    if changed:
        notes.append(f"{', '.join(changed)} in your environment is overridden here")
    own = [pair for pair in program.environment if pair[0] not in {*dict(start.environment), *CONFLICTING}]
    words = [f"{name}={shlex.quote(value)}" for name, value in (*own, *start.environment)]
    if unset:
        words = ["env", *(word for name in unset for word in ("-u", name)), *words]
    text = " ".join([*words, shlex.join([*start.numactl, *program.command])])
    if program.directory is not None:
        text = f"cd {shlex.quote(program.directory)} && {text}"
    return Command(text, exact, "; ".join(notes))


def run_command(mapping: Mapping, program: Program) -> str:
    """Return the command that runs ``program`` under ``mapping`` exactly, with the preload library."""
    text = f"numapredict run --mapping {mapping.label} -- {shlex.join(program.command)}"
    if program.environment:
        text = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in program.environment), text])
    return text if program.directory is None else f"cd {shlex.quote(program.directory)} && {text}"


def places(pus: Sequence[int]) -> str:
    """Return one place a PU, in order, as OMP_PLACES takes them: ``{0}:8`` for eight in a row, ``{0}:4:8`` 8 apart.

    OpenMP 5.2 sec. 21.1.6: a place, a number of places and the distance between them. Short rows are written out.
    """
    parts = []
    at = 0
    while at < len(pus):
        end, step = at + 1, 1
        if end < len(pus):
            step = pus[end] - pus[at]
            while end < len(pus) and pus[end] - pus[end - 1] == step:
                end += 1
        count = end - at
        if count < _SHORTEST_ROW or step < 1:
            parts.append(f"{{{pus[at]}}}")
            at += 1
        else:
            parts.append(f"{{{pus[at]}}}:{count}" + (f":{step}" if step > 1 else ""))
            at = end
    return ",".join(parts)


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as numactl writes them: ``0-3,8``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _memory_option(mapping: Mapping, topology: Topology) -> tuple[str, ...]:
    if len(topology.memory_nodes) == 1:
        return ()  # every policy is equal here, and a container may forbid set_mempolicy
    nodes = ranges(topology.nodes[index].os_index for index in page_node_set(mapping, topology))
    if mapping.page_policy == "interleave":
        return (f"--interleave={nodes}",)
    if mapping.page_policy in {"bind", "remote"}:
        return (f"--membind={nodes}",)
    return ()
