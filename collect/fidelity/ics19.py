"""ICS'19 (Popov et al.), fig. 7: the oracle's speedup over the suite on both machines, from the shipped datasets."""

import importlib.resources
import logging
import statistics

from numapredict.collect.data.dataset import read_dataset
from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, within
from numapredict.collect.mapping import Mapping

SHARE = 0.25
MACHINES = {"sandybridge-4x8": (2.48, 2.23), "broadwell-2x10": (1.4, None)}  # mean, median (sec. 4.3, 4.4)
REASON = (
    "half of our suite initialises serially and gains much, half in parallel and gains next to nothing, so the median "
    "falls between the two; the mean too is that of this mixture, and not of the regions of NAS and Rodinia"
)
USED = "figures of other papers about the same processor"

log = logging.getLogger(__name__)


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the comparison for each machine whose dataset is there; nothing is run."""
    return tuple(
        Comparison("ICS'19, fig. 7 and 8", name, USED, "mean and median over the suite", claims)
        for name in MACHINES
        if (claims := _claims(name))
    )


def _claims(name: str) -> tuple[Claim, ...]:
    folder = importlib.resources.files("numapredict.training_data") / name
    if not (folder / "dataset.json").is_file():
        log.info(f"{name}: no dataset of its own is installed, so nothing to compare with ICS'19")
        return ()
    with importlib.resources.as_file(folder) as path:
        dataset = read_dataset(path)
    topology = dataset.topology
    assert topology is not None  # noqa: S101 - a shipped dataset has one
    # The baseline of ICS'19, footnote 1: all cores, scattered threads, first touch.
    default = Mapping(topology.core_count, len(topology.nodes), "scatter", len(topology.nodes), "first-touch")
    frame = dataset.frame()
    clock = frame["region_time_s"].fillna(frame["time_s"])  # ICS'19 speaks of regions
    times = clock.groupby([frame["program"], frame["mapping"]], observed=True).median().unstack()
    speedups = (times[default.label] / times.min(axis="columns")).dropna()
    mean, median = MACHINES[name]
    halves = ", ".join(
        f"{statistics.fmean(gains):.2f} of those with {kind} initialisation"
        for kind in ("serial", "parallel")
        if len(gains := speedups[speedups.index.str.endswith(kind)])
    )
    what = f"oracle speedup over {default.label}, {len(speedups)} programs (mean {halves})"
    claims = [within(f"{what}: arithmetic mean", "x", (mean, statistics.fmean(speedups)), SHARE, REASON)]
    if median is not None:
        claims.append(within(f"{what}: median", "x", (median, statistics.median(speedups)), SHARE, REASON))
    return tuple(claims)
