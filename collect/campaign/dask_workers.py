"""Run the batches of a plan on the workers of a Dask scheduler, and hand each result back as soon as it is here.

A task is a program with one number of threads: a trace, and what is modelled from it. The next one of a program begins
when the one before it has ended, so that no two workers count the same program's regions, and on the same worker if it
is still there. Of a worker that is killed, Dask gives the task to another one.
"""

import itertools
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import msgspec

from numapredict.collect.campaign.plan import Batch
from numapredict.collect.campaign.workers import Refusal, Result, results_of
from numapredict.collect.machine import Machine
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.program import Program
from numapredict.native.errors import (
    FailedRunsError,
    InvalidInputError,
    NumapredictError,
    UnrunnableProgramError,
)
from numapredict.native.version import version

if TYPE_CHECKING:
    from distributed import Client, Future

AGAIN = "run the same command again, finished runs are kept"


class Task(msgspec.Struct, frozen=True):
    """A batch for a worker, the digest of what it runs, and our version; ``first`` of its program's tasks or not."""

    batch: Batch
    digest: str
    version: str
    first: bool


class Answer(msgspec.Struct, frozen=True):
    """What a worker hands back of a task: results, refusals, and last the error that ends the campaign, if any."""

    worker: str
    messages: tuple[object, ...]


def run_on_scheduler(
    client: "Client", machine: Machine, batches: Sequence[Batch]
) -> Generator[Result | Refusal, None, None]:
    """Run batches on the workers of the client's scheduler; the machine has to be picklable, and modelled.

    Close the iterator, however it ends. A worker that would run something else than this computer ends the campaign
    (InvalidInputError), and so do workers that die of the same task (FailedRunsError).
    """
    from distributed import as_completed

    ended = as_completed()  # type: ignore[no-untyped-call]
    waiting: dict[object, tuple[int, deque[Task]]] = {}

    def submit(number: int, tasks: deque[Task], worker: str | None) -> None:
        future = client.submit(
            run_task,
            machine,
            tasks.popleft(),
            pure=False,
            priority=-number,  # of those that wait, the first program's is first
            workers=worker,
            allow_other_workers=worker is not None,
        )
        waiting[future.key] = number, tasks
        ended.add(future)  # type: ignore[no-untyped-call]

    for number, batch in enumerate(batches):
        try:
            digest = digest_of(machine, batch.program)
        except UnrunnableProgramError as error:
            yield Refusal(batch.program.name, str(error), len(batch.mappings))
            continue
        submit(number, deque(tasks_of(batch, digest)), None)
    for future in ended:
        number, tasks = waiting.pop(future.key)
        answer = _answer(future, batches[number].program)
        refused = any(isinstance(message, Refusal) for message in answer.messages)
        left = 0
        if refused:
            left = sum(len(task.batch.mappings) for task in tasks)
        elif tasks:
            submit(number, tasks, answer.worker)
        for message in answer.messages:
            if isinstance(message, NumapredictError):
                raise type(message)(f"Dask worker {answer.worker}: {message}")
            if isinstance(message, Refusal):
                yield Refusal(message.program, f"Dask worker {answer.worker}: {message.reason}", message.runs + left)
            elif isinstance(message, Result):
                yield message


def tasks_of(batch: Batch, digest: str) -> list[Task]:
    """Return a batch's tasks in its order: one a number of threads."""
    parts = [tuple(part) for _, part in itertools.groupby(batch.mappings, key=lambda mapping: mapping.threads)]
    return [Task(Batch(batch.program, part), digest, version(), first=not number) for number, part in enumerate(parts)]


def digest_of(machine: Machine, program: Program) -> str:
    """Return a digest of all that decides what a program does here, as it is now; raise UnrunnableProgramError.

    Machines that run nothing have none.
    """
    return machine.store.digest(program) if isinstance(machine, ModelledMachine) else ""


def run_task(machine: Machine, task: Task) -> Answer:
    """Run a task on the worker that calls this."""
    from distributed import get_worker

    program = task.batch.program
    worker: str = get_worker().address
    try:
        digest = digest_of(machine, program)
        # Later on a file that its arguments name may be one that the program has written.
        if task.version != version() or (task.first and task.digest != digest):
            raise InvalidInputError(
                f"{program.name!r} is another program there, or has other input, or numapredict is another version;"
                f" make them the same, and {AGAIN}"
            )
        if isinstance(machine, ModelledMachine):
            machine.store.keep_key(program, task.digest)
        return Answer(worker, tuple(results_of(machine, task.batch)))
    except (InvalidInputError, UnrunnableProgramError) as error:
        return Answer(worker, (error,))


def _answer(future: "Future[Any]", program: Program) -> Answer:
    from distributed import KilledWorker

    try:
        answer = future.result()
    except KilledWorker as error:
        raise FailedRunsError(
            f"Dask workers died while running {program.name!r}, perhaps for lack of memory; {AGAIN}"
        ) from error
    except CancelledError as error:
        raise FailedRunsError(f"the Dask scheduler is gone; {AGAIN}") from error
    if not isinstance(answer, Answer):
        raise AssertionError("a task hands back nothing else")
    return answer
