"""What `kill -9` leaves of numapredict: no process, wherever it went, and no folder that the next run keeps."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from numapredict.collect.host.work_folder import clear_leftovers
from tests.descendants import VARIABLE, family, wait_for_the_end_of

pytestmark = pytest.mark.native

CODE = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"
SANDY = ("--machine", "sandybridge-4x8")


@pytest.fixture(scope="module")
def forking(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("forking") / "forking"
    source = Path(__file__).with_name("forking.c")
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-fopenmp", "-o", program, source], check=True)
    return str(program)


class Running:
    """A numapredict that runs, with all that it starts."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.mark = uuid.uuid4().hex
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "TMPDIR": str(self.temporary),
                "NUMAPREDICT_CACHE": str(folder / "cache"),
                VARIABLE: self.mark,
            },
        )

    def wait_for(self, processes: int, *, named: str = "") -> None:
        """Return when so many processes have run at once, of those whose file's name has this in it."""
        while True:
            found = {pid for pid in family(self.mark) if named in name_of(pid)}
            if len(found) >= processes:
                return
            assert self.process.poll() is None
            time.sleep(0.001)

    def kill(self) -> None:
        self.process.kill()
        assert self.process.wait() == -signal.SIGKILL


def name_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[list[Running]]:
    """Hold what a test starts, and leave nothing of it behind where it fails."""
    started: list[Running] = []
    yield started
    for each in started:
        each.process.kill()
        each.process.wait()
        for pid in family(each.mark):
            os.kill(pid, signal.SIGKILL)


# Of the whole family: numapredict, the guard, the program, its child, the daemon and the daemon's child.
@pytest.mark.parametrize("processes", [2, 3, 4, 5, 6])
def test_a_native_run_ends_with_a_killed_numapredict(
    processes: int, forking: str, running: list[Running], tmp_path: Path
) -> None:
    words = ("collect", "campaign", "--into", str(tmp_path / "into"), "--program", forking)
    running.append(Running(tmp_path, *words, "--mapping", "1x1-contiguous-bind", "--repetitions", "1"))
    running[0].wait_for(processes)
    running[0].kill()
    assert wait_for_the_end_of(running[0].mark) == set()
    clear_leftovers(running[0].temporary)
    assert list(running[0].temporary.iterdir()) == []


@pytest.mark.parametrize("processes", [2, 4, 6])
def test_a_census_ends_with_a_killed_numapredict(
    processes: int, forking: str, running: list[Running], tmp_path: Path
) -> None:
    running.append(Running(tmp_path, *SANDY, forking))
    running[0].wait_for(processes)
    running[0].kill()
    assert wait_for_the_end_of(running[0].mark) == set()
    clear_leftovers(running[0].temporary)
    assert list(running[0].temporary.iterdir()) == []


@pytest.mark.parametrize("emulators", [1, 2, 4])
def test_emulators_end_with_a_killed_numapredict(
    emulators: int, forking: str, running: list[Running], tmp_path: Path
) -> None:
    running.append(Running(tmp_path, *SANDY, forking, "late"))
    running[0].wait_for(emulators, named="qemu-x86_64")
    running[0].kill()
    assert wait_for_the_end_of(running[0].mark) == set()


@pytest.mark.parametrize("emulators", [0, 1, 2])
def test_workers_and_their_emulators_end_with_a_killed_campaign(
    emulators: int, running: list[Running], tmp_path: Path
) -> None:
    words = (
        *("collect", "campaign", *SANDY, "--into", str(tmp_path / "into"), "--space", "diener", "--size", "medium"),
        *("--codelet", "stream-triad", "--codelet", "histogram", "--codelet", "jacobi-2d", "--jobs", "2"),
    )
    running.append(Running(tmp_path, *words))
    if emulators:
        running[0].wait_for(emulators, named="qemu-x86_64")
    else:
        running[0].wait_for(3)  # itself, and at least one worker
    running[0].kill()
    assert wait_for_the_end_of(running[0].mark) == set()
    clear_leftovers(running[0].temporary)
    assert list(running[0].temporary.iterdir()) == []


def test_a_killed_guard_takes_the_program_with_it(forking: str, running: list[Running], tmp_path: Path) -> None:
    words = ("collect", "campaign", "--into", str(tmp_path / "into"), "--program", "sleep 3000")
    running.append(Running(tmp_path, *words, "--mapping", "1x1-contiguous-bind", "--repetitions", "1"))
    # A guard's child has the guard's name until it has become the program.
    running[0].wait_for(1, named="sleep")
    (guard,) = (pid for pid in family(running[0].mark) if name_of(pid).endswith("numapredict-launch"))
    os.kill(guard, signal.SIGKILL)
    running[0].process.wait()
    assert wait_for_the_end_of(running[0].mark) == set()
