"""Workers of a placed program on eight CPUs of two nodes: who has which, by the kernel."""

from pathlib import Path

import pytest

from numapredict.collect.placing.preload import PlacementFiles
from tests.guest.batch import Batch
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES
from tests.openmp import CLANG, GCC
from tests.preloaded import built

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]
ALL = "0,1,2,3,4,5,6,7"
CLAIMS = PlacementFiles(claims="/dev/shm/pus.lock")  # noqa: S108 - the guest's
RUNS = {
    # A team smaller than the mapping is spread over it; the next one takes the PUs beside.
    ("8x2-contiguous-locality", "fork=2 fork=2 fork=2 fork=2 fork=2"): [
        "0: 0 4",
        "1: 1 5",
        "2: 2 6",
        "3: 3 7",
        f"4: {ALL} {ALL}",
    ],
    ("8x2-scatter-interleave", "fork=4 fork=4"): ["0: 0 4 1 5", "1: 2 6 3 7"],
    # Three of eight, then four of the five that are left; one is left for the last, and not two.
    ("8x2-contiguous-bind@1", "fork=3 fork=4 fork=2 fork=1"): ["0: 0 2 5", "1: 1 3 4 6", f"2: {ALL} {ALL}", "3: 7"],
    ("4x1-contiguous-bind", "fork=1 fork=2 end=0 fork=2 threads=2"): [
        "0: 0",
        "1: 1 2",
        "2: 0 3",
        "3: 0,1,2,3 0,1,2,3",
    ],
    ("8x2-scatter-locality", "team=2 team=3 team=1 team=3 team=8"): [
        "here: 0 4",
        "here: 0 4 1",
        "here: 0",
        "here: 0 4 1",
        "here: 0 4 1 5 2 6 3 7",
    ],
    ("8x2-contiguous-first-touch", "fork=8 kill=0 fork=8 fork=1"): [
        "0: 0 1 2 3 4 5 6 7",
        "1: 0 1 2 3 4 5 6 7",
        f"2: {ALL}",
    ],
}


def test_workers_share_the_pus_of_a_mapping(tmp_path: Path) -> None:
    batch = Batch(Shape.parse("2x4"), tmp_path)
    runs = {}
    for compiler in (GCC, CLANG):
        program = str(built("sharing.c", tmp_path, compiler))
        for label, words in RUNS:
            runs[compiler, label, words] = batch.add([program, *words.split()], batch.placed(label, CLAIMS))
    batch.run(SMALL_PAGES, 900)
    for (_, label, words), place in runs.items():
        assert str(batch.said(place)) == "0: " + "".join(f"{line}\n" for line in RUNS[label, words]), (label, words)
