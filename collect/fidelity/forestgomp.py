"""ForestGOMP (Broquedis et al., IJPP 2010): STREAM on the 4 x 4 Opteron, tables 1 and 5."""

from collections.abc import Mapping

from numapredict.collect.fidelity.bench import Bench, traffic_GBps
from numapredict.collect.fidelity.claim import Comparison, as_given, within
from numapredict.collect.program import Program

MACHINE = "opteron-4x4"
NODES, CORES = 4, 4
NEIGHBOURS = {0: (0, 1, 3), 1: (1, 0, 2), 2: (2, 1, 3), 3: (3, 2, 0)}  # a square: the fourth node is opposite
SHARE = 0.15
STREAM_OF_TRAFFIC = 24 / 32  # STREAM counts three of the four lines that triad moves: a written line is fetched first

LOADED = (
    "every miss asks all other nodes whether they have the line, so busy nodes slow each other down; no given figure "
    "tells by how much"
)
SPREAD = "the description does not have how many requests a node may have under way"


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the comparison with table 1: MB/s as STREAM counts them, a quarter of all where every node is busy."""
    program = bench.codelet("stream-triad")
    cases: tuple[tuple[str, int, Mapping[int, tuple[int, ...]], str], ...] = (
        ("4 threads on node 0, local memory", 5151, {0: (0,)}, ""),
        ("4 threads on node 0, local and neighbours' memory", 5740, {0: NEIGHBOURS[0]}, SPREAD),
        ("16 threads, local memory, each node", 3635, {node: (node,) for node in range(NODES)}, LOADED),
        ("16 threads, local and neighbours' memory, each node", 2257, NEIGHBOURS, LOADED),
    )
    given, *predicted = (
        within(what, "MB/s", (published, _stream_MBps(bench, program, memory) / len(memory)), SHARE, reason)
        for what, published, memory, reason in cases
    )
    return (
        Comparison(
            source="ForestGOMP, table 1",
            machine=MACHINE,
            used="table 4 (latencies), table 1: 4 threads with local memory 5151 MB/s",
            predicted="the three other figures of table 1",
            claims=(as_given(given), *predicted),
        ),
    )


def _stream_MBps(bench: Bench, program: Program, memory: Mapping[int, tuple[int, ...]]) -> float:
    """Return the bandwidth in MB/s, as STREAM counts it, with each node's share of the arrays on the nodes given."""
    machine = bench.machine(MACHINE)
    threads = [node for node in memory for _ in range(CORES)]
    pages = machine.traced(program, len(threads)).pages
    user = pages.accesses.argmax(axis=1)
    page_node = pages.toucher.copy()
    for index, (address, thread) in enumerate(zip(pages.address, user, strict=True)):
        nodes = memory[threads[thread]]
        page_node[index] = nodes[int(address) % len(nodes)]
    run, _ = machine.run_placed(program, tuple(threads), page_node)
    return traffic_GBps(run) * 1e3 * STREAM_OF_TRAFFIC
