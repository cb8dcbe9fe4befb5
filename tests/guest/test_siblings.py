"""Two threads on each core: by the library and by other tools they stand on the siblings that the kernel names."""

import re
import subprocess
import sys

import pytest

from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import GCC

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("guests"),
]
CORES = {  # of each thread, in their order: its node and the node's core
    "8x2-contiguous-first-touch-smt2": [(0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 0), (1, 1), (1, 1)],
    "4x2-scatter-interleave-smt2": [(0, 0), (1, 0), (0, 0), (1, 0)],
    "3x1-contiguous-bind-smt2": [(0, 0), (0, 0), (0, 1)],
}
WAYS = dict.fromkeys(CORES, ("library", "env")) | {next(iter(CORES)): ("library", "env", "numactl", "hwloc")}
NODES = "for cpu in /sys/devices/system/node/node*/cpu[0-9]*; do echo $cpu; done; "


def test_threads_of_one_core_are_siblings_for_the_kernel(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = tmp_path_factory.mktemp("programs") / "siblings"
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", program, SOURCES / "siblings.c"], check=True)
    asked = " ".join(f"{label} {','.join(ways)}" for label, ways in WAYS.items())
    words = f"{NODES} exec {sys.executable} -m tests.guest.siblings {program} {asked}"
    guest = Guest(Shape.parse("2x2", smt=2), SMALL_PAGES)
    result = guest.run(["bash", "-c", words], tmp_path_factory.mktemp("guest"), python_environment(), 900)
    said, errors = result.stdout.decode(), result.stderr.decode()
    assert result.exit_code == 0, said + errors
    node_of = {int(pu): int(node) for node, pu in re.findall(r"/node(\d+)/cpu(\d+)$", said, re.MULTILINE)}
    assert len(node_of) == 8
    _, *sections = re.split(r"^(\S+) (library|env|numactl|hwloc)$", said, flags=re.MULTILINE)
    ran = {(sections[at], sections[at + 1]): sections[at + 2] for at in range(0, len(sections), 3)}
    assert list(ran) == [(label, way) for label, ways in WAYS.items() for way in ways]
    for (label, way), lines in ran.items():
        threads = [(int(pu), core) for _, pu, core in sorted(re.findall(r"^(\d+) (\d+) (\S+)$", lines, re.MULTILINE))]
        assert len({pu for pu, _ in threads}) == len(threads) == len(CORES[label]), (label, way, lines)
        numbers: dict[int, list[str]] = {0: [], 1: []}  # of each node's cores, in the order of their use
        found = []
        for pu, core in threads:
            known = numbers[node_of[pu]]
            known += [core] if core not in known else []
            found.append((node_of[pu], known.index(core)))
        assert found == CORES[label], (label, way, lines)
    for label, cores in CORES.items():
        assert f"{len(cores)} of {len(cores)} threads were bound to their PU at each check" in errors, label
