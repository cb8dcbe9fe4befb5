"""How OMP_* variables and numactl express a mapping, and how `numapredict run` does: pure.

OMP_PLACES lists one place a thread in thread order, so that thread i of a team that has as many threads as places gets
place i (OpenMP 5.2 sec. 10.1.3); ``close`` is asked for because the placement under ``true`` is left to the runtime.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import msgspec

from numapredict.collect.index_list import index_list
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import EXPRESSIBLE, FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.program import Program
from numapredict.collect.space import canonical, canonical_form
from numapredict.collect.terminal.printable import command_line, shell_word

SHORTEST_ROW = 3  # below, writing numbers or places out is as short


class Launch(msgspec.Struct, frozen=True):
    """Variables to set and the numactl call to put before a command.

    ``numactl`` is the whole call, ``memory_policy`` whether it also sets a memory policy: without one the call only
    repeats for the whole process what OMP_PLACES says for its threads.
    """

    environment: tuple[tuple[str, str], ...]
    numactl: tuple[str, ...]
    memory_policy: bool


def applied(placement: Placement) -> Placement:
    """Return an equal placement whose page policy can be expressed, or itself where there is none."""
    if placement.mapping.page_policy in EXPRESSIBLE:
        return placement
    nearest = resolve(canonical_form(placement), placement.topology)
    return replace(nearest, slots=placement.slots, ranks=placement.ranks)  # ranks have an order of their own


def nearest_expressible(mapping: Mapping) -> Mapping:
    """Return the nearest expressible mapping to one whose page policy is not expressible."""
    nearest = FACTS[mapping.page_policy].nearest
    if nearest == "first-touch":
        return without_page_policy(mapping)
    return mapping.replaced(page_policy=nearest)


def without_page_policy(mapping: Mapping) -> Mapping:
    """Return the mapping with the same thread placement and first touch."""
    return mapping.replaced(page_policy="first-touch", page_nodes=mapping.thread_nodes)


def left_to_first_touch(placement: Placement) -> bool:
    """Return whether first touch alone applies the mapping's page policy, once the threads are placed."""
    mapping, topology = placement.mapping, placement.topology
    if FACTS[mapping.page_policy].kernel == "local" or len(topology.memory_nodes) == 1:
        return True
    return canonical_form(placement) == canonical(without_page_policy(mapping), topology)


def openmp_variables(placement: Placement) -> tuple[tuple[str, str], ...]:
    """Return the variables by which an OpenMP runtime places the threads."""
    return (
        ("OMP_NUM_THREADS", str(placement.mapping.threads)),
        ("OMP_PLACES", places(placement.pus)),
        ("OMP_PROC_BIND", "close"),
        ("OMP_DYNAMIC", "false"),
    )


def launch(placement: Placement) -> Launch:
    """Return the variables and numactl call of a mapping; page policies outside EXPRESSIBLE become first touch."""
    option = _memory_option(placement)
    call = ("numactl", f"--physcpubind={index_list(placement.pus)}", *option)
    return Launch(openmp_variables(placement), call, bool(option))


def memory_words(placement: Placement) -> tuple[str, ...]:
    """Return the numactl call that sets the memory policy alone, for another tool to start; empty for none."""
    option = _memory_option(placement)
    return ("numactl", *option) if option else ()


def run_words(label: str) -> str:
    """Return the start of ``run_command``, up to the program."""
    return f"numapredict run --mapping {label} -- "


def run_command(mapping: Mapping, program: Program) -> str:
    """Return the command that runs ``program`` under ``mapping`` exactly, with the preload library."""
    text = run_words(mapping.label) + command_line(program.command)
    if program.environment:
        text = " ".join([*(f"{name}={shell_word(value)}" for name, value in program.environment), text])
    return text if program.directory is None else f"cd {shell_word(program.directory)} && {text}"


def places(pus: Sequence[int]) -> str:
    """Return one place a PU, in order, as OMP_PLACES takes them: ``{0}:8`` for eight in a row, ``{0}:4:8`` 8 apart.

    OpenMP 5.2 sec. 21.1.6: a place, a number of places and the distance between them. Short rows are written out.
    """
    parts = []
    at = 0
    while at < len(pus):
        step = pus[at + 1] - pus[at] if at + 1 < len(pus) else 1
        count = reach(pus, at, step)
        if count < SHORTEST_ROW or step < 1:
            parts.append(f"{{{pus[at]}}}")
            at += 1
        else:
            parts.append(f"{{{pus[at]}}}:{count}" + (f":{step}" if step > 1 else ""))
            at += count
    return ",".join(parts)


def reach(row: Sequence[int], start: int, step: int) -> int:
    """Return how many numbers from ``start`` on are in steps of ``step``."""
    end = start + 1
    while end < len(row) and row[end] == row[end - 1] + step:
        end += 1
    return end - start


def _memory_option(placement: Placement) -> tuple[str, ...]:
    if len(placement.topology.memory_nodes) == 1:
        return ()  # all policies are equal here, and a container may forbid set_mempolicy
    nodes = index_list(placement.os_page_nodes)
    match FACTS[placement.mapping.page_policy].kernel:
        case "interleave":
            return (f"--interleave={nodes}",)
        case "bind":  # of one node; --membind would end the program where the node is full
            return (f"--preferred={nodes}",)
        case "local" | None:
            return ()
        case other:
            assert_never(other)
