from collections.abc import Sequence

import msgspec
import pytest

from numapredict.collect.campaign.plan import ASSUMED_EXECUTION_S, Options, estimate, left_by_program, plan
from numapredict.collect.data.journal import Record
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, order_of
from numapredict.collect.program import Program
from numapredict.native.errors import UsageError
from tests.samples import dataset_of, programs_of

DATASET = dataset_of()
MAPPINGS = tuple(dict.fromkeys(m.mapping for m in DATASET.measurements))
MACHINE = RecordedMachine(DATASET)
CLOCK = RecordedMachine(dataset_of(modelled=False))


def record_of(count: int, took_s: float = 2.0) -> Record:
    return Record(None, DATASET.programs, DATASET.measurements[:count], (took_s,) * count)


def test_everything_is_planned_once_program_by_program() -> None:
    todo = plan(MACHINE, DATASET.programs, [*MAPPINGS, *MAPPINGS], Record(), Options())
    assert [batch.program.name for batch in todo.batches] == ["p0", "p1", "p2"]
    assert all(sorted(batch.mappings, key=order_of) == sorted(MAPPINGS, key=order_of) for batch in todo.batches)
    assert (todo.runs, todo.finished, todo.failed, todo.unsupported) == (18, 0, 0, 0)
    assert left_by_program(todo) == {"p0": 6, "p1": 6, "p2": 6}


def test_a_modelled_machine_meets_each_thread_count_once() -> None:
    todo = plan(MACHINE, DATASET.programs, tuple(reversed(MAPPINGS)), Record(), Options())
    threads = [mapping.threads for mapping in todo.batches[0].mappings]
    assert threads == sorted(threads)
    assert len(set(threads)) > 1


def test_on_a_clock_the_order_is_shuffled_by_the_seed_alone() -> None:
    def order(seed: int) -> list[tuple[Mapping, ...]]:
        todo = plan(CLOCK, DATASET.programs, MAPPINGS, Record(), Options(seed=seed))
        return [batch.mappings for batch in todo.batches]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert len(set(order(1))) > 1  # not the same order for each program


def test_what_is_finished_is_left_out_and_failures_only_on_request() -> None:
    todo = plan(MACHINE, DATASET.programs, MAPPINGS, record_of(8), Options())
    assert [batch.program.name for batch in todo.batches] == ["p1", "p2"]
    assert (todo.runs, todo.finished, todo.failed) == (10, 8, 0)
    everything = plan(MACHINE, DATASET.programs, MAPPINGS, record_of(18), Options())
    assert (everything.batches, everything.finished, everything.failed) == ((), 18, 1)
    again = plan(MACHINE, DATASET.programs, MAPPINGS, record_of(18), Options(retry_failed=True))
    assert [(batch.program.name, batch.mappings) for batch in again.batches] == [
        ("p2", (DATASET.measurements[-1].mapping,))
    ]
    assert (again.finished, again.failed) == (17, 0)


def test_unsupported_mappings_are_counted() -> None:
    todo = plan(MACHINE, DATASET.programs, [*MAPPINGS, Mapping(8, 2, "scatter", 2, "mix")], Record(), Options())
    assert (todo.runs, todo.unsupported) == (18, 1)


def test_names_mean_one_program_each() -> None:
    with pytest.raises(UsageError, match="2 programs are called 'a'"):
        plan(MACHINE, programs_of("a", "b", "a"), MAPPINGS, Record(), Options())
    other = msgspec.structs.replace(DATASET.programs[0], command=("/bin/other",))
    with pytest.raises(UsageError, match="another command"):
        plan(MACHINE, [other], MAPPINGS, record_of(1), Options())


def test_an_estimate_rests_on_finished_runs_first() -> None:
    record = record_of(8)
    todo = plan(MACHINE, DATASET.programs, MAPPINGS, record, Options())
    found = estimate(todo, MACHINE, record, Options())
    assert (found.runs, found.finished, found.time_s) == (10, 8, 20.0)
    assert "8 runs finished" in found.basis
    assert estimate(todo, MACHINE, record, Options(jobs=2)).time_s == 10.0


def test_an_estimate_may_come_from_the_machine() -> None:
    class Knowing(RecordedMachine):
        def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> float | None:
            each_s = {"p0": 1.0, "p1": 10.0}.get(program.name)
            return None if each_s is None else each_s * len(mappings)

    machine = Knowing(DATASET)
    todo = plan(machine, DATASET.programs[:2], MAPPINGS, Record(), Options())
    found = estimate(todo, machine, Record(), Options())
    assert (found.time_s, found.basis) == (66.0, "with the traces that are missing, on 1 core")
    shared = estimate(todo, machine, Record(), Options(jobs=3))
    assert (shared.time_s, shared.basis) == (22.0, "with the traces that are missing, on 3 cores")
    unknown = plan(machine, DATASET.programs, MAPPINGS, Record(), Options())
    assert "assuming" in estimate(unknown, machine, Record(), Options()).basis


def test_an_estimate_without_any_ground_says_so() -> None:
    todo = plan(MACHINE, DATASET.programs, MAPPINGS, Record(), Options())
    found = estimate(todo, MACHINE, Record(), Options())
    assert found.time_s == 18 * ASSUMED_EXECUTION_S
    assert "assuming 10 s for each of 18 executions" in found.basis

    class Repeating(RecordedMachine):
        executions = 6

    assert estimate(todo, Repeating(DATASET), Record(), Options()).time_s == 6 * found.time_s
