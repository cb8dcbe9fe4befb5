"""No program behaves otherwise under `numapredict regions`: many kinds of regions, several a run, on both runtimes."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.command import numapredict
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.native,
    pytest.mark.slow,
    pytest.mark.skipif(not (GCC and CLANG), reason="no gcc or clang"),
]
SOURCE = Path(__file__).parent / "capturing" / "kinds.c"

# Kinds of regions that are in one run, and what may be said of them instead of a replay.
SEEN_OUTSIDE = frozenset(
    f"it makes the system call {call}, whose effects would be seen outside" for call in ("write", "clone", "tgkill")
)
RUNS: dict[str, frozenset[str]] = {
    "cg mg is lu ep": frozenset(),
    "bfs nw hotspot lulesh": frozenset(),
    "depend sections teams jumps": frozenset(),
    "recursive sleepy keyed heap": frozenset(),
    "buffered mapped partner two_masters profiled forks": frozenset(),
    "files pipes fork_inside raised": SEEN_OUTSIDE,
    "locks": frozenset({"it ended by SIGSEGV"}),  # of LLVM's runtime, which forgets its locks in a fork
}


@pytest.fixture(scope="module", params=[GCC, CLANG])
def kinds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("kinds") / Path(request.param).name
    options = ("-g", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror")
    subprocess.run([request.param, *options, "-o", program, SOURCE], check=True)
    return program


@pytest.mark.parametrize("words", RUNS)
def test_no_replay_is_seen_in_what_a_program_does(words: str, kinds: Path, tmp_path: Path) -> None:
    alone, replayed = tmp_path / "alone", tmp_path / "replayed"
    for folder in (alone, replayed):
        folder.mkdir()
    command = [str(kinds), *words.split()]
    plain = subprocess.run(command, cwd=alone, capture_output=True, text=True, check=False)
    done = numapredict("regions", "--seconds", "20", "-o", "../answer.json", *command, cwd=replayed)
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode) != ("", 0)
    files = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in (alone, replayed)]
    assert files[0] == files[1]
    regions = json.loads((tmp_path / "answer.json").read_text())["regions"]
    captured = [region for region in regions if region["gains"]]
    assert captured
    problems = {region["gains"][0]["problem"] for region in captured} - {""}
    assert problems <= (RUNS[words] if words != "locks" or kinds.name != "gcc" else frozenset())
    if words == "files pipes fork_inside raised":
        assert problems
    elif words != "locks":
        assert any(len(region["gains"]) > 1 for region in captured)
