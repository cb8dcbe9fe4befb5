"""Dask's client and workers are stood in for here: tests/integration/test_dask.py has real ones."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from types import SimpleNamespace
from typing import Any

import distributed
import msgspec
import pytest

from numapredict.collect.campaign.dask_workers import Answer, Task, run_on_scheduler, run_task, tasks_of
from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.campaign.plan import Batch
from numapredict.collect.campaign.workers import Refusal, Result
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import parse_label
from numapredict.collect.program import program_of
from numapredict.native.errors import FailedRunsError, InvalidInputError, MissingNativePartError
from tests.samples import dataset_of, measurement_of, programs_of, topology_of

MACHINE = RecordedMachine(dataset_of())
MAPPINGS = tuple(
    parse_label(label) for label in ("2x1-contiguous-bind", "2x2-contiguous-locality", "4x2-contiguous-locality")
)
BATCHES = tuple(Batch(program, MAPPINGS) for program in programs_of("p", "q"))


class Cluster:
    """Answers each task when its turn comes, as worker ``w``, and notes where it was to run."""

    def __init__(self, answer: Callable[[Task], Answer]) -> None:
        self.tasks: list[tuple[str, int, str | None]] = []
        self._answer = answer
        self._waiting: deque[SimpleNamespace] = deque()

    def submit(
        self, _run: object, _machine: Machine, task: Task, *, priority: int, workers: str | None, **_: object
    ) -> SimpleNamespace:
        self.tasks.append((task.batch.program.name, priority, workers))
        return SimpleNamespace(key=len(self.tasks), result=lambda: self._answer(task))

    def add(self, future: SimpleNamespace) -> None:
        self._waiting.append(future)

    def __iter__(self) -> Iterator[SimpleNamespace]:
        while self._waiting:
            yield self._waiting.popleft()


def results(monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> list[Result | Refusal]:
    monkeypatch.setattr(distributed, "as_completed", lambda: cluster)
    client: Any = cluster
    return list(run_on_scheduler(client, MACHINE, BATCHES))


def test_a_task_is_a_program_with_one_number_of_threads_and_its_worker_gets_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [len(task.batch.mappings) for task in tasks_of(BATCHES[0], "digest")] == [2, 1]
    assert [task.first for task in tasks_of(BATCHES[0], "digest")] == [True, False]

    def answer(task: Task) -> Answer:
        name, topology = task.batch.program.name, topology_of()
        return Answer("w", tuple(Result(measurement_of(name, m, topology), 1.0) for m in task.batch.mappings))

    cluster = Cluster(answer)
    found = [result.measurement for result in results(monkeypatch, cluster) if isinstance(result, Result)]
    assert {(m.program, m.mapping) for m in found} == {(b.program.name, m) for b in BATCHES for m in MAPPINGS}
    assert len(found) == 6
    assert cluster.tasks == [("p", 0, None), ("q", -1, None), ("p", 0, "w"), ("q", -1, "w")]


def test_a_refused_program_is_left_with_all_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(
        lambda task: Answer("w", (Refusal(task.batch.program.name, "no room", len(task.batch.mappings)),))
    )
    assert results(monkeypatch, cluster) == [Refusal(name, "Dask worker w: no room", 3) for name in ("p", "q")]
    assert len(cluster.tasks) == 2


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (distributed.KilledWorker("t", SimpleNamespace(address="w"), 3), FailedRunsError, "died while running 'p'"),
        (CancelledError(), FailedRunsError, "the Dask scheduler is gone; run the same command again"),
        (None, MissingNativePartError, "^Dask worker w: no QEMU$"),
    ],
)
def test_what_ends_a_campaign_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, expected: type[Exception], message: str
) -> None:
    def answer(_task: Task) -> Answer:
        if error is not None:
            raise error
        return Answer("w", (MissingNativePartError("no QEMU"),))

    with pytest.raises(expected, match=message):
        results(monkeypatch, Cluster(answer))


def test_a_worker_of_another_version_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="w"))
    (task, _) = tasks_of(Batch(MACHINE.dataset.programs[0], BATCHES[0].mappings), "")
    (refused,) = run_task(MACHINE, msgspec.structs.replace(task, version="another")).messages
    assert isinstance(refused, InvalidInputError)
    assert "or numapredict is another version" in str(refused)
    assert not any(isinstance(message, InvalidInputError) for message in run_task(MACHINE, task).messages)


@pytest.mark.native
def test_only_before_a_programs_first_run_its_files_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="w"))
    machine = modelled_machine("sandybridge-4x8")
    monkeypatch.setattr(machine, "run", lambda program, _mapping: machine.store.census(program))
    keys: list[str] = []
    monkeypatch.setattr(machine.store, "census", lambda program: keys.append(machine.store._key(program)))
    first, later = tasks_of(Batch(program_of((sys.executable,)), MAPPINGS), "of earlier")
    assert "is another program there" in str(run_task(machine, first).messages[0])
    run_task(machine, later)
    assert keys == ["of earlier"]
