"""``run``: a program under a mapping, in a process of its own, and what was seen of it."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from numapredict.collect.binding import mapping_on, threads_asked
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placement import resolve
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import program_of
from numapredict.native.errors import UnrunnableProgramError
from numapredict.predictor.advising.last_advice import last_label
from numapredict.predictor.api.asking import Command, words_of

_PACKAGE = Path(__file__).parents[2].absolute().parent  # of a checkout: where the links are

# A process of its own: `run` ends as the program does, by its signal too. PYTHONPATH would reach the program.
_START = """import sys
sys.path.insert(0, sys.argv.pop(1))
from numapredict.predictor.command_line.main import main
sys.exit(main())"""


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
    program = program_of(words)
    executable_of(program)
    text = last_label(program) if mapping is None else str(mapping)
    own = threads_asked((os.environ if environment is None else environment).get("OMP_NUM_THREADS"))
    label = resolve(mapping_on(host_topology(), text, own), host_topology()).mapping.label
    kept = subprocess.PIPE if capture else None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "run.json")
        python = [sys.executable, "-P", "-c", _START, str(_PACKAGE)]  # -P: no module of the current folder
        start = [*python, "run", "--mapping", label, "-o", str(file), "--", *words]
        done = subprocess.run(start, check=False, stdout=kept, stderr=kept, env=environment)
        if not file.exists():
            said = (done.stderr or b"").decode(errors="replace").strip().splitlines()
            reason = said[-1] if said else f"numapredict run ended with {done.returncode}"
            reason = reason.removeprefix("numapredict: ")
            raise UnrunnableProgramError(f"{words[0]} left no record of its run: {reason}")
        record: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    return CompletedRun(
        record["mapping"], record["exit_code"], record["time_s"], record, stdout=done.stdout, stderr=done.stderr
    )
