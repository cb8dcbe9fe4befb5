"""Traces that saw different regions are compared by those that all saw: held against traces that saw everything."""

import itertools
import math
import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.seen_regions import COMPARED, compared_in_words, in_common, regions_of
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from numapredict.predictor.advising.confirmation import confirm
from tests.openmp import BUDGET, CAN_TRACE, GCC, MACHINE, build, program_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]
FEW, MANY = "4x2-contiguous-first-touch", "16x2-contiguous-first-touch"


class Forgetful(TraceStore):
    """A store whose traces have not seen some regions, by their number in the census, for each number of threads."""

    def __init__(self, folder: Path, hidden: dict[int, tuple[int, ...]]) -> None:
        super().__init__(MACHINE, BUDGET, folder=folder)
        self.hidden = hidden

    def trace(self, program: Program, threads: int, siblings: int = 1) -> t.Trace:
        found = super().trace(program, threads, siblings)
        keys = [self.census(program).regions[number].key for number in self.hidden.get(threads, ())]
        segments = found.segments.copy()
        segments["flags"][np.isin(segments["region"], np.array(keys, dtype=np.uint64))] |= t.MUTED
        return replace(found, segments=segments)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program_of(build("several.c", tmp_path_factory.mktemp("several"), GCC, "-fno-math-errno"), 60_000)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


def measured(several: Program, cache: Path, **hidden: tuple[int, ...]) -> tuple[Measurement, Measurement]:
    """Return a measurement with few and one with many threads, whose traces have not seen some regions."""
    machine = ModelledMachine(MACHINE, Forgetful(cache, {4: hidden.get("few", ()), 16: hidden.get("many", ())}))
    return machine.run(several, parse_label(FEW)), machine.run(several, parse_label(MANY))


def shortest(several: Program, cache: Path) -> tuple[int, int]:
    """Return the numbers of the two regions with the least native time: on a busy computer one may have nearly all."""
    regions = TraceStore(MACHINE, BUDGET, folder=cache).census(several).regions
    first, second, *_ = sorted(range(len(regions)), key=lambda number: regions[number].time_s)
    return first, second


def ratio(pair: tuple[Measurement, ...]) -> float:
    few, many = (measurement.region_time_s for measurement in pair)
    assert few
    assert many
    return math.log2(few / many)


def test_what_all_saw_is_compared_better_than_what_each_saw(several: Program, cache: Path) -> None:
    true = ratio(measured(several, cache))
    as_they_are, common = [], []
    for few, many in itertools.permutations(range(5), 2):
        pair = measured(several, cache, few=(few,), many=(many,))
        if min(float(dict(m.provenance)["region_time_seen"]) for m in pair) < 0.3:
            continue  # a busy computer gave one region nearly all of the native time
        as_they_are.append(abs(ratio(pair) - true))
        common.append(abs(ratio(in_common(pair)) - true))
    assert len(common) >= 6
    assert statistics.median(common) < 0.5 * statistics.median(as_they_are)


def test_the_times_are_those_of_the_regions_that_all_saw(several: Program, cache: Path) -> None:
    whole = measured(several, cache)
    first, second = shortest(several, cache)
    few, many = in_common(measured(several, cache, few=(first,), many=(second,)))
    for cut, full in ((few, whole[0]), (many, whole[1])):
        keys = [region.key for region in regions_of(full)]
        kept = {region.key: region.time_s for region in regions_of(cut)}
        assert len(kept) == 3
        assert set(kept) < set(keys)
        assert cut.region_time_s == pytest.approx(sum(kept.values()))
        assert COMPARED in dict(cut.provenance)
    (said,) = compared_in_words([few, many])
    share = float(dict(few.provenance)["region_time_seen"])
    assert f"with {share:.0%} of its native region time" in said
    assert in_common([few, many]) == (few, many)


def test_traces_that_saw_the_same_are_left_as_they_are(several: Program, cache: Path) -> None:
    for hidden in ({}, {"few": (1,), "many": (1,)}):
        pair = measured(several, cache, **hidden)
        assert in_common(pair) == pair
        assert compared_in_words(pair) == ()


def test_a_trace_that_saw_next_to_nothing_does_not_cut_the_others(several: Program, cache: Path) -> None:
    few, many = measured(several, cache, few=(0, 1, 2, 3))
    blind = msgspec.structs.replace(
        few, provenance=tuple({**dict(few.provenance), "region_time_seen": "0.010"}.items())
    )
    assert in_common([blind, many]) == (blind, many)


def test_a_verification_and_a_dataset_compare_so(several: Program, cache: Path, tmp_path: Path) -> None:
    first, second = shortest(several, cache)
    machine = ModelledMachine(MACHINE, Forgetful(cache, {4: (first,), 16: (second,)}))
    pair = in_common(measured(several, cache, few=(first,), many=(second,)))
    sides = {label: partial(machine.run, several, label) for label in (parse_label(FEW), parse_label(MANY))}
    found = confirm("several", sides, 1)  # type: ignore[arg-type]
    assert math.log2(found.region_speedup or 0) == pytest.approx(ratio(pair))
    campaign = Campaign(machine, tmp_path / "into", (several,), (parse_label(FEW), parse_label(MANY)), "a test")
    campaign.run()
    times = [m.region_time_s for m in campaign.finish().measurements]
    assert times == pytest.approx([m.region_time_s for m in pair])
