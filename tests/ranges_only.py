"""Builds the preload library that notes ranges and places nothing, and runs programs under it."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "tests" / "integration" / "placement"
NATIVE = ROOT / "native" / "placement"
PARTS = (
    *(
        "memory/allocations",
        "memory/block_watch",
        "memory/build_id",
        "memory/elf_objects",
        "memory/heap",
        "memory/operators",
        "memory/ranges",
    ),
    *("memory/mapped_files", "memory/range_table", "memory/sites", "memory/statics"),
    *("process/loaded_module", "process/next_call", "process/system"),
    "protection/mappings",
)
GCC, GXX, CLANG, CLANGXX = (shutil.which(name) or "" for name in ("gcc", "g++", "clang", "clang++"))
HEAP, STATIC, MAPPED = 1, 2, 3


@dataclass(frozen=True)
class Range:
    """A range that was noted, in the order in which they were."""

    kind: int
    module: str
    offset: int
    slot: int
    order: int
    size_bytes: int
    site: str

    @property
    def key(self) -> tuple[int, str, int, int]:
        """Return what it is known by in every run."""
        return self.kind, self.site, self.slot, self.order


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what was noted."""

    code: int
    output: str
    errors: str
    ranges: tuple[Range, ...]
    dropped: int


def build(source: str, folder: Path, compiler: str, *options: str) -> Path:
    """Compile one of the programs and return its path; -fno-builtin keeps allocations that nobody needs."""
    program = folder / f"{source.replace('.', '-')}-{Path(compiler).name}"
    command = [compiler, "-O1", "-fno-builtin", "-pthread", *options, "-o", str(program), str(SOURCES / source)]
    subprocess.run(command, check=True)
    return program


def build_library(folder: Path) -> Path:
    """Compile the preload library."""
    library = folder / "ranges_only.so"
    options = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{NATIVE}")
    parts = [NATIVE / f"{part}.c" for part in PARTS]
    subprocess.run([GCC, *options, "-o", library, SOURCES / "ranges_only.c", *parts], check=True)
    return library


def ended(*command: object, **environment: str) -> Ended:
    """Run a program to its end."""
    done = subprocess.run(
        [str(part) for part in command], check=False, capture_output=True, text=True, env=os.environ | environment
    )
    ranges, dropped = [], 0
    path = Path(environment.get("RANGES", ""))
    if path.is_file():
        *lines, last = path.read_text().splitlines()
        dropped = int(last.split()[3])
        for line in lines:
            kind, module, offset, slot, order, size, site = line.split(" ")
            ranges.append(Range(int(kind), module, int(offset, 16), int(slot), int(order), int(size), site))
    return Ended(done.returncode, done.stdout, done.stderr, tuple(ranges), dropped)
