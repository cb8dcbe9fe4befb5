"""Regions whose instances differ by size: what the census lists of them, and how well a few represent all."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.instance_classes import instance_classes
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import take_census
from numapredict.collect.placing.census import CensusRegion, parse_census
from numapredict.collect.program import Program
from tests.openmp import BUDGET, CAN_TRACE, CLANG, GCC, MACHINE, build, program_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]

POINTS, CYCLES = 200_000, 30
MAPPINGS = ("16x2-contiguous-first-touch", "16x2-contiguous-locality", "16x2-scatter-interleave")


def levels(folder: Path, compiler: str, *arguments: object) -> Program:
    if not compiler:
        pytest.skip("the compiler is not installed")
    return program_of(build("levels.c", folder, compiler), *arguments)


def region_of(program: Program) -> CensusRegion:
    """Return a program's only region, from a native run."""
    census = parse_census(take_census(program, BUDGET))
    assert census is not None
    (region,) = census.regions
    return region


@pytest.mark.parametrize("compiler", [GCC, CLANG], ids=["gcc", "clang"])
def test_the_work_of_first_instances_is_listed_in_order_and_grouped_by_size(compiler: str, tmp_path: Path) -> None:
    region = region_of(levels(tmp_path, compiler, "levels", POINTS, 100))
    assert region.count == 600
    assert len(region.work_s) == 512
    work = np.array(region.work_s[:510]).reshape(-1, 6)  # a cycle goes down to the smallest grid and up again
    largest, second, third, smallest, *up = np.median(work, axis=0)
    assert largest > 4 * second > 4 * third > 4 * smallest
    assert (
        np.abs(np.log(np.divide(up, [third, second]))).max() < np.log(8) / 2
    )  # nearer to their own size than to the next
    found = instance_classes(region)
    assert found is not None
    assert found.count[-1] == pytest.approx(100, abs=10)


@pytest.mark.parametrize("kind", ["alike", "single"])  # whoever of the team does the work
def test_instances_of_equal_size_make_no_classes(kind: str, tmp_path: Path) -> None:
    program = levels(tmp_path, GCC, kind, POINTS, 100)
    # A busy computer may slow a part of one run of three; what the team shares out differently is so in each.
    assert sum(instance_classes(region_of(program)) is None for _ in range(3)) >= 2


def region_times_s(program: Program, folder: Path, **limits: float) -> Mapping[str, float]:
    """Return the modelled time of a program's regions under each mapping."""
    budget = msgspec.structs.replace(BUDGET, **limits)
    machine = ModelledMachine(MACHINE, TraceStore(MACHINE, budget, folder))
    found = {}
    for label in MAPPINGS:
        (repetition,) = machine.run(program, parse_label(label)).repetitions
        assert repetition.region_time_s is not None
        found[label] = repetition.region_time_s
    return found


def test_some_instances_of_each_size_represent_all(tmp_path: Path) -> None:
    program = levels(tmp_path, GCC, "levels", POINTS, CYCLES)
    for turn in range(3):  # which thread has which part, and so its misses, is another in each run on a busy computer
        folder = tmp_path / str(turn)
        whole = region_times_s(program, folder, instances=10_000, records=3_000_000)
        some = region_times_s(program, folder)
        if some == pytest.approx(whole, rel=0.15):
            break
    assert some == pytest.approx(whole, rel=0.15)
