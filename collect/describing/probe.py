"""The native probe: what it is asked, and its answer.

The contract of its arguments and its line of JSON is in native/probe/main.c; this is its only user.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from numapredict.collect.index_list import index_list
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import probe_program

Subject = Literal["latency", "cache", "bandwidth", "frequency", "work", "team"]
RunProbe = Callable[[Sequence[str]], str]
"""Runs the probe with arguments and returns its standard output. Raises UnrunnableProgramError."""

LASTS_S = 120.0
_OPENMP = ("OMP_", "GOMP_", "KMP_")


class Question(msgspec.Struct, frozen=True):
    """One measurement: on ``pus``, of ``size_bytes`` on ``node`` (OS indices; -1: wherever its pages fall)."""

    subject: Subject
    pus: tuple[int, ...]
    node: int = -1
    size_bytes: int = 0

    def words(self, rounds: int, round_ms: int) -> tuple[str, ...]:
        """Return the probe's arguments."""
        memory = (str(self.node), str(self.size_bytes)) if self.size_bytes else ()
        return (self.subject, index_list(self.pus), str(rounds), str(round_ms), *memory)


class Answer(msgspec.Struct, frozen=True):
    """The values of each figure, one a round; ``on_node`` and ``huge`` are shares of the pages, -1 for unknown."""

    figures: dict[str, tuple[float, ...]]
    on_node: float = -1.0
    huge: float = -1.0


def parse_answer(text: str) -> Answer:
    """Return the answer in the probe's output; raise UnrunnableProgramError where there is none."""
    line = next((line for line in text.splitlines() if line.startswith('{"figures"')), "")
    try:
        return msgspec.json.decode(line, type=Answer)
    except msgspec.DecodeError as error:
        raise UnrunnableProgramError(f"numapredict-probe printed no answer: {text[:80]!r}") from error


def run_probe(arguments: Sequence[str]) -> str:
    """Run the probe on this computer; OpenMP's variables and preloaded libraries are not for it."""
    environment = {
        name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not name.startswith(_OPENMP)
    }
    try:
        done = subprocess.run(
            [str(probe_program()), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LASTS_S,
            check=False,
            env=environment,
        )
    except OSError as error:
        raise UnrunnableProgramError(f"numapredict-probe cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UnrunnableProgramError(
            f"measuring {arguments[0]} on PUs {arguments[1]} takes more than {LASTS_S:.0f} s: end what else runs there"
        ) from None
    if done.returncode == -signal.SIGKILL:
        raise UnrunnableProgramError(
            f"measuring {arguments[0]} on PUs {arguments[1]} was killed: memory is short here (numapredict doctor shows"
            " limits)"
        )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        reason = said[-1][:200] if said else f"numapredict-probe ended with exit code {done.returncode}"
        raise UnrunnableProgramError(reason)
    return done.stdout
