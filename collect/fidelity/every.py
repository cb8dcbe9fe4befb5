"""Every comparison by name, in the order of the table."""

from collections.abc import Callable

from numapredict.collect.fidelity import determinism, forestgomp, ics19, libgomp, mctop, npb, placements, thesis
from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Comparison

EVERY: dict[str, Callable[[Bench], tuple[Comparison, ...]]] = {
    "forestgomp": forestgomp.comparisons,
    "mctop": mctop.comparisons,
    "thesis": thesis.comparisons,
    "ics19": ics19.comparisons,
    "libgomp": libgomp.comparisons,
    "npb": npb.comparisons,
    "placements": placements.comparisons,
    "determinism": determinism.comparisons,
}
