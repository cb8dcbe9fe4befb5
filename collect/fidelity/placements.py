"""MCTOP's run times (EuroSys'17): close against spread threads, as many of both, on two machines.

A rank correlation over all mappings mostly shows that more threads are faster. Here only threads' places differ.

Each program is compared by two codelets: by that of the same work, and by that of the same limit. The limit was read
off how the program's time changes with the number of cores, of run times with close threads alone.
"""

from functools import partial
from statistics import geometric_mean

from scipy.stats import spearmanr

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, at_least, within

# The Metis program and the codelet that does the same work.
WORK = {
    "kmeans": "kmeans-assignment",
    "hist": "histogram",
    "mean": "cg-dot",
    "wc": "is-ranking",
    "matrix_mult": "matrix-product",
}
# The codelet that is limited by the same. Of lpdxeon2680's run times with MIN_LAT_CORES, those with 20 threads (two
# nodes) over those with 10 (one node) are 1.52 for mean and 1.24 for kmeans: the threads wait for what they hand each
# other. They are 0.60 for hist, which shares nothing, as the codelet histogram does, 0.54 for wc and 0.51 for
# matrix_mult.
LIMIT = {**WORK, "kmeans": "locked-merge", "mean": "locked-merge", "hist": "kmeans-assignment"}
SIZE = "medium"
# Machine, threads, nodes that are close, and each program's run times in ms: MIN_LAT_CORES, BW_ROUND_ROBIN_CORES.
Times = dict[str, tuple[float, float]]
MEASURED: tuple[tuple[str, int, int, Times], ...] = (
    (
        "lpdxeon2680",
        10,
        1,
        {
            "kmeans": (800, 1274),
            "hist": (339, 346),
            "mean": (1709, 2590),
            "wc": (1600, 1429),
            "matrix_mult": (3982, 3998),
        },
    ),
    (
        "lpdquad",
        12,
        1,
        {
            "kmeans": (846, 1860),
            "hist": (1901, 1904),
            "mean": (1737, 3105),
            "wc": (1604, 1175),
            "matrix_mult": (2752, 2607),
        },
    ),
    (
        "lpdquad",
        24,
        2,
        {
            "kmeans": (1277, 1484),
            "hist": (1019, 983),
            "mean": (2639, 3121),
            "wc": (837, 720),
            "matrix_mult": (1422, 1427),
        },
    ),
)
LEAST_RANKS = 0.5
WAIT = ("kmeans", "mean")
SHARE = 0.25
OTHER_PROGRAMS = (
    "kmeans and mean are slower on 20 cores of two nodes than on 10 of one: their threads wait for each other, those "
    "of codelets of the same work do not"
)


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the comparison for each machine and number of threads."""
    return tuple(
        Comparison(
            source=f"MCTOP, runtimes.csv: {threads} threads close and spread",
            machine=name,
            used="latencies and bandwidths, no run time",
            predicted="which programs gain from spread threads",
            claims=(
                claim("work", times, {code: ratio(WORK[code]) for code in times}),
                claim("limit", times, {code: ratio(LIMIT[code]) for code in times}),
                waiting(times, ratio("locked-merge")),
            ),
        )
        for name, threads, close, times in MEASURED
        for ratio in [partial(_ratio, bench, name, threads, close)]
    )


def claim(alike: str, times: Times, modelled: dict[str, float]) -> Claim:
    """Return the claim on the order of the programs by their run time with spread over close threads.

    ``alike``: what the programs and their codelets have in common.
    """
    published = {code: spread / close for code, (close, spread) in times.items()}
    ranks = float(spearmanr([published[code] for code in times], [modelled[code] for code in times]).statistic)
    each = ", ".join(f"{code} {modelled[code]:.2f} ({published[code]:.2f})" for code in times)
    quantity = f"order by run time, spread over close, of codelets of the same {alike} (published): {each}"
    return at_least(quantity, "rho", (1.0, ranks), LEAST_RANKS, OTHER_PROGRAMS)


def waiting(times: Times, modelled: float) -> Claim:
    """Return the claim on programs whose threads wait for each other, the mean of two, and the codelet locked-merge."""
    published = geometric_mean(times[code][1] / times[code][0] for code in WAIT)
    return within(f"spread over close, {' and '.join(WAIT)}: locked-merge", "x", (published, modelled), SHARE)


def _ratio(bench: Bench, name: str, threads: int, close: int, codelet: str) -> float:
    machine, program = bench.machine(name), bench.codelet(codelet, SIZE)
    near = f"{threads}x{close}-contiguous-{'bind' if close == 1 else 'first-touch'}"
    far = f"{threads}x{len(machine.description.nodes)}-contiguous-first-touch"
    return bench.region_s(machine, program, far) / bench.region_s(machine, program, near)
