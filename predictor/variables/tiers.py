"""Which variables go to near and which to far memory, where a machine has nodes of memory alone (CXL, HBM); pure.

Near is the memory that delivers more to the threads: their own nodes' where the nodes of memory alone are slower or
nobody has measured them, else these. What is touched most for its size comes first, as far as near memory has room:
the greedy rule for a knapsack (Dantzig 1957).
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.page_plan import PagePlan, plan_of
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.topology import Node, Topology
from numapredict.native.errors import UsageError
from numapredict.predictor.variables.variable import PlacedVariable
from numapredict.predictor.variables.variable_plan import Judged, is_placed_alone
from numapredict.predictor.variables.variables_text import name_of

ROOM = 0.9
"""Of the near memory: the rest is for what a profile does not follow, stacks, code and the kernel."""


class Tiers(msgspec.Struct, frozen=True):
    """The nodes of each tier, pair by pair with those that serve the threads, all by OS index.

    ``own`` are these; ``other`` has of each the nearest node of memory alone, which ``is_near`` says is the better one.
    ``near_bytes``: the room in near memory.
    """

    own: tuple[int, ...]
    other: tuple[int, ...]
    is_near: bool
    near_bytes: int


def tiers_of(topology: Topology, homes: Sequence[int]) -> Tiers:
    """Return the tiers for threads that these nodes serve (logical indices); UsageError where there is one alone."""
    alone = [node for node in topology.memory_nodes if not node.cores and node.index not in homes]
    if not alone:
        raise UsageError(
            f"--tier places pages in nodes of memory alone (CXL, HBM), and {topology.name} has none: leave it out"
        )
    own = tuple(dict.fromkeys(homes))
    other = [_nearest(topology, home, alone) for home in own]
    known = topology.bandwidths
    is_near = known is not None and all(
        known.node_GBps[home][node.index] > known.node_GBps[home][home] for home, node in zip(own, other, strict=True)
    )
    near = {node.index for node in other} if is_near else set(own)
    return Tiers(
        tuple(topology.nodes[home].os_index for home in own),
        tuple(node.os_index for node in other),
        is_near,
        int(ROOM * sum(topology.nodes[index].memory_bytes for index in near)),
    )


def _nearest(topology: Topology, home: int, nodes: Sequence[Node]) -> Node:
    return min(nodes, key=lambda node: (topology.distances[home][node.index], node.index))


def near_ones(touches: Sequence[float], sizes: Sequence[int], near_bytes: int) -> tuple[bool, ...]:
    """Return of each variable whether it is in near memory, by its touches and its size in bytes."""
    order = sorted(range(len(sizes)), key=lambda number: (-touches[number] / max(sizes[number], 1), number))
    near, left = [False] * len(sizes), near_bytes
    for number in order:
        near[number] = sizes[number] <= left
        left -= sizes[number] if near[number] else 0
    return tuple(near)


def tiered_plans(
    judged: Sequence[Judged], profile: Profile, placement: Placement
) -> list[tuple[PlacedVariable, PagePlan]]:
    """Return the plan of each variable that leaves its threads' own nodes, for the node beside these.

    Its pages go by the threads that use them, as under locality. Parts of a range stay where they are.
    """
    tiers = tiers_of(placement.topology, placement.homes)
    near = near_ones(
        [variable.touches for _, variable in judged], [variable.size_bytes for _, variable in judged], tiers.near_bytes
    )
    mapping, beside = placement.mapping, dict(zip(tiers.own, tiers.other, strict=True))
    there = resolve(mapping.replaced(page_policy="locality", page_nodes=mapping.thread_nodes), placement.topology)
    plans = []
    for (found, variable), is_near in zip(judged, near, strict=True):
        if is_near != tiers.is_near or variable.kind == "file" or not is_placed_alone(found, profile):
            continue
        plan = plan_of(profile, there, found.ranges)
        moved = replace(
            plan,
            ranges=tuple(
                replace(each, runs=tuple((first, count, beside[node]) for first, count, node in each.runs))
                for each in plan.ranges
            ),
        )
        pages = sum(count for each in moved.ranges for _, count, _ in each.runs)
        plans.append(
            (PlacedVariable(name_of(variable), "in near memory" if is_near else "in far memory", pages), moved)
        )
    return plans
