"""The golden figures: a name each, and what makes its data."""

from collections.abc import Callable

import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placement import resolve
from numapredict.collect.placing.profile_file import parse_profile
from numapredict.predictor.evaluation.budget_curve import BudgetCurve, CurvePoint
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.evaluation.evaluate import Evaluations, together
from numapredict.predictor.evaluation.thesis import sweeps_of
from numapredict.predictor.learning.features import observe
from numapredict.reports.accuracy import AccuracyData, accuracy_data
from numapredict.reports.budget_curve import BudgetCurvesData, budget_curves_data
from numapredict.reports.calibration import CalibrationData, calibration_data
from numapredict.reports.characterisation.page_policies import PolicyTimesData, policy_times_data
from numapredict.reports.characterisation.times import TimesData, times_data
from numapredict.reports.characterisation.traffic import TrafficData, traffic_data
from numapredict.reports.clustermap import ClustermapData, clustermap_data
from numapredict.reports.placed_mapping import PlacedMappingData, placed_mapping_data
from numapredict.reports.region_gains import RegionGainsData, region_gains_data
from numapredict.reports.related_work import RelatedData, related_data
from numapredict.reports.source import Origin, origin_of
from numapredict.reports.sweep_curves import SweepCurvesData, sweep_curves_data
from numapredict.reports.topology_map import TopologyMapData, described_map_data
from tests.evaluations import DEFAULT, OTHER, evaluation, held_out
from tests.planted import four_by_eight, planted_dataset
from tests.profiles import profile_bytes
from tests.replayed import on_a_server
from tests.unit.collect.campaign.characterisation.test_result import characterised

ORIGIN = Origin(machine="two", modelled=True, created="2025-01-01T00:00:00Z", made_by="tests")


def evaluations() -> Evaluations:
    """Return twelve programs in turn kept, advised a probe, and advised something else; some of these are misses."""
    programs = []
    for n in range(12):
        mapping, oracle = (DEFAULT, OTHER)[n % 2], 1.5 + n / 4
        speedup = 1.0 if mapping == DEFAULT else oracle / (1 + n / 50)
        ways = {"default": 1.0, "fixed": 0.8 * oracle, "wang oracle": 0.9 * oracle, "thesis recipe": 0.7 * oracle}
        runs = [Forecast(oracle, 0.9 * oracle, 1.1 * oracle, 0.1 * n, speedup), Forecast(1.0, 0.5, 1.5, 0.3, 0.8)]
        ways |= {"search of 2 runs": 0.95 * speedup, "oracle": oracle}
        programs.append(held_out(f"program-{n}", speedup, oracle, *runs, mapping=mapping, baselines=ways))
    return together([evaluation("planted-4x8", programs)])


def clustermap() -> ClustermapData:
    """Return 12 programs of five kinds."""
    return clustermap_data(planted_dataset(12), n_clusters=5)


def sweeps() -> SweepCurvesData:
    """Return the same programs' curves."""
    dataset = planted_dataset(12)
    return sweep_curves_data(sweeps_of(observe(dataset), four_by_eight()), origin_of(dataset))


def related() -> RelatedData:
    """Return the evaluation's bars, and table 1 on 4 x 8 cores."""
    return related_data(evaluations(), [four_by_eight()])


def accuracy() -> AccuracyData:
    """Return the evaluation's points and regrets."""
    return accuracy_data(evaluations())


def topology() -> TopologyMapData:
    """Return a machine with wires."""
    return described_map_data(load_description("sandybridge-4x8"))


def mapping() -> PlacedMappingData:
    """Return a mapping whose pages the program decides on."""
    return placed_mapping_data(resolve(parse_label("12x3-scatter-mix@4"), load_description("sandybridge-4x8").topology))


def profiled() -> PlacedMappingData:
    """Return a mapping whose pages a profile decides on."""
    samples = [(page, page % 16, 1.0 + page % 3) for page in range(0, 64, 2)]
    profile = parse_profile(profile_bytes([(64, samples), (16, [(0, 15, 1.0)])], 16))
    where = load_description("sandybridge-4x8").topology
    return placed_mapping_data(resolve(parse_label("16x2-contiguous-locality"), where), profile)


def calibration() -> CalibrationData:
    """Return the evaluation's bins."""
    return calibration_data(evaluations())


def budget() -> BudgetCurvesData:
    """Return two curves, of which one gains nothing with all runs."""
    points = tuple(
        CurvePoint(
            share=share, pilots=4, mappings=9, gain_captured=share, low=share / 2, high=share + 0.1, by_chance=share / 4
        )
        for share in (0.1, 0.3, 0.5)
    )
    curve = BudgetCurve(machine="planted-4x8", modelled=True, programs=12, mappings=23, full=0.8, points=points)
    return budget_curves_data(
        [curve, msgspec.structs.replace(curve, machine="flat", full=0.0)],
        [origin_of(planted_dataset(2), DEFAULT.label), Origin(machine="flat", modelled=True)],
    )


def times() -> TimesData:
    """Return a program's times on two nodes of two cores."""
    return times_data(characterised(), ORIGIN)


def policies() -> PolicyTimesData | None:
    """Return the same program's times by page policy."""
    return policy_times_data(characterised(), ORIGIN)


def accesses() -> TrafficData | None:
    """Return its accesses by node."""
    return traffic_data(characterised(), "accesses", ORIGIN)


def bandwidth() -> TrafficData | None:
    """Return its bandwidth by node, with the described peaks."""
    return traffic_data(msgspec.structs.replace(characterised(), controllers_GBps=(4.0, 5.0)), "bandwidth", ORIGIN)


def regions() -> RegionGainsData:
    """Return twelve regions on four nodes, of which some could not be replayed."""
    return region_gains_data(on_a_server())


FIGURES: dict[str, Callable[[], object]] = {
    made.__name__: made
    for made in (
        clustermap,
        sweeps,
        related,
        accuracy,
        calibration,
        budget,
        topology,
        mapping,
        profiled,
        times,
        policies,
        accesses,
        bandwidth,
        regions,
    )
}
