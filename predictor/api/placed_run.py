"""Run a program under a mapping from Python: `run`."""

import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import msgspec

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.placing.placed_run_record import PlacedRun
from numapredict.collect.program import program_of
from numapredict.native.errors import NumapredictError
from numapredict.predictor.advising.last_advice import last_label
from numapredict.predictor.api.placed_process import RECORD, REFUSAL
from numapredict.predictor.api.quiet import Command, called, words_of


@dataclass(frozen=True)
class CompletedRun:
    """A run that has ended; ``record`` is what `numapredict run -o FILE` writes.

    ``stdout`` and ``stderr`` are the program's output where it was captured, else None.
    """

    record: PlacedRun
    stdout: str | None = None
    stderr: str | None = None

    @property
    def mapping(self) -> Mapping:
        """The mapping that it ran under."""
        return parse_label(self.record.mapping)

    @property
    def exit_code(self) -> int:
        """The program's exit code, as a shell has it: 128 and more for a signal."""
        return self.record.exit_code

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it, or None."""
        return self.record.signal

    @property
    def time_s(self) -> float:
        """The wall time in seconds, from the program's start to its end."""
        return self.record.time_s

    def to_dict(self) -> dict[str, Any]:
        """Return the record of plain values: placement, regions and their times, notes."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.record))
        return found


def run(command: Command, mapping: Mapping | str | None = None, *, capture_output: bool = False) -> CompletedRun:
    r"""Run a program on this computer under a mapping and return how it ended.

    ``mapping`` is one, or its label, or `close`, `spread` or `compact`; None stands for what was advised last for this
    program. The program has this process's standard streams, or with ``capture_output`` its output becomes texts. Its
    exit code is no error. Raises NumapredictError if it cannot be run so.

    >>> done = run(["sh", "-c", "echo done; exit 3"], "1x1-contiguous-first-touch", capture_output=True)
    >>> done.stdout, done.exit_code, done.mapping.threads
    ('done\n', 3, 1)
    """
    words = words_of(command)
    with called(progress=False), work_folder() as folder:
        label = last_label(program_of(words)) if mapping is None else str(mapping)
        output, errors = _ended(
            ["numapredict.predictor.api.placed_process", str(folder), label, *words], capture_output
        )
        refusal = folder / REFUSAL
        if refusal.exists():
            raise NumapredictError(refusal.read_text())
        try:
            record = msgspec.json.decode((folder / RECORD).read_bytes(), type=PlacedRun)
        except FileNotFoundError:
            raise NumapredictError(f"{words[0]}: the process that ran it was ended; run it again") from None
    return CompletedRun(record, output, errors)


def _ended(module: list[str], capture_output: bool) -> tuple[str | None, str | None]:
    """Run a module of ours to its end and return its output, where captured; if interrupted, end it first."""
    streams = subprocess.PIPE if capture_output else None
    # -P: a file of the current folder never stands in for a module.
    with subprocess.Popen(
        [sys.executable, "-P", "-m", *module], stdout=streams, stderr=streams, text=True, errors="replace"
    ) as process:
        try:
            return process.communicate()
        except BaseException:
            process.send_signal(signal.SIGTERM)  # which is passed on to the program
            raise
