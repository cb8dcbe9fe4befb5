"""The decisions of native/placement/adapt, compiled by themselves and called from Python."""

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numapredict.predictor.searching.known_gains import KnownGains
from tests.preloaded import GCC

ROOT = Path(__file__).parents[1]
SOURCES = (
    ROOT / "tests" / "native" / "decision_play.c",
    *(
        ROOT / "native" / "placement" / "adapt" / f"{name}.c"
        for name in ("decision", "next_trial", "steps", "team_trials", "trial", "trial_start", "turns")
    ),
)
Floats = npt.NDArray[np.float64]
QUIET_NS, SHARE = 500_000_000, 0.05


class _Program(ctypes.Structure):
    _fields_ = (
        ("columns", ctypes.c_uint32),
        ("regions", ctypes.c_uint32),
        ("time_ns", ctypes.c_void_p),
        ("later_ns", ctypes.c_void_p),
        ("instances", ctypes.c_uint64),
        ("turn", ctypes.c_uint64),
        ("pages_ns", ctypes.c_double),
        ("pages", ctypes.c_void_p),
        ("noise", ctypes.c_void_p),
        ("noises", ctypes.c_uint64),
    )


class Played(ctypes.Structure):
    """What became of a program: its time, that of the baseline, and what was decided."""

    time_ns: float
    baseline_ns: float
    in_trials_ns: float
    worst: float
    reached_ns: float
    column: int
    tried: int
    kept: int
    back: int
    cut: int
    stage: int
    _fields_ = (
        *((name, ctypes.c_double) for name in ("time_ns", "baseline_ns", "in_trials_ns", "worst", "reached_ns")),
        *((name, ctypes.c_uint32) for name in ("column", "tried", "kept", "back", "cut")),
        ("stage", ctypes.c_int32),
    )


@dataclass(frozen=True, eq=False)
class Case:
    """A program: ``time_ns`` float64[columns, regions of a step], from ``turn`` on ``later_ns``, in other regions.

    ``pages``: which placement of pages each column has; a change of it costs ``pages_ns``. ``noise``: factors.
    """

    time_ns: Floats
    instances: int
    pages: Sequence[int]
    pages_ns: float
    noise: Floats
    later_ns: Floats | None = None
    turn: int | None = None


class Decisions:
    """The compiled decisions."""

    def __init__(self, folder: Path, *options: str) -> None:
        made = folder / "decisions.so"
        include = ("-I", str(ROOT / "native" / "placement"))
        flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *options, *include)
        subprocess.run([GCC, *flags, "-o", made, *SOURCES, "-lm"], check=True)
        self._library = ctypes.CDLL(str(made))

    def next_column(
        self, known: KnownGains, columns: Sequence[int], gains: Sequence[float], ended: Sequence[bool] = ()
    ) -> tuple[int, float]:
        """Return the next trial's column, -1 for none, and the gain that it should add."""
        gain = np.ascontiguousarray(known.gains, dtype=np.float32)
        weight = known.weights.astype(np.float32)
        expected = ctypes.c_double()
        count = len(columns)
        column = self._library.next_column(
            *(gain.shape[0], gain.shape[1], ctypes.c_void_p(gain.ctypes.data), ctypes.c_void_p(weight.ctypes.data)),
            *(count, (ctypes.c_uint32 * count)(*columns), (ctypes.c_double * count)(*gains)),
            *((ctypes.c_uint8 * count)(*(ended or [False] * count)), (ctypes.c_uint8 * gain.shape[1])()),
            ctypes.byref(expected),
        )
        return int(column), expected.value

    def play(self, known: KnownGains, case: Case, quiet_ns: int = QUIET_NS, share: float = SHARE) -> Played:
        """Return what becomes of a program."""
        gain = np.ascontiguousarray(known.gains, dtype=np.float32)
        weight = known.weights.astype(np.float32)
        times = np.ascontiguousarray(case.time_ns)
        later = times if case.later_ns is None else np.ascontiguousarray(case.later_ns)
        pages, noise = np.array(case.pages, dtype=np.uint32), np.ascontiguousarray(case.noise)
        program = _Program(
            *(*times.shape, times.ctypes.data, later.ctypes.data),
            *(case.instances, case.instances if case.turn is None else case.turn),
            *(case.pages_ns, pages.ctypes.data, noise.ctypes.data, len(noise)),
        )
        found = Played()
        self._library.play(
            *(gain.shape[0], ctypes.c_void_p(gain.ctypes.data), ctypes.c_void_p(weight.ctypes.data)),
            *(ctypes.byref(program), ctypes.c_uint64(quiet_ns), ctypes.c_double(share), ctypes.byref(found)),
        )
        return found
