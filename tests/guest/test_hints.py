"""After each call of numapredict.h, threads and pages are where the header says, on a real NUMA kernel."""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from numapredict.native.library import headers_folder
from tests.guest.batch import Batch
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]
MAPPINGS = ("8x4-contiguous-first-touch", "8x4-contiguous-interleave", "8x4-contiguous-locality")
OWN, NEXT, OPPOSITE = "00112233", "11223300", "22330011"
"""The node of each thread on its own place; and on that of the thread two, or four, after it."""
FIRST_TOUCH = {
    "threads": [(NEXT, NEXT)],
    "later": [(NEXT, NEXT)],
    "brief": [(OWN, "00000000")],
    "both": [(NEXT, NEXT)] * 3,
    "attach": [(OPPOSITE, OPPOSITE)],
    "nested": [(NEXT, NEXT)],
}
"""Threads go to where first touch has their pages, each in a run of its own."""
ANYWHERE = ("pages", "allocate", "move-next", "attach-next")
"""Pages go to their threads, whatever the mapping."""


def test_threads_and_pages_are_where_the_header_says(tmp_path: Path) -> None:
    (tmp_path / "guest").mkdir()
    batch = Batch(Shape.parse("4x2"), tmp_path / "guest")
    runs = {}
    for compiler in (GCC, CLANG):
        program = tmp_path / f"hinted-{Path(compiler).name}"
        options = ("-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-I", str(headers_folder()))
        subprocess.run([compiler, *options, "-o", program, SOURCES / "hinted.c", "-lnuma"], check=True)
        for mapping in MAPPINGS:
            for way in (*(FIRST_TOUCH if mapping == MAPPINGS[0] else ()), *ANYWHERE, "bad", "again"):
                command = [str(program), way]
                if way != "later":
                    runs[compiler, mapping, way] = batch.add(command), batch.add(command, batch.placed(mapping))
    batch.run(SMALL_PAGES, 1800)
    for (compiler, mapping, way), (alone, placed) in runs.items():
        without, under = batch.said(alone), batch.said(placed)
        at = (compiler, mapping, way, under)
        assert (without.code, without.stdout) == (under.code, under.stdout), at
        assert under.code == 0, at
        found = defaultdict(list)
        for line in under.stderr.decode().splitlines():
            name, *rest = line.split()
            found[name].append(tuple(rest))
        for name, its in found.items():
            if name in FIRST_TOUCH:
                assert its == FIRST_TOUCH[name], at
            elif name in ANYWHERE:
                assert all(threads == pages == OWN for threads, pages in its), at
        assert way == "again" or found[way], at
        assert way != "bad" or found[way] == [("0",)], at
