"""``run``: a program under a mapping, in a process of its own, and what was seen of it."""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placing.process import cannot_start
from numapredict.collect.program import program_of
from numapredict.native.errors import UnrunnableProgramError
from numapredict.predictor.advising.last_advice import last_label
from numapredict.predictor.api.placed_process import RECORD, REFUSAL
from numapredict.predictor.api.quiet import Command, called, words_of

_PACKAGE = Path(__file__).parents[2].absolute().parent  # of a checkout: where the links are

# A process of its own: `run` ends as the program does, by its signal too. PYTHONPATH would reach the program.
_START = """import sys
sys.path.insert(0, sys.argv.pop(1))
from numapredict.predictor.api.placed_process import main
sys.exit(main(*sys.argv[1:3], sys.argv[3:]))"""


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
    with called(progress=False), work_folder() as folder:
        label = last_label(program_of(words)) if mapping is None else str(mapping)
        python = [sys.executable, "-P", "-c", _START, str(_PACKAGE)]  # -P: no module of the current folder
        streams = subprocess.PIPE if capture else None
        try:
            started = subprocess.Popen(
                [*python, str(folder), label, *words], stdout=streams, stderr=streams, env=environment
            )
        except (OSError, ValueError) as error:
            raise cannot_start(words[0], error) from error
        with started as process:
            try:
                output, errors = process.communicate()
            except BaseException:
                process.send_signal(signal.SIGTERM)  # which is passed on to the program
                raise
        file, refusal = folder / RECORD, folder / REFUSAL
        if refusal.exists():
            raise UnrunnableProgramError(refusal.read_text())
        if not file.exists():
            raise UnrunnableProgramError(f"{words[0]} left no record of its run: its process was killed; run it again")
        record: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    return CompletedRun(record["mapping"], record["exit_code"], record["time_s"], record, stdout=output, stderr=errors)
