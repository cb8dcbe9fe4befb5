"""The job script by which SLURM runs a campaign's shards on many nodes: sbatch(1)."""

import math
import re
from collections.abc import Sequence

import msgspec

from numapredict.collect.terminal.printable import command_line
from numapredict.native.errors import UsageError

_LEAST_MIN = 10
_ROOM = 2.0
"""A limit over the estimated time: estimates are means, and a run that the limit ends is made again."""

_TIME = re.compile(r"[0-9]+(:[0-9]{1,2}){0,2}|[0-9]+-[0-9]{1,2}(:[0-9]{1,2}){0,2}")
_TASK = '"$SLURM_ARRAY_TASK_ID"'


class JobArray(msgspec.Struct, frozen=True, kw_only=True):
    """A job a shard: each with a whole node for times of a clock, or with so many ``cpus`` for modelled ones."""

    shards: int
    time_limit: str
    cpus: int | None

    def script(self, command: Sequence[str]) -> str:
        """Return the job script; ``command`` collects, all but the shard's number.

        `--requeue` starts a job again whose node failed. After a time limit the same script is submitted again.
        """
        head = [
            "--job-name=numapredict",
            f"--array=0-{self.shards - 1}",
            "--nodes=1",
            "--ntasks=1",
            # --exclusive gives all PUs, but of memory only what is asked for: 0 is all.
            *(("--exclusive", "--mem=0") if self.cpus is None else (f"--cpus-per-task={self.cpus}",)),
            f"--time={self.time_limit}",
            "--requeue",
            "--open-mode=append",
        ]
        lines = ["#!/bin/sh", *(f"#SBATCH {option}" for option in head)]
        return "\n".join([*lines, f"exec {command_line(command)} --shard {_TASK}"])


def checked_time_limit(text: str) -> str:
    """Return a time limit as sbatch takes it (minutes, hours:minutes:seconds, days-hours); raise UsageError."""
    if not _TIME.fullmatch(text):
        raise UsageError(
            f"--time-limit {text!r}: give minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS, as sbatch takes it"
        )
    return text


def time_limit_for(time_s: float) -> str:
    """Return the limit of a job that is expected to take ``time_s`` seconds."""
    minutes = max(math.ceil(_ROOM * time_s / 60), _LEAST_MIN)
    return f"{minutes // 60}:{minutes % 60:02d}:00"


def without_options(words: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without some options and the values that follow them."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in options:
            skip = True
        elif word.partition("=")[0] not in options:
            kept.append(word)
    return tuple(kept)
