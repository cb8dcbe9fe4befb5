"""Draws topologies with mappings that fit them."""

from hypothesis import strategies as st

from numapredict.collect.mapping import THREAD_POLICIES, Mapping
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.topology import Topology
from tests.shapes import shape


@st.composite
def fitting(draw: st.DrawFn) -> tuple[Mapping, Topology]:
    """Return a topology with nodes of all kinds and a mapping that fits it."""
    cores = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any))
    memory = [draw(st.integers(0 if count else 1, 1)) for count in cores]
    if not any(memory):
        memory[0] = 1
    table = draw(
        st.lists(
            st.lists(st.sampled_from([12, 16, 22]), min_size=len(cores), max_size=len(cores)),
            min_size=len(cores),
            max_size=len(cores),
        )
    )
    for index in range(len(cores)):
        table[index][index] = 10
    pus = draw(st.integers(1, 3))
    topology = shape(cores, memory, table, pus=pus)
    threads_per_core = draw(st.integers(1, pus))
    thread_nodes = draw(st.integers(1, len(topology.cpu_nodes)))
    threads = draw(
        st.integers(thread_nodes, threads_per_core * sum(len(node.cores) for node in topology.cpu_nodes[:thread_nodes]))
    )
    policy = draw(st.sampled_from(PAGE_POLICIES))
    page_nodes = draw(st.integers(1, len(topology.memory_nodes)))
    if policy in ("first-touch", "locality"):
        page_nodes = thread_nodes
    if policy == "remote" and {n.index for n in topology.memory_nodes} <= {
        n.index for n in topology.cpu_nodes[:thread_nodes]
    }:
        policy = "bind"
    if policy in ("bind", "remote"):
        page_nodes = 1
    thread_policy = draw(st.sampled_from(THREAD_POLICIES))
    return Mapping(threads, thread_nodes, thread_policy, page_nodes, policy, threads_per_core), topology
