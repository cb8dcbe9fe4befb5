"""What the documents in reports/guide, and the README, tell a reader to type: it runs, and prints what they say."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import write_dataset
from numapredict.predictor.learning.datasets import open_dataset
from tests.guide import GUIDE, ROOT, Block, blocks, documents, exchanges, pattern, readings_apart
from tests.openmp import GCC
from tests.warm_start import COLD, warm

NAMES = [document.name for document in documents()]
NODES = "node:4 core:6 pu:1"  # a server that hwloc pretends, for commands that only plan
# Of all programs these take minutes: python -m tests.golden.evaluations evaluates them, and test_documents.py looks
# whether the dataset that a document names is there.
EVALUATING = re.compile(r"\b(evaluate|report (?:calibration|budget)) broadwell-2x10\b")
FEW_GROUPS = 10
EXITS = {"refused": 2, "failed": 1}
KINDS = {
    ("sh",),
    ("sh", "gate"),
    ("sh", "nodes"),
    ("sh", "server"),
    ("sh", "guest"),
    ("sh", "slurm"),
    ("console",),
    ("console", "refused"),
    ("console", "failed"),
    ("pycon",),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that looks like a clone, with numapredict on the path as a user has it."""
    folder = tmp_path / "clone"
    (folder / "bin").mkdir(parents=True)
    put(folder, "numapredict", warm())
    put(folder, "python", (sys.executable,))
    for name in ("examples", "models", "native"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
    return folder


@pytest.fixture(scope="session")
def few_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset that the documents evaluate, with a few of its groups of programs."""
    whole, folder = open_dataset("broadwell-2x10"), tmp_path_factory.mktemp("few") / "broadwell-2x10"
    groups = tuple(dict.fromkeys(program.group for program in whole.programs))[:FEW_GROUPS]
    programs = tuple(program for program in whole.programs if program.group in groups)
    names = {program.name for program in programs}
    measured = tuple(each for each in whole.measurements if each.program in names)
    write_dataset(msgspec.structs.replace(whole, programs=programs, measurements=measured), folder)
    return folder


def put(place: Path, name: str, words: Sequence[str]) -> None:
    """Put a command on the path of a place."""
    command = place / "bin" / name
    command.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    command.chmod(0o755)


def typed(command: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Type a command of a document, with both channels as a terminal shows them.

    Models are looked for in a folder of the place's own, so that no document finds what another one has trained. The
    traces of a worker's tests are shared; ``variables`` may name a cache of one's own.
    """
    own = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "NUMAPREDICT_DATA": str(place.parent / "data")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=place,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", **own, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def check(block: Block, place: Path, few_programs: Path) -> None:
    if block.words in {("sh",), ("sh", "nodes")}:
        commands = EVALUATING.sub(rf"\1 {few_programs}", "\n".join(block.lines))
        done = typed(commands, place, **({"HWLOC_SYNTHETIC": NODES} if "nodes" in block.words else {}))
        assert done.returncode == 0, f"line {block.line}:\n{done.stdout}"
    elif block.words[0] == "console":
        for exchange in exchanges(block):
            done = typed(exchange.command, place)
            assert done.returncode == EXITS.get(block.words[-1], 0), f"{exchange.command}:\n{done.stdout}"
            assert pattern(exchange.expected).fullmatch(done.stdout), f"{exchange.command} printed:\n{done.stdout}"


@pytest.mark.thorough
@pytest.mark.native
@pytest.mark.parametrize("name", NAMES)
def test_what_a_reader_types_runs(name: str, place: Path, few_programs: Path) -> None:
    session = []
    for block in blocks((GUIDE / name).read_text()):
        assert block.words in KINDS, f"line {block.line}: {block.words} says not how this is tested"
        check(block, place, few_programs)
        session += [*block.lines, ""] if block.words == ("pycon",) else []
    if session:  # of Python, through the whole document
        (place / "session").write_text("\n".join(session))
        done = typed("python -m doctest -o ELLIPSIS session", place)
        assert done.returncode == 0, done.stdout


README = (ROOT / "README.md").read_text()
BY_THE_GATE = 2  # of the README's sh blocks: .ci/run has them done on a clean machine
TOLERANCE = 0.25  # of readings: no two traces are the same
GCC_VERSION = (
    subprocess.run([GCC, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip() if GCC else ""
)


@pytest.mark.native
@pytest.mark.skipif(GCC_VERSION != "12", reason=f"the README's session is of Debian 12's gcc 12, not {GCC_VERSION}'s")
def test_the_readmes_session_is_what_a_reader_sees(place: Path, tmp_path: Path) -> None:
    """Readings may be others, within bounds; labels, counts and words may not. Nothing was traced before."""
    put(place, "numapredict", COLD)
    (session,) = [block for block in blocks(README) if block.words == ("console",)]
    for exchange in exchanges(session):
        done = typed(exchange.command, place, NUMAPREDICT_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stdout
        # A busy computer takes longer to come to the first region, and the line then says how long that may take.
        printed = re.sub(r" and \d+ before its first region", "", done.stdout)
        assert readings_apart(exchange.expected, printed, TOLERANCE) == []
    assert "\n  numapredict run --mapping 32x4-contiguous-locality -- ./heat\n" in done.stdout


def test_what_the_gate_does_is_the_readmes_first_commands() -> None:
    first, _ = reported = [block for block in blocks(README) if block.words == ("sh",)]
    assert len(reported) == BY_THE_GATE
    for document in documents():
        for block in blocks(document.read_text()):
            for line in block.lines if block.words == ("sh", "gate") else ():
                assert line in first.lines[0], f"{document.name}: .ci/run does not run {line}"


class TestReadings:
    EXPECTED = ("  32x4-scatter-mix (6.08x: pages by mix)", "probe 2 of 2: 388.45 ms", "makes 23% of 128 accesses")

    @staticmethod
    def printed(*change: str) -> str:
        return "".join(f"{line}\n" for line in TestReadings.EXPECTED).replace(*change)

    @pytest.mark.parametrize(
        "change", [("32x4", "16x2"), ("6.08x:", "x:"), ("2 of 2", "2 of 3"), ("128", "129"), ("mix)", "mix")]
    )
    def test_all_else_is_compared_to_the_letter(self, change: tuple[str, str]) -> None:
        with pytest.raises(ValueError, match="probe"):
            readings_apart(self.EXPECTED, self.printed(*change), 0.25)

    def test_readings_are_compared_within_bounds(self) -> None:
        assert readings_apart(self.EXPECTED, self.printed("6.08x", "6.9x"), 0.25) == []
        assert readings_apart(self.EXPECTED, self.printed("6.08x", "1.08x"), 0.25) == [("6.08", "1.08")]
        assert readings_apart(self.EXPECTED, self.printed("23%", "100%"), 0.25) == [("23", "100")]
        assert readings_apart(self.EXPECTED, self.printed("388.45 ms", "38.8 ms"), 0.25) == [("388.45", "38.8")]
