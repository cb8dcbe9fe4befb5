"""The placement that a text means for this process: all of this computer, or a rank's share of it."""

import os
from pathlib import Path

from numapredict.collect.binding import mapping_on, threads_asked
from numapredict.collect.host.facts.limits import online_pus
from numapredict.collect.host.host import cpuset, describes_this_computer, host_packages
from numapredict.collect.host.tasks import Tasks, tasks_here
from numapredict.collect.index_list import index_list
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.run_notes import RunNotes
from numapredict.collect.rank_share import RanksPer, share_of, shared, split_label
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError


def placement_of(topology: Topology, text: str) -> tuple[Placement, RanksPer | None]:
    """Return the placement of a label with or without ranks, on all of a topology; raise InvalidMappingError."""
    label, ranks = split_label(text)
    placement = resolve(mapping_on(topology, label, threads_asked(os.environ.get("OMP_NUM_THREADS"))), topology)
    if ranks is None:
        return placement, None
    return shared(placement, ranks, host_packages() if ranks.part == "socket" else ()), ranks


def ranks_here() -> Tasks | None:
    """Return this process's place among several ranks that were started together here, None where it is alone."""
    found = tasks_here(os.environ)
    return found if found is not None and found.count > 1 and found.rank is not None else None


def own_share(placement: Placement, ranks: RanksPer | None, here: Tasks) -> Placement:
    """Return what a rank that was started with others has of a placement.

    A rank that its launcher has bound already has its share, and a label without ranks is about that alone. Raises
    InvalidMappingError where more ranks were started than the label has room for, in each of them: ranks that are left
    alone would wait for the others.
    """
    if ranks is None and _is_bound():
        return share_of(placement, 0, 1)
    count = placement.ranks or here.count
    if here.rank is None or here.count > count:
        raise InvalidMappingError(
            f"mapping {placement.mapping.label}{ranks}: it has room for {counted(count, 'rank')}, and {here.count} were"
            f" started here by {here.starter}; start {count}"
        )
    return share_of(placement, here.rank, count)


def _is_bound() -> bool:
    """Return whether this process may use fewer PUs than its control group, or else the computer, has."""
    if not describes_this_computer():
        return False
    allowed = cpuset(Path("/")).pus
    return len(os.sched_getaffinity(0)) < len(online_pus(Path("/")) if allowed is None else allowed)


def _weights_in_words(placement: Placement) -> str:
    """Return the weight of each page node, and where it is from."""
    weights = zip(placement.os_page_nodes, placement.weights, strict=True)
    listed = ", ".join(f"node {node} {weight}" for node, weight in weights)
    if placement.topology.bandwidths is not None:
        return f"pages by weight: {listed}, by the bandwidths that were measured"
    return (
        f"pages by weight: {listed}, by the distances of the nodes, since nobody has measured bandwidths here"
        " (numapredict topology --measure -o machine.toml does)"
    )


def placement_here(topology: Topology, label: str, notes: RunNotes) -> tuple[Placement, str]:
    """Return what this process has of the placement that a label means, and its label in full."""
    placement, ranks = placement_of(topology, label)
    named = f"{placement.mapping}{ranks or ''}"
    if named != label:
        notes.note(f"{label} is {named}")
    if FACTS[placement.mapping.page_policy].decided_by == "weights" and len(placement.page_nodes) > 1:
        notes.note(_weights_in_words(placement))
    alone = sorted(node.os_index for node in topology.nodes if node.index in placement.page_nodes and not node.cores)
    if alone:
        whose = f"node {alone[0]} has" if len(alone) == 1 else f"nodes {index_list(alone)} have"
        notes.note(f"of the mapping's page nodes {whose} memory alone, no cores (CXL, HBM)")
    if notes.here is None:
        return placement, named
    own = own_share(placement, ranks, notes.here)
    return own, own.mapping.label
