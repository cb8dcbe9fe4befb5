"""A made-up answer of `regions -o FILE`: a server of four nodes, twelve regions, nine mappings, and what can fail."""

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.regions.one_mapping import one_mappings
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions

BASELINE = "32x4-contiguous-first-touch"
BIND, HALF, SPREAD, QUARTER, SCATTER, LOCAL, ONE, FEW = (
    "8x1-contiguous-bind",
    "16x2-contiguous-first-touch",
    "32x4-contiguous-interleave",
    "8x4-scatter-interleave",
    "32x4-scatter-first-touch",
    "16x4-scatter-first-touch",
    "1x1-contiguous-bind",
    "4x1-contiguous-bind",
)
NO_WRITE = "it makes the system call write, whose effects would be seen outside"
NO_MEMORY = "there is too little memory for a copy of the program"


def gain(mapping: str, speedup: float, lowest: float, rounds: int, base_s: float = 0.012) -> Gain:
    return Gain(mapping, base_s / speedup, speedup, lowest, rounds)


def region(function: str, line: int, share: float, *gains: Gain, team: int = 32, **fields: object) -> ReplayedRegion:
    """Return a region of a program whose regions take 80 s."""
    place = Place("/opt/app/solver", line, (Frame(f"{function}._omp_fn.0", "/home/me/solver/src/solver.cc", line),))
    known = {"instance": 4, "replay_s": 0.4, "replay_ratio": 1.0} if gains else {}
    return ReplayedRegion(
        name=f"{function}._omp_fn.0", module="/opt/app/solver", offset=line, count=100 * line, time_s=80 * share,
        share=share, team=team, place=place, gains=gains, **(known | fields),
    )  # fmt: skip


def base(time_s: float = 0.012) -> Gain:
    return gain(BASELINE, 1.0, 1.0, 7, time_s)


def on_a_server() -> ReplayedRegions:
    """Return the answer; one mapping was replayed in every region."""
    failed = Gain(ONE, None, None, problem="the replay took longer than allowed")
    regions = (
        region("sweep", 812, 0.24, base(0.031), gain(SPREAD, 2.61, 2.55, 3, 0.031), gain(LOCAL, 1.42, 1.42, 1),
               gain(BIND, 0.31, 0.31, 1), gain(HALF, 0.74, 0.74, 1), failed),
        region("void Domain<double, 3>::gather_element_contributions(std::vector<Element> const&, Halo&)", 1190, 0.17,
               base(), gain(SPREAD, 1.84, 1.79, 4), gain(SCATTER, 1.9, 0.97, 3), gain(LOCAL, 1.12, 1.12, 1)),
        region("spmv", 377, 0.13, base(), gain(SPREAD, 1.36, 1.3, 3), gain(SCATTER, 1.05, 1.05, 1)),
        region("assemble", 95, 0.11, base(), gain(SPREAD, 0.92, 0.92, 1), gain(BIND, 0.4, 0.4, 1), replay_ratio=0.31),
        region("smooth", 640, 0.08, base(), gain(SPREAD, 1.22, 1.2, 3), gain(QUARTER, 1.6, 1.51, 3),
               gain(LOCAL, 1.3, 0.99, 3)),
        region("sum_of_squares", 58, 0.06, base(0.0002), gain(SPREAD, 0.55, 0.55, 1), gain(FEW, 7.9, 7.1, 3),
               gain(BIND, 6.1, 6.1, 1), Gain(ONE, None, None, problem=NO_MEMORY)),
        region("exchange_halo", 455, 0.05, base(), gain(SPREAD, 0.98, 0.98, 1), gain(HALF, 1.01, 0.98, 3)),
        region("set_boundary", 702, 0.04, base(), gain(SPREAD, 1.0, 1.0, 1), gain(QUARTER, 0.8, 0.8, 1), team=8),
        region("write_checkpoint", 1501, 0.05, Gain(BASELINE, None, None, problem=NO_WRITE), replay_ratio=None),
        region("initialise", 33, 0.03, problem="it ran once: what comes once or twice is not"),
        region("limit", 590, 0.02, problem="an instance takes less than 5 us"),
        region("norm", 61, 0.02, problem="an instance takes less than 5 us"),
    )  # fmt: skip
    return ReplayedRegions(
        command=("./solver", "-n", "400", "mesh.dat"),
        machine="server-4x8",
        baseline=BASELINE,
        exit_code=0,
        signal=None,
        wall_s=112.0,
        replay_s=21.0,
        region_time_s=80.0,
        regions=regions,
        one_mapping=one_mappings(regions),
        notes=(f"baseline: {BASELINE}; a replay is the median of three or more in a fork of the program",),
    )
