"""The answer of one of our own programs (numapredict-probe, numapredict-stream): its line of JSON."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from numapredict.native.errors import NumapredictError

LASTS_S = 120.0
_NOT_FOR_IT = ("LD_PRELOAD", "OMP_", "GOMP_", "KMP_")
_LINE_CHARACTERS = 200

Record = TypeVar("Record", bound=msgspec.Struct)


def tool_answer(
    command: Sequence[str],
    kind: type[Record],
    task: str,
    error: Callable[[str], NumapredictError],
    timeout_s: float = LASTS_S,
) -> Record:
    """Run a command without our preload library and OpenMP's variables; return the record in its output.

    Raises ``error`` with one line that begins with ``task`` where no line of the output is such a record.
    """
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            env={key: value for key, value in os.environ.items() if not key.startswith(_NOT_FOR_IT)},
        )
    except OSError as refused:
        raise error(f"{task}: cannot run {name}: {refused.strerror}") from None
    except subprocess.TimeoutExpired:
        raise error(f"{task} takes more than {timeout_s:g} s: end what else runs there") from None
    for line in done.stdout.splitlines():
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(line, type=kind)
    if done.returncode == -signal.SIGKILL:
        raise error(f"{task} was killed: memory is short here (numapredict doctor shows limits)")
    said = [text.strip() for text in (done.stderr + done.stdout).splitlines() if text.strip()]
    end = said[-1][:_LINE_CHARACTERS] if said else f"{name} printed nothing (exit code {done.returncode})"
    raise error(f"{task}: {end}")
