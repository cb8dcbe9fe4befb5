"""What placing variables by a plan gains on a described machine: the time of the parallel regions, before and after."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.placement import Placement
from numapredict.collect.placing.page_plan import PagePlan
from numapredict.collect.program import Program
from numapredict.native.errors import TracingError
from numapredict.predictor.variables.time_cost import Times

Nodes = npt.NDArray[np.int32]


def modelled_gains(
    machine: ModelledMachine, program: Program, placement: Placement, plans: Sequence[PagePlan]
) -> tuple[float | None, ...]:
    """Return by each plan the speedup of the regions over first touch alone; None where no page of it was traced.

    Raises TracingError where the program cannot be traced.
    """
    before, after = modelled_times(machine, program, placement, plans)
    return tuple(None if each is None else sum(before.values()) / sum(each.values()) for each in after)


def modelled_times(
    machine: ModelledMachine, program: Program, placement: Placement, plans: Sequence[PagePlan]
) -> tuple[Times, tuple[Times | None, ...]]:
    """Return the seconds of each region, by its key, by first touch alone and by each plan; None as above.

    Raises TracingError where the program cannot be traced, or where the trace saw no time in regions.
    """
    mapping = placement.mapping
    pages = machine.traced(program, mapping.threads, mapping.thread_policy).trace.pages
    address, nodes = machine.placement(program, mapping)
    threads = tuple(slot.node for slot in placement.slots)

    def times_s(page_node: Nodes) -> Times:
        by_key = machine.run_placed(program, threads, page_node, mapping.thread_policy)[1]
        return dict(by_key.items())

    before = times_s(nodes)
    if sum(before.values()) <= 0:
        raise TracingError(f"the trace of {program.name} has no time in parallel regions")
    planned = (planned_nodes(plan, placement, pages, address, nodes) for plan in plans)
    return before, tuple(None if each is None else times_s(each) for each in planned)


def planned_nodes(
    plan: PagePlan, placement: Placement, pages: npt.NDArray[np.void], address: npt.NDArray[np.int64], nodes: Nodes
) -> Nodes | None:
    """Return the node of each page under a plan, int32[P]; None where it has none of these pages.

    ``pages`` are a trace's; ``address`` int64[P] are the pages that the model follows, ``nodes`` int32[P] where they
    are without the plan. A range is known by what the placement library knows it by, but for its allocating thread: a
    trace has no slots of these.
    """
    index = {node.os_index: node.index for node in placement.topology.nodes}
    planned, found = nodes.copy(), False
    for each in plan.ranges:
        known = each.range
        mine = (pages["site"] == known.site) & (pages["order"] == known.order) & (pages["kind"] == known.kind)
        mine &= pages["pages"] == known.pages
        node_of = np.full(known.pages, -1, dtype=np.int32)
        for first, count, node in each.runs:
            node_of[first : first + count] = index[node]
        page = pages["page"][mine].astype(np.int64)
        at, there = _positions(address, page)
        planned[at] = node_of[(page - pages["first"][mine].astype(np.int64))[there]]
        found = found or bool(len(at))
    return np.where(planned < 0, nodes, planned).astype(np.int32) if found else None


def _positions(
    address: npt.NDArray[np.int64], page: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where pages stand in ``address``, and which of them do."""
    order = np.argsort(address, kind="stable")
    at = order[np.minimum(np.searchsorted(address[order], page), len(address) - 1)]
    there = np.flatnonzero(address[at] == page)
    return at[there], there
