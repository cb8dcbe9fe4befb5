"""libgomp: what parallel regions cost on two computers, by estimates from run times of programs with many small ones.

No table of the EPCC OpenMP microbenchmarks for a described machine was found. The estimate from LULESH is unpublished.
"""

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, within
from numapredict.collect.modelled.synchronisation import Synchronisation

SHARE = 0.5  # they are estimates: a run time over a number of regions
USED = "core-to-core latencies, and the rule of README.md, which fits libgomp on a six-core i7-10750H"
# Machine, source, and by threads of each node the time of a region in us.
PUBLISHED: tuple[tuple[str, str, dict[tuple[int, ...], float]], ...] = (
    (
        "cascadelake-2x28",
        "an unpublished estimate: LULESH with 11,375 regions an iteration, on one and two sockets of Cascade Lake",
        {(28,): 4.0, (28, 28): 9.0},
    ),
    (
        "rome-2x64",
        # With all 96 threads it reports 12.4 ms, which no barrier explains.
        "dyninst/dyninst issue 2403, libgomp with slightly fewer than 96 threads on 96 cores of Zen 2",
        {(47, 47): 30.0},
    ),
)


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the comparison with each source; nothing is run."""
    return tuple(
        Comparison(source, name, USED, "the time of an empty region", _claims(bench, name, times))
        for name, source, times in PUBLISHED
    )


def _claims(bench: Bench, name: str, times: dict[tuple[int, ...], float]) -> tuple[Claim, ...]:
    costs = Synchronisation(bench.machine(name).description)
    return tuple(
        within(
            f"a region of {sum(team)} threads on {len(team)} node{'s' if len(team) > 1 else ''}",
            "us",
            (published, costs.waits(thread_nodes(team)).fork_join_ns / 1e3),
            SHARE,
        )
        for team, published in times.items()
    )


def thread_nodes(team: tuple[int, ...]) -> tuple[int, ...]:
    """Return each thread's node for a team given as numbers of threads on nodes 0, 1, ..."""
    return tuple(node for node, threads in enumerate(team) for _ in range(threads))
