"""`likwid`: likwid-pin pins the threads in the order in which they are created, and sets a policy for all pages.

Where it has no option for the page nodes, numactl sets the policy, started by likwid-pin. It creates no thread, so
that the first to be pinned is still the program's.

likwid-pin(1) of LIKWID 5.2: thread i gets the i-th processor of the list after -c; -i interleaves over the NUMA nodes
of the processors in the list. The policy is set for the whole list before OMP_NUM_THREADS cuts it short, so that
processors after the last thread's add their nodes. Its -m is left alone: it ends a program where the nodes are full.
"""

import re
from collections.abc import Mapping as Variables

from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import left_to_first_touch, memory_words
from numapredict.collect.placing.tools.wrapping import RUN_ANYTHING, Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING

_SHORTEST_DOMAIN = 4  # threads: fewer are as short as a list
_MASK_BITS = 64  # LIKWID, src/numa_proc.c: the nodes are the bits of one unsigned long
_TAKEN_APART = re.compile(r"[ \t\n\v\f\r\"']")
"""Where likwid-pin cuts words: at white space, and 5.4 at quotes, too, some of which it adds itself."""

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""Characters without a special meaning for likwid-pin and env -S."""

_PLACING = (
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "LIKWID_SKIP",
    "OMP_DISPLAY_AFFINITY",  # LLVM 14's runtime aborts on it under the KMP_AFFINITY=disabled that likwid-pin sets
)


def likwid_pin(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of likwid-pin, with numactl in it where its own policies do not reach exactly the page nodes."""
    del shell
    own = _memory(placement)
    extra, policy = own or ((), ())
    pages = () if own else memory_words(placement)
    pus = placement.pus
    listed = ",".join(map(str, (*pus, *extra)))
    short = "" if extra else domains(placement)
    variables, words = unsplit(command)
    environment = (
        ("OMP_NUM_THREADS", str(placement.mapping.threads)),
        ("OMP_DYNAMIC", "false"),
        # Else the list counts the PUs of the shell's cpuset or taskset, and is no list of OS indices.
        ("LIKWID_IGNORE_CPUSET", "1"),
        *variables,
    )
    return Wrapping(
        environment,
        ("likwid-pin", *policy, "-c", listed, *pages, *words),
        (*CONFLICTING, *_PLACING),
        (
            *(("the pages need numactl in addition to likwid-pin",) if pages else ()),
            *((f"where a job may use all cores of the computer, -c {short} means the same",) if short else ()),
            *late_binding(placement),
        ),
    )


def domains(placement: Placement) -> str:
    """Return the list of whole NUMA domains that has the threads' processors in their order; empty where none has.

    ``M0:0-7`` are the first processors of domain 0, one a core before their siblings (likwid-pin(1), CPU expression).
    It counts all processors of the computer, whatever the shell's mask.
    """
    mapping, topology = placement.mapping, placement.topology
    nodes = topology.cpu_nodes[: mapping.thread_nodes]
    first = [core.pus[0] for node in nodes for core in node.cores]
    counted = [node.os_index for node in topology.nodes] == list(range(len(topology.nodes)))
    if not counted or list(placement.pus) != first or mapping.threads < _SHORTEST_DOMAIN:
        return ""
    if any(list(node.cores) != sorted(node.cores, key=lambda core: core.pus[0]) for node in nodes):
        return ""
    return "@".join(f"M{node.os_index}:0-{len(node.cores) - 1}" for node in nodes)


def unsplit(command: tuple[str, ...]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    r"""Return variables, and words that likwid-pin passes on intact: it joins them by spaces and splits them again.

    env inserts the words that it would split (GNU coreutils, "env -S/--split-string syntax": ``\_`` separates words,
    ``${NAME}`` is a variable, never split), and hides the variables from the program.
    """
    if not any(word == "" or _TAKEN_APART.search(word) for word in command):
        return (), command
    variables: list[tuple[str, str]] = []
    words = []
    for word in command:
        if _PLAIN.fullmatch(word):
            words.append(word)
        else:
            variables.append((f"NUMAPREDICT_WORD_{len(variables) + 1}", word))
            words.append(f"${{{variables[-1][0]}}}")
    unset = (f"-u{name}" for name, _ in variables)
    before = RUN_ANYTHING if "=" in command[0] else ()
    return tuple(variables), ("env", "-S" + r"\_".join([*unset, *before, *words]))


def _memory(placement: Placement) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """Return the processors to list after the threads' and the option of the policy, None where there is none."""
    topology = placement.topology
    kernel = FACTS[placement.mapping.page_policy].kernel
    if len(topology.memory_nodes) == 1 or kernel == "local":
        return (), ()
    os_indices = [node.os_index for node in topology.nodes]
    if kernel == "bind" or sorted(os_indices) != list(range(len(os_indices))) or len(os_indices) > _MASK_BITS:
        return ((), ()) if left_to_first_touch(placement) else None  # its mask counts nodes, without gaps
    threads = {slot.node for slot in placement.slots}
    pages = placement.page_nodes
    missing = [topology.nodes[index] for index in pages if index not in threads]
    if not threads.issubset(pages) or not all(node.cores for node in missing):
        return None
    return tuple(node.cores[0].pus[0] for node in missing), ("-i",)
