"""Run the batches of a plan, here or in several processes, and hand each result back as soon as there is one.

The processes are started and ended here, and not by an executor. Tried were ``concurrent.futures.ProcessPoolExecutor``
(Python 3.11, spawn, in a ``with`` block) and ``joblib.Parallel``, with two workers and tasks of about 20 s:

- After SIGKILL of the campaign, the workers of both were still there 25 s later.
- On Ctrl-C the first waited 22 s, and 39 s where the signal reached the campaign alone, until what ran had ended. The
  second ended in about 1 s: it kills its workers (SIGKILL), so that nothing in them could clean up.
- The error after a worker's death does not say which task it had.
- A result comes when its task ends. With a batch as the task, a killed campaign would lose a program's finished runs;
  with a run as the task, no worker would keep the program whose traces it has.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import msgspec

from numapredict.collect.campaign.plan import Batch
from numapredict.collect.machine import Machine
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import (
    FailedRunsError,
    MissingNativePartError,
    NumapredictError,
    UnwritableError,
    UsageError,
)

_STOP_TIMEOUT_S = 5.0


class Result(msgspec.Struct, frozen=True):
    """A measurement and the wall time that it took, in seconds."""

    measurement: Measurement
    took_s: float


class Refusal(msgspec.Struct, frozen=True):
    """A program that the machine cannot run, and how many of its runs are left out for that."""

    program: str
    reason: str
    runs: int


def run_here(machine: Machine, batches: Sequence[Batch]) -> Generator[Result | Refusal, None, None]:
    """Run batches one after the other; a program that the machine refuses is left.

    A missing native part or an unwritable folder ends all runs: the others would fail as well.
    """
    for batch in batches:
        for index, mapping in enumerate(batch.mappings):
            started = time.perf_counter()
            try:
                measurement = machine.run(batch.program, mapping)
            except (MissingNativePartError, UnwritableError):
                raise
            except NumapredictError as error:
                yield Refusal(batch.program.name, str(error), len(batch.mappings) - index)
                break
            yield Result(measurement, time.perf_counter() - started)


def run_in_workers(machine: Machine, batches: Sequence[Batch], jobs: int) -> Generator[Result | Refusal, None, None]:
    """Run batches in up to ``jobs`` processes, a program at a time in each, so that each keeps its traces.

    Close the iterator, however it ends: that stops the processes. The machine has to be picklable, and modelled:
    programs that run at the same time would disturb each other's clocks.
    """
    if not machine.modelled:
        raise UsageError(f"{machine.name} measures by the clock and runs one program at a time; leave out --jobs")
    waiting = deque(batches)
    processes: list[BaseProcess] = []
    links: dict[Connection, str] = {}
    try:
        for _ in range(min(jobs, len(batches))):
            process, link = _start(machine)
            processes.append(process)
            links[link] = _next(link, waiting)
        while links:
            for ready in wait(list(links)):
                link = _connection(ready)
                message = _receive(link, links[link])
                if isinstance(message, NumapredictError):
                    raise message
                if isinstance(message, Result | Refusal):
                    yield message
                elif waiting:
                    links[link] = _next(link, waiting)
                else:
                    _send(link, None, links.pop(link))
                    link.close()
    finally:
        _stop(processes, links)


def _start(machine: Machine) -> tuple[BaseProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(machine, theirs), daemon=True)
    resource_tracker.ensure_running()  # where it has yet to be started, that unblocks the signals
    # A Ctrl-C reaches the whole process group; the worker handles it once it is ready, without a traceback.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return process, ours


def _next(link: Connection, waiting: deque[Batch]) -> str:
    batch = waiting.popleft()
    _send(link, batch, batch.program.name)
    return batch.program.name


def _send(link: Connection, message: object, running: str) -> None:
    try:
        link.send(message)
    except OSError as error:
        raise _death(running) from error


def _receive(link: Connection, running: str) -> object:
    try:
        return link.recv()
    except (EOFError, OSError) as error:
        raise _death(running) from error


def _death(running: str) -> FailedRunsError:
    return FailedRunsError(
        f"a worker died while running {running!r}, perhaps for lack of memory; run the same command again with fewer"
        " --jobs, finished runs are kept"
    )


def _connection(ready: object) -> Connection:
    if not isinstance(ready, Connection):
        raise AssertionError("only connections are waited for")
    return ready


def _stop(processes: list[BaseProcess], links: dict[Connection, str]) -> None:
    """Let idle workers end, interrupt the others so that they stop their programs, and kill those still running."""
    for link in links:
        link.close()
    deadline = time.monotonic() + _STOP_TIMEOUT_S
    for process in processes:
        if links and process.is_alive() and process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def _work(machine: Machine, link: Connection) -> None:
    """Run batches until there are no more, or the campaign is gone; the body of a worker."""
    signal.signal(signal.SIGINT, _interrupt_once)
    threading.Thread(target=_end_with_the_campaign, daemon=True).start()
    try:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            while (batch := link.recv()) is not None:
                for message in results_of(machine, batch):
                    link.send(message)
                link.send(None)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends anyway, without a traceback
    except (KeyboardInterrupt, EOFError, BrokenPipeError, ConnectionResetError):
        return  # stopped, or the campaign is gone


def results_of(machine: Machine, batch: Batch) -> Generator[object, None, None]:
    """Yield a batch's results and refusals, and last the error that ends the campaign, if any."""
    try:
        yield from run_here(machine, [batch])
    except (MissingNativePartError, UnwritableError) as error:
        yield error


def _end_with_the_campaign() -> None:
    """End this worker when the campaign is gone, however it ended; the guard of what it runs then ends that, too.

    No PR_SET_PDEATHSIG: the kernel sends that when the thread ends that started the worker.
    """
    campaign = multiprocessing.parent_process()
    if campaign is not None:
        wait([campaign.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _interrupt_once(_signal: int, _frame: object) -> None:
    """Interrupt the run but not its clean-up: both the terminal and the campaign may send the signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
