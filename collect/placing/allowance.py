"""Allowances: how long a process may run, by its processor time, which other load does not change."""

import contextlib
import math
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from numapredict.collect.host.processor_times import TICK_S

# Times of the stat file, counted from behind the process's name: its own in user and kernel mode, and those of children
# that have ended (proc_pid_stat(5)).
_TIMES = slice(11, 15)
# A process that uses less than this share of its allowed processor time in as many seconds of wall time sleeps or
# hangs: even among dozens of processes on one core it would get more.
_ASLEEP = 0.01
# Wall time over processor time: on a computer so busy waiting is useless.
LONGEST = 10.0


class TimeAllowance(msgspec.Struct, frozen=True):
    """The most seconds of wall time, and of processor time of all threads and child processes together."""

    wall_s: float
    processor_s: float = math.inf


def allowance_of(processor_s: float, threads: int = 1) -> TimeAllowance:
    """Return the allowance of ``processor_s`` seconds for each thread; its wall time limit stops hanging processes."""
    return TimeAllowance(processor_s * LONGEST, processor_s * threads)


class Meter:
    """Checks whether a process has used up its allowance, counted from construction."""

    def __init__(self, allowance: TimeAllowance, process: int) -> None:
        self.allowance = allowance
        self.process = process
        self.began_s = self._awake_s = time.perf_counter()
        self._awake_at_s = 0.0

    @property
    def deadline_s(self) -> float:
        """Return when the wall time is used up, in seconds of ``time.perf_counter``."""
        return self.began_s + self.allowance.wall_s

    def spent(self) -> bool:
        """Return whether the processor time is used up, or hardly used in as many seconds of wall time."""
        most_s = self.allowance.processor_s
        if math.isinf(most_s):
            return False
        now_s, taken_s = time.perf_counter(), processor_time_s(self.process)
        if taken_s - self._awake_at_s > _ASLEEP * most_s:
            self._awake_s, self._awake_at_s = now_s, taken_s
        return taken_s >= most_s or now_s - self._awake_s >= most_s


def processor_time_s(process: int) -> float:
    """Return the processor time of a process, its threads and its children so far, in seconds; 0 where it is gone."""
    ticks = 0
    for one in family(process):
        with contextlib.suppress(OSError):
            after_name = Path(f"/proc/{one}/stat").read_text(errors="replace").rpartition(")")[2]
            ticks += sum(map(int, after_name.split()[_TIMES]))
    return ticks * TICK_S


def family(process: int) -> Iterator[int]:
    """Yield a process and its descendants, where the kernel lists them."""
    yield process
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listed.read_text().split():
                yield from family(int(child))
