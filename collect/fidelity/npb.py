"""NPB on eight nodes: pages interleaved or by first touch, all cores busy; the published run times as signs.

Each benchmark is stood for by the codelets that do its work. The published runs gain from interleaving throughout, as
programs do whose data one thread has initialised; so do the codelets here.
"""

from scipy.stats import spearmanr

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, at_least, at_most

MACHINE = "lpd48core"
SIZE = "medium"
FIRST_TOUCH, INTERLEAVE = "48x8-contiguous-first-touch", "48x8-contiguous-interleave"
LEAST_GAIN = 0.98  # of the run time: less than two percent is a tie
LEAST_RANKS = 0.7
# Run time interleaved over first touch, on an eight-node machine of AMD; and the codelets of each benchmark's kind.
PUBLISHED: dict[str, tuple[float, tuple[str, ...]]] = {
    "mg": (0.34, ("mg-smooth", "mg-restrict", "mg-prolong")),
    "cg": (0.20, ("spmv-csr", "cg-dot")),
    "ft": (0.64, ("fft-pass", "fft-transpose")),
    "bt": (0.69, ("line-solve-x", "line-solve-y", "line-solve-z")),
    "sp": (0.66, ("penta-solve-x", "adi-step")),
    "lu": (0.91, ("lu-wavefront",)),
    "ep": (0.85, ("ep-pairs",)),
}
NO_MEMORY = (
    "our codelet of ep draws next to nothing from memory, and in that of lu the threads wait for each other; the "
    "published runs gain the least there, too"
)


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the comparison of all benchmarks."""
    shares = {name: _share(bench, codelets) for name, (_, codelets) in PUBLISHED.items()}
    return (
        Comparison(
            source="NPB on eight nodes, interleave and first touch",
            machine=MACHINE,
            used="latencies and bandwidths of another eight-node machine of AMD, no run time",
            predicted="which benchmarks gain, and the order of the gains",
            claims=claims(shares),
        ),
    )


def claims(modelled: dict[str, float]) -> tuple[Claim, ...]:
    """Return the claims on each benchmark's modelled run time, interleaved over first touch, and on their order."""
    names = list(PUBLISHED)
    ranks = spearmanr([PUBLISHED[name][0] for name in names], [modelled[name] for name in names]).statistic
    return (
        *(
            at_most(
                f"{name} ({', '.join(PUBLISHED[name][1])}): interleaved over first touch",
                "x",
                (PUBLISHED[name][0], modelled[name]),
                LEAST_GAIN,
                NO_MEMORY,
            )
            for name in names
        ),
        at_least("order of the seven", "rho", (1.0, float(ranks)), LEAST_RANKS),
    )


def _share(bench: Bench, codelets: tuple[str, ...]) -> float:
    machine = bench.machine(MACHINE)
    programs = [bench.codelet(name, SIZE, "serial") for name in codelets]
    first_touch, interleaved = (
        sum(bench.region_s(machine, program, label) for program in programs) for label in (FIRST_TOUCH, INTERLEAVE)
    )
    return interleaved / first_touch
