"""OpenMP's words for thread bindings, accepted wherever a label is: the mapping that each means on a topology; pure.

``close`` and ``spread`` are OMP_PROC_BIND's with a place a core (OpenMP 5.2 sec. 10.1.3), ``compact`` is KMP_AFFINITY's
with all hardware threads of a core. ``close`` and ``compact`` take the fewest nodes, among which the threads are shared
evenly: OpenMP would fill one after the other. ``spread`` takes all nodes and all L3 caches of theirs.
"""

import re

from numapredict.collect.domain import count_domains
from numapredict.collect.mapping import Mapping, parse_label, problem_of
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, PagePolicy
from numapredict.collect.placement import pus_of
from numapredict.collect.space import canonical
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError

BINDINGS = ("close", "spread", "compact")

_BINDING = re.compile(rf"({'|'.join(BINDINGS)})(?::([1-9][0-9]{{0,4}}))?(?:-({'|'.join(PAGE_POLICIES)}))?")
_PAGES: dict[str, PagePolicy] = {policy: policy for policy in PAGE_POLICIES}


def mapping_on(topology: Topology, text: str, threads: int | None = None) -> Mapping:
    """Return the mapping that a label, or ``close``, ``spread`` or ``compact``, names on a topology.

    ``spread:16-interleave`` has 16 threads, and interleaves their pages over their nodes. Without a number there are
    ``threads``, and without these one thread a core, or with ``compact`` one a PU. Raises InvalidMappingError for a
    text that names none, or more threads than fit.
    """
    match = _BINDING.fullmatch(text)
    if match is None:
        return parse_label(text)
    binding, number, pages = match.groups()
    each = topology.threads_per_core if binding == "compact" else 1
    rooms = [len(pus_of(node.cores, each)) for node in topology.cpu_nodes]
    wanted = int(number) if number else threads or sum(rooms)
    if wanted > sum(rooms):
        unit = "PU" if each > 1 else "core"
        raise InvalidMappingError(
            f"mapping {text} needs {counted(wanted, unit)}; {topology.name} has {counted(sum(rooms), unit)}"
        )
    nodes = min(wanted, len(rooms)) if binding == "spread" else _fewest(rooms, wanted)
    policy = _PAGES[pages or "first-touch"]
    page_nodes = 1 if FACTS[policy].page_nodes == "one node" else nodes
    mapping = Mapping(wanted, nodes, "contiguous", page_nodes, policy, each)
    problem = problem_of(mapping)
    if problem:
        raise InvalidMappingError(f"{text}: {problem}")
    if binding == "spread":
        l3s = min(wanted, count_domains(topology, nodes))
        form = canonical(Mapping(wanted, nodes, "contiguous", nodes, "interleave", each, l3s), topology)
        mapping = mapping.replaced(thread_l3s=form.thread_l3s)
    return mapping


def threads_asked(setting: str | None) -> int | None:
    """Return the number of threads that OMP_NUM_THREADS asks for: the first of its list; None where it is no number."""
    own = (setting or "").partition(",")[0].strip()
    return int(own) if re.fullmatch("0{0,9}[1-9][0-9]{0,4}", own) else None


def _fewest(rooms: list[int], threads: int) -> int:
    """Return how many of the first nodes hold the threads."""
    return next(count for count in range(1, len(rooms) + 1) if sum(rooms[:count]) >= threads)
