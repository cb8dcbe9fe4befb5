"""After each call of numapredict.h, threads and pages are where the header says, on a real NUMA kernel."""

import subprocess
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
SCATTERED = "8x4-scatter-first-touch"
FIRST_TOUCH, INTERLEAVE, LOCALITY = (f"8x4-contiguous-{policy}" for policy in ("first-touch", "interleave", "locality"))
OWN, NEXT, OPPOSITE = "00112233", "11223300", "22330011"
"""The node of each thread on its own place; and on that of the thread two, or four, after it."""
TO_DATA = {
    "threads": [("threads", NEXT, NEXT), ("later", NEXT, NEXT)],
    "both": [("both", NEXT, NEXT)] * 3,
    "attach": [("attach", OPPOSITE, OPPOSITE)],
    "nested": [("nested", NEXT, NEXT)],
    "inner": [("inner", "11003322", "11003322")],
    "brief": [("brief", OWN, "00000000")],
    "full": [("full", OWN, "00112200")],
}
"""Name, nodes of threads and of chunks: threads go to where first touch has their pages, where that pays."""
TO_THREADS = {
    "pages": [("pages", OWN, OWN)],
    "allocate": [("allocate", OWN, OWN)],
    "move-next": [("move-next", OWN, OWN)],
    "attach-next": [("attach-next", OWN, "33001122")],
}
"""Pages go to their threads, whatever the mapping."""
HARMLESS = {"bad": [("bad", "0")], "again": [("again",)]}


def test_threads_and_pages_are_where_the_header_says(tmp_path: Path) -> None:
    (tmp_path / "guest").mkdir()
    batch = Batch(Shape.parse("4x2"), tmp_path / "guest")
    runs = []
    for compiler, mappings in ((GCC, (FIRST_TOUCH, INTERLEAVE, LOCALITY)), (CLANG, (FIRST_TOUCH,))):
        program = tmp_path / f"hinted-{Path(compiler).name}"
        options = ("-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-I", str(headers_folder()))
        subprocess.run([compiler, *options, "-o", program, SOURCES / "hinted.c", "-lnuma"], check=True)
        alone = batch.add([str(program)])
        for mapping in mappings:
            ways = TO_THREADS | HARMLESS | (TO_DATA if mapping == FIRST_TOUCH else {})
            for way, wanted in ways.items():
                runs.append((alone, wanted, batch.add([str(program), way], batch.placed(mapping)), (way, mapping)))
        nested = batch.add([str(program), "nested"], batch.placed(SCATTERED))
        runs.append((alone, TO_DATA["nested"], nested, ("nested", SCATTERED)))
    batch.run(SMALL_PAGES, 1800)
    for alone, wanted, placed, which in runs:
        without, under = batch.said(alone), batch.said(placed)
        assert (without.code, under.code) == (0, 0), (which, under)
        assert under.stdout in without.stdout, (which, under)
        found = [tuple(line.split()) for line in under.stderr.decode().splitlines()]
        assert found == wanted, which
