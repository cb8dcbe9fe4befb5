"""Twisted-STREAM in a timed guest: what the library chooses from hints is faster than nothing, and than next touch.

ForestGOMP sec. 5.4: with all vectors on other nodes threads alone move (fig. 7), with two of three threads move to the
two, and the third after them (fig. 8).
"""

import shlex
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.preload import preload_environment
from numapredict.native.library import headers_folder, placement_library
from tests.guest.batch import topology_of
from tests.guest.machine import Guest
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.guest.timed.configuration import Timing, timed_machine
from tests.openmp import GCC

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("guests"),
]
KILOBYTES = "256"
OWN, OTHER = "0011", "1100"
CHOSEN = {
    ("0", "8"): [OTHER, OWN, OWN, OWN],
    ("1", "16"): [OTHER, OTHER, OWN, OWN],
}
"""Vectors at home and steps; the nodes of threads and of the parts of each vector."""
MODES = ("none", "next", "hints")


def test_the_library_chooses_what_the_paper_found_fastest(tmp_path: Path) -> None:
    program = tmp_path / "twisted"
    options = ("-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-I", str(headers_folder()))
    subprocess.run([GCC, *options, "-o", program, SOURCES / "twisted_stream.c", "-lnuma"], check=True)
    timing = Timing(timed_machine("guest-2x2"))
    placement = resolve(parse_label("4x2-contiguous-first-touch"), topology_of(timing.shape()))
    placed = preload_environment({"OMP_WAIT_POLICY": "passive"}, placement, str(placement_library()))
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in placed.items())
    script = "\n".join(
        f"{variables} charged {program} {mode} {home} {steps} {KILOBYTES} || exit 9"
        for home, steps in CHOSEN
        for mode in MODES
    )
    guest = Guest(timing.shape(), SMALL_PAGES, timed=timing)
    done = guest.run(["sh", "-c", script], tmp_path, timeout_s=900)
    assert done.exit_code == 0, done.stderr
    lines = iter(done.stdout.decode().splitlines())
    for (home, steps), wanted in CHOSEN.items():
        found = {mode: next(lines).split() for mode in MODES}
        assert found["hints"][1:] == wanted, (home, steps, found)
        times = {mode: float(words[0]) for mode, words in found.items()}
        assert min(times, key=lambda mode: times[mode]) == "hints", (home, steps, times)
