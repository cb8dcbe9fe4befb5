from contextlib import closing

import pytest

from numapredict.collect.campaign.plan import Batch
from numapredict.collect.campaign.workers import Refusal, Result, run_here, run_in_workers
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import MissingNativePartError, UnrunnableProgramError, UsageError
from tests.samples import dataset_of, programs_of

DATASET = dataset_of()
MAPPINGS = tuple(dict.fromkeys(m.mapping for m in DATASET.measurements))
BATCHES = tuple(Batch(program, MAPPINGS) for program in DATASET.programs)


class PickyMachine(RecordedMachine):
    """Refuses program ``q`` and cannot go on at program ``r``."""

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        if program.name == "q":
            raise UnrunnableProgramError("q is a folder")
        if program.name == "r":
            raise MissingNativePartError("the tracer is missing")
        return super().run(program, mapping)


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_workers_hand_back_what_a_single_process_does(jobs: int) -> None:
    machine = RecordedMachine(DATASET)
    here = [result.measurement for result in run_here(machine, BATCHES) if isinstance(result, Result)]
    assert here == list(DATASET.measurements)
    with closing(run_in_workers(machine, BATCHES, jobs)) as results:
        there = [result for result in results if isinstance(result, Result)]
    assert {result.measurement for result in there} == set(here)
    assert len(there) == len(here)
    assert all(result.took_s >= 0 for result in there)


def test_refusals_and_missing_parts_come_back_too() -> None:
    machine = PickyMachine(DATASET)
    refused, missing = (Batch(program, MAPPINGS) for program in programs_of("q", "r"))
    with closing(run_in_workers(machine, [refused, BATCHES[0]], 2)) as results:
        found = list(results)
    assert [result for result in found if isinstance(result, Refusal)] == [Refusal("q", "q is a folder", 6)]
    assert len(found) == 7
    with (
        closing(run_in_workers(machine, [missing], 1)) as results,
        pytest.raises(MissingNativePartError, match="the tracer is missing"),
    ):
        next(results)


def test_workers_are_for_modelled_machines() -> None:
    with pytest.raises(UsageError, match="one program at a time"):
        next(run_in_workers(RecordedMachine(dataset_of(modelled=False)), BATCHES, 2))


def test_workers_stop_when_nobody_wants_more() -> None:
    results = run_in_workers(RecordedMachine(DATASET), BATCHES, 2)
    assert isinstance(next(results), Result)
    results.close()
    assert list(results) == []


def test_no_batches_need_no_workers() -> None:
    assert list(run_in_workers(RecordedMachine(DATASET), [], 2)) == []
