"""Pages of mapped files that an earlier run left on the wrong node: they move, and the file stays the file."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import PlacedRange, pages_once, parse_map, tally
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.native.library import placement_library
from tests.guest.batch import Batch, Said
from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import GCC

pytestmark = [
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("guests"),
]

PAGES = 2048
HALF = PAGES // 2
BIND = "2x1-contiguous-bind"
SPREAD = [f"4x2-contiguous-{policy}" for policy in ("interleave", "dataset", "locality", "balance", "mix")]
STAYS = "4x2-contiguous-first-touch"
WRITING = ("write", "pwrite", "cut")
MAPPED = ("mapped", "again")
MODES = ("", "populate", "private", "protect", "fork", "part", "twice", *MAPPED, *WRITING)
MEMORY = "/dev/shm"  # noqa: S108 - the guest's
FILE = 6  # native/placement/memory/range.h


@dataclass(frozen=True)
class Found:
    """What became of a run: where its file's pages were, as it says itself, and the files of its map."""

    nodes: list[int]
    said: Said
    files: list[PlacedRange]

    def right(self, nodes: set[int]) -> int:
        """Return how many pages were where they should be, by the map."""
        return sum(one.right for one in tally(tuple(self.files), frozenset(nodes)))


class Runs:
    """Runs of the program on a file, in one guest with two nodes, by label and a name that begins with the mode."""

    def __init__(self, files: Path, folder: Path) -> None:
        """Build the program, and make the file, outside of the guest's own folder: it keeps it in memory there."""
        self.program, self.data = files / "mapped_file", files / "data"
        source = SOURCES / "mapped_file.c"
        subprocess.run([GCC, "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-o", self.program, source], check=True)
        self.data.write_bytes((bytes(range(1, 252)) * (PAGES * 4096 // 251 + 1))[: PAGES * 4096])
        self.batch = Batch(Shape.parse("2x2"), folder)
        self._runs: dict[tuple[str, str], tuple[Path, Path]] = {}

    def cold(self) -> None:
        self.batch.line("echo 3 >/proc/sys/vm/drop_caches")

    def warm(self, *policy: str) -> None:
        """Have the file in memory on node 1 alone, or where numactl's ``policy`` has it."""
        self.cold()
        words = " ".join(policy or ("--cpunodebind=1", "--membind=1"))
        self.batch.line(f"numactl {words} cat {self.data} >/dev/null")

    def add(self, label: str, name: str, file: str = "", *before: str, preload: str = "") -> None:
        """Add a run; ``before`` are words before the command."""
        mode, map_file = name.split(" ", 1)[0], self.batch.new_file("map")
        environment = self.batch.placed(label, PlacementFiles(map=str(map_file)))
        environment |= {"LD_PRELOAD": preload} if preload else {}
        program = f"{MEMORY}/mapped_file" if preload else str(self.program)
        command = [*before, program, file or str(self.data), mode]
        self._runs[label, name] = self.batch.add(command, environment), map_file

    def hold(self) -> None:
        """Have another process read it and stay, until `kill $holder`."""
        ready = self.batch.new_file("ready")
        hold = f"{self.program} {self.data} hold {ready}"
        self.batch.line(f"numactl --cpunodebind=1 --membind=1 {hold} >/dev/null & holder=$!")
        self.batch.wait(ready)

    def found(self) -> dict[tuple[str, str], Found]:
        self.batch.run(SMALL_PAGES, 600)
        return {key: self._found(*paths) for key, paths in self._runs.items()}

    def _found(self, place: Path, map_file: Path) -> Found:
        said = self.batch.said(place)
        files = [one for one in parse_map(map_file.read_text() if map_file.exists() else "").ranges if one.kind == FILE]
        nodes = said.stdout.decode().splitlines()[-1:] or ["nodes"]
        return Found([int(word) for word in nodes[0].split()[1:3]], said, files)

    def expected(self, mode: str) -> list[str]:
        """Return what a run says without the library, here: but for the nodes it is the same in a guest."""
        copy = shutil.copy(self.data, self.data.with_name("copy"))
        said = subprocess.run([self.program, copy, mode], check=True, capture_output=True, text=True).stdout
        return said.splitlines()[:-1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    made = Runs(tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("runs"))
    batch = made.batch
    for label in (BIND, *SPREAD, STAYS):
        for mode in MODES if label in {BIND, SPREAD[2]} else ("",):
            made.warm()
            copy = str(batch.new_file("copy")) if mode in WRITING else ""
            if copy:
                batch.line(f"cp {made.data} {copy}")
            made.add(label, mode, copy)
    for label in (BIND, SPREAD[0]):
        made.cold()
        made.add(label, " cold")
    made.warm()
    made.add(SPREAD[0], "again")
    for mode in MAPPED:
        made.warm()
        made.add(BIND, f"mapped before {mode}")
        made.add(BIND, f"{mode} right")
    made.warm("--interleave=0,1")
    made.add(BIND, "mapped interleaved")
    made.warm()
    made.hold()
    made.add(BIND, " held")
    batch.line("kill -9 $holder; wait $holder")
    # Of what it neither owns nor may write, the kernel does not tell a process what is in memory.
    batch.line(f"cp {made.program} {placement_library()} {MEMORY}")
    other = (f"{MEMORY}/data", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    for name, words in {
        " in memory": other[:1],
        "write in memory": other[:1],
        " other": other,
        "populate other": other,
    }.items():
        batch.line(f"numactl --membind=1 cp {made.data} {MEMORY}/data")
        made.add(BIND, name, *words, preload=f"{MEMORY}/{placement_library().name}")
    return made


@pytest.fixture(scope="module")
def found(runs: Runs) -> dict[tuple[str, str], Found]:
    return runs.found()


def test_measured_runs_do_not_inherit_pages_from_runs_under_other_mappings(tmp_path: Path, runs: Runs) -> None:
    """As it is, the program finds its file on node 1, where it was at first, whatever runs are in between."""
    folder, log = tmp_path, tmp_path / "log"
    script = [
        "echo 3 >/proc/sys/vm/drop_caches",
        f"numactl --cpunodebind=1 --membind=1 cat {runs.data} >/dev/null",
        f"{sys.executable} -m tests.guest.measured_files {runs.program} {runs.data} {log}",
    ]
    guest = Guest(Shape.parse("2x2"), SMALL_PAGES)
    result = guest.run(["sh", "-c", "\n".join(script)], folder, python_environment(), 900)
    assert result.exit_code == 0, result
    *ends, paths, words = result.stdout.decode().splitlines()
    assert [end.strip() for end in ends] == ["ok"] * 5
    assert paths == str(runs.data)
    assert "the program maps data" in words
    there, bound = f"nodes 0 {PAGES} 0 0", f"nodes {PAGES} 0 0 0"
    assert log.read_text().splitlines() == [there, bound, there, there, bound]


def test_the_program_is_as_without_the_library(runs: Runs, found: dict[tuple[str, str], Found]) -> None:
    """Written by itself or by others, made writable, unmapped in part, cut to half, read in a child."""
    wanted = {mode: runs.expected(mode) for mode in MODES}
    for (label, name), one in found.items():
        said = (one.said.code, one.said.stdout.decode().splitlines()[:-1], one.said.stderr)
        assert said == (0, wanted[name.split(" ")[0]], b""), (label, name)


def test_pages_on_the_wrong_node_are_moved(found: dict[tuple[str, str], Found]) -> None:
    assert found[BIND, ""].nodes == [PAGES, 0]
    assert {label: found[label, ""].nodes for label in SPREAD} == {label: [HALF, HALF] for label in SPREAD}
    assert found[BIND, "populate"].nodes == [PAGES, 0]
    assert found[BIND, "private"].nodes == found[BIND, "protect"].nodes == [PAGES, 0]
    assert found[BIND, "part"].nodes == [HALF, 0]


def test_a_mapped_file_is_looked_through_only_where_a_few_pages_are_wrong(
    found: dict[tuple[str, str], Found],
) -> None:
    """By which pages of a mapping the program finds in its page table before it has read any."""
    assert found[BIND, "mapped"].nodes == found[BIND, "mapped before again"].nodes == [PAGES, 0]
    assert found[BIND, "mapped interleaved"].nodes == [PAGES, 0]
    few, elsewhere = found[BIND, "mapped right"].nodes
    assert (0 < few <= HALF, elsewhere) == (True, 0)


def test_a_file_that_is_done_is_not_looked_at_in_another_mapping(found: dict[tuple[str, str], Found]) -> None:
    assert found[BIND, "again"].nodes == found[BIND, "again right"].nodes == [0, 0]
    assert found[SPREAD[0], "again"].nodes == [0, 0]


def test_verify_counts_a_file_that_is_mapped_twice_once(found: dict[tuple[str, str], Found]) -> None:
    twice = found[BIND, "twice"]
    assert len(twice.files) == 2
    assert sum(one.pages for one in tally(pages_once(tuple(twice.files)), frozenset({0}))) == PAGES


def test_first_touch_leaves_a_file_where_it_was_found(found: dict[tuple[str, str], Found]) -> None:
    assert found[STAYS, ""].nodes == [0, PAGES]


def test_a_file_that_is_read_in_now_goes_where_the_policy_says(found: dict[tuple[str, str], Found]) -> None:
    assert found[BIND, " cold"].nodes == [PAGES, 0]
    nodes = found[SPREAD[0], " cold"].nodes
    assert sum(nodes) == PAGES
    assert min(nodes) > 0.9 * HALF


def test_each_thread_has_its_part_by_locality_and_chunks(found: dict[tuple[str, str], Found]) -> None:
    for label in SPREAD[1:3]:
        (file,) = found[label, ""].files
        assert [(run.first, run.count, run.node) for run in file.runs] == [(0, HALF, 0), (HALF, HALF, 1)], label


def test_verify_counts_the_pages_of_files(found: dict[tuple[str, str], Found]) -> None:
    for label in (BIND, *SPREAD):
        (file,) = found[label, ""].files
        assert (file.name, file.others, found[label, ""].right({0, 1})) == ("file data", 0, PAGES), label


def test_pages_that_another_process_has_too_stay_and_are_told(found: dict[tuple[str, str], Found]) -> None:
    held = found[BIND, " held"]
    (file,) = held.files
    assert held.nodes == [0, PAGES]
    assert (held.right({0}), file.others) == (0, PAGES)


def test_memory_that_processes_share_is_left_alone(found: dict[tuple[str, str], Found]) -> None:
    assert found[BIND, " in memory"].nodes == [PAGES, 0]  # only read
    written = found[BIND, "write in memory"]
    assert (written.nodes, written.files) == ([0, PAGES], [])


def test_of_a_file_of_others_what_the_program_has_touched_is_moved(found: dict[tuple[str, str], Found]) -> None:
    assert found[BIND, "populate other"].nodes == found[BIND, " other"].nodes == [PAGES, 0]
