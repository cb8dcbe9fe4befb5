"""OMP_PLACES by kind instead of numbers, where that places every thread as the mapping does; pure.

With ``cores`` or ``threads`` libgomp lists the places by the PUs' numbers and LLVM's runtime by the topology, both
within the process's mask, so both orders must be the same. ``close`` gives thread i place i; ``spread`` gives it the
first place of the i-th of equal parts of the list (OpenMP 5.2 sec. 10.1.3). A place of ``cores`` has all PUs of its
core.
"""

from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import openmp_variables


def emitted_variables(placement: Placement, *, confined: bool) -> tuple[tuple[str, str], ...]:
    """Return the variables by which an OpenMP runtime places the threads, in a form that people can read.

    ``confined``: another tool keeps the process on the mapping's PUs. Without it a thread of a mapping with one thread
    a core may run on any PU of its core.
    """
    kind, binding = _by_kind(placement, confined) or ("", "")
    changed = {"OMP_PLACES": kind, "OMP_PROC_BIND": binding} if kind else {}
    return tuple((name, changed.get(name, value)) for name, value in openmp_variables(placement))


def _by_kind(placement: Placement, confined: bool) -> tuple[str, str] | None:
    """Return OMP_PLACES and OMP_PROC_BIND without numbers; None where none places the threads like this."""
    nodes = placement.topology.cpu_nodes
    usable = set(placement.pus) if confined else None
    rows = [[pu for pu in core.pus if usable is None or pu in usable] for node in nodes for core in node.cores]
    cores = [tuple(row) for row in rows if row]
    if placement.mapping.threads_per_core > 1:
        return _bound("threads", [(pu,) for core in cores for pu in core], placement.pus)
    return _bound("cores", cores, placement.pus)


def _bound(kind: str, places: list[tuple[int, ...]], pus: tuple[int, ...]) -> tuple[str, str] | None:
    """Return ``kind`` with the binding that gives the threads these PUs' places."""
    first = [min(place) for place in places]
    if first != sorted(first):
        return None
    place_of = {pu: index for index, place in enumerate(places) for pu in place}
    taken = [place_of[pu] for pu in pus]
    if taken == list(range(len(pus))):
        return kind, "close"
    step, rest = divmod(len(places), len(pus))
    return (kind, "spread") if not rest and taken == list(range(0, len(places), step)) else None
