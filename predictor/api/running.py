"""``run``: a program under a mapping, in a process of its own, and what was seen of it."""

from dataclasses import dataclass
from typing import Any

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.program import program_of
from numapredict.predictor.advising.last_advice import last_label
from numapredict.predictor.api.own_process import run_apart
from numapredict.predictor.api.quiet import Command, called, words_of


@dataclass(frozen=True)
class CompletedRun:
    """A run that has ended: its exit code as a shell has it, its wall time in seconds, and its output if captured.

    ``record`` is what ``numapredict run -o FILE`` writes: where threads and pages were, and the time of each region.
    """

    mapping: str
    exit_code: int
    time_s: float
    record: dict[str, Any]
    stdout: bytes | None = None
    stderr: bytes | None = None


def run(
    command: Command,
    mapping: AnyMapping | str | None = None,
    *,
    capture: bool = False,
    environment: dict[str, str] | None = None,
) -> CompletedRun:
    r"""Run a program on this computer under a mapping, or under what was advised last for it, and wait for its end.

    ``mapping`` is a Mapping, its label, or ``close``, ``spread`` or ``compact``. ``capture`` keeps the output instead
    of passing it on; ``environment`` replaces this process's. A program that fails is no error: look at ``exit_code``.
    Raises NumapredictError where it cannot be started or the mapping does not fit this computer.

    >>> import numapredict
    >>> done = numapredict.run(["sh", "-c", "echo hello; exit 26"], "1x1-contiguous-first-touch", capture=True)
    >>> done.exit_code, done.stdout
    (26, b'hello\n')
    """
    words = words_of(command)
    with called(progress=False):
        label = last_label(program_of(words)) if mapping is None else str(mapping)
        ended = run_apart("run", label, words, capture=capture, environment=environment)
        record: dict[str, Any] = msgspec.json.decode(ended.record)
    known = record["mapping"], record["exit_code"], record["time_s"], record
    return CompletedRun(*known, stdout=ended.stdout, stderr=ended.stderr)
