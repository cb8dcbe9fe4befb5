"""By a timed guest's clock: a program that no mapping makes faster is as fast after the trials as before them."""

import json
import shlex
import statistics
from pathlib import Path

import pytest

from tests.benchmarks.programs import compiled, numapredict
from tests.benchmarks.timed_adapt import SOURCES, steps_of
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of

pytestmark = [pytest.mark.native, pytest.mark.thorough]

SIZE, PLAIN, STEPS, LAST = 256, 40, 320, 60


def test_trials_that_are_left_again_cost_nothing_afterwards(guests: None, tmp_path: Path) -> None:
    """Threads that were left to the kernel on the way back were 45% slower on other nodes than their pages."""
    timing = timing_of("guest-2x2", None)
    program, folder = compiled(SOURCES / "adapting.c", tmp_path), tmp_path / "guest"
    folder.mkdir()
    words = [str(program), "home", str(SIZE)]
    adapting = [*numapredict(), "run", "--adapt", "--fresh", "-o", f"{folder}/record", "--", *words, str(STEPS)]
    lines = [
        "export OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive",
        "echo 0 > /proc/sys/kernel/numa_balancing",
        f"{shlex.join([*words, str(PLAIN)])} > {folder}/plain",
        f"{shlex.join(adapting)} > {folder}/adapted",
    ]
    guest = Guest(timing.shape(), ("transparent_hugepage=never",), timing)
    environment = {**python_environment(), "GUEST_PAYS": program.name, "NUMAPREDICT_CACHE": str(folder)}
    done = guest.run(["sh", "-e", "-c", "\n".join(lines)], folder, environment, 1800)
    assert done.exit_code == 0, done.stderr.decode()
    plain, adapted = (steps_of((folder / name).read_text().splitlines()).sum(axis=1) for name in ("plain", "adapted"))
    record = json.loads((folder / "record").read_text())
    assert len(record["trials"]) > 0, record
    assert statistics.median(adapted[-LAST:]) < 1.25 * statistics.median(plain[5:]), record
