"""Builds the OpenMP programs of tests/integration/openmp and traces them through a small private cache."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.tracing import TraceBudget, find_emulator, take_census, take_trace
from numapredict.collect.placing.census import Census, parse_census
from numapredict.collect.program import Program
from tests.traces import machine_of

SOURCES = Path(__file__).parent / "integration" / "openmp"
GCC, GXX, GFORTRAN, CLANG = (shutil.which(name) or "" for name in ("gcc", "g++", "gfortran", "clang"))
CAN_TRACE = bool(GCC and find_emulator())
BUDGET = TraceBudget(census_s=30.0, trace_s=60.0)
MACHINE = machine_of((8, 8))


def build(source: str, folder: Path, compiler: str, *options: str) -> Path:
    """Compile one of the programs and return its path."""
    program = folder / f"{Path(source).stem}-{Path(compiler).name}{''.join(options)}"
    subprocess.run([compiler, "-O2", "-fopenmp", *options, "-o", program, SOURCES / source], check=True)
    return program


def program_of(path: Path, *arguments: object, **environment: str) -> Program:
    """Return a program with its arguments and variables."""
    command = (str(path), *map(str, arguments))
    return Program(name="-".join((path.name, *command[1:2])), command=command, environment=tuple(environment.items()))


@dataclass(frozen=True)
class Traced:
    """A program's census and trace with a number of threads."""

    census: Census
    trace: t.Trace

    def region(self, number: int = 0) -> int:
        """Return a region's key, in the order in which the regions first began."""
        return self.census.regions[number].key

    def chosen(self, region: int, **fields: int) -> np.ndarray:
        """Return which segments belong to a region and have these fields (``thread``: the contiguous slot), bool[S]."""
        segments = self.trace.segments
        mask = segments["region"] == region
        for name, value in fields.items():
            mask &= segments["contiguous" if name == "thread" else name] == value
        return mask

    def instructions(self, region: int, **fields: int) -> int:
        """Return the instructions of a region's segments with these fields."""
        return int(self.trace.segments["instructions"][self.chosen(region, **fields)].sum())

    def flags(self, region: int, **fields: int) -> np.ndarray:
        """Return the flags of all records of a region's segments with these fields."""
        owner = np.repeat(np.arange(len(self.trace.segments)), self.trace.segments["records"].astype(np.int64))
        flags = (self.trace.records["word"] & np.uint64(255)).astype(np.int64)
        return flags[self.chosen(region, **fields)[owner]]

    def misses(self, region: int, **fields: int) -> int:
        """Return the estimated number of private-cache misses."""
        return int(((self.flags(region, **fields) & t.WRITEBACK) == 0).sum()) << self.trace.sample_shift

    def share(self, region: int, flag: int) -> float:
        """Return the share of a region's misses that have a flag."""
        flags = self.flags(region)
        flags = flags[(flags & t.WRITEBACK) == 0]
        return float(((flags & flag) != 0).mean())


def traced(
    program: Program,
    threads: int = 2,
    machine: MachineDescription = MACHINE,
    limits: Mapping[str, float] | None = None,
) -> Traced:
    """Count a program's regions and trace it; ``limits`` change the budget."""
    budget = msgspec.structs.replace(BUDGET, **(limits or {}))
    census = parse_census(take_census(program, budget))
    assert census is not None
    return Traced(census, t.parse_trace(take_trace(program, threads, machine, census, budget), program.name))
