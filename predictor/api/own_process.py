"""A process of its own for what runs a program as if alone: placing changes a process, and it ends as the program does.

The process writes one of two files: the record of the run, or why there was none.
"""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.placing.process import cannot_start
from numapredict.native.errors import NumapredictError, UnrunnableProgramError

RECORD, REFUSAL = "run.json", "refusal"
Job = Literal["run", "regions"]

_PACKAGE = Path(__file__).parents[2].absolute().parent  # of a checkout: where the links are

# By its path, since PYTHONPATH would reach the program.
_START = """import sys
sys.path.insert(0, sys.argv.pop(1))
from numapredict.predictor.api.own_process import main
sys.exit(main(*sys.argv[1:4], sys.argv[4:]))"""


class Ended(NamedTuple):
    """The record that was written, and the program's output where it was captured."""

    record: bytes
    stdout: bytes | None
    stderr: bytes | None


def run_apart(
    job: Job, given: str, words: tuple[str, ...], *, capture: bool = False, environment: dict[str, str] | None = None
) -> Ended:
    """Do a job on a program's words, with what is ``given`` for it: a mapping's label, or the seconds for replays.

    Raises UnrunnableProgramError where it was refused, or left no record.
    """
    streams = subprocess.PIPE if capture else None
    python = [sys.executable, "-P", "-c", _START, str(_PACKAGE)]  # -P: no module of the current folder
    with work_folder() as folder:
        try:
            started = subprocess.Popen(
                [*python, str(folder), job, given, *words], stdout=streams, stderr=streams, env=environment
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
        return Ended(file.read_bytes(), output, errors)


def main(folder: str, job: Job, given: str, command: list[str]) -> int:
    """Do the job and return the program's exit code, or end by its signal; 2 if it was refused."""
    record = Path(folder, RECORD)
    try:
        if job == "regions":
            from numapredict.predictor.regions.session import Request, run_replayed

            return run_replayed(Request(tuple(command), float(given), record))
        from numapredict.collect.placing.placed_run import run_placed
        from numapredict.collect.placing.run_options import RunOptions

        return run_placed(given, tuple(command), RunOptions(json=record))
    except (NumapredictError, OSError) as error:
        Path(folder, REFUSAL).write_text(str(error), errors="backslashreplace")
        return 2
