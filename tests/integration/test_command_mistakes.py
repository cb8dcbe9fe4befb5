"""Each mistake in a command, and each thing that it finds missing, gets one clear line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, numapredict, refusal
from tests.planted import planted_dataset
from tests.warm_start import COLD

MISTAKES = {
    "unknown machine": (("--machine", "nosuch", "PROGRAM"), "unknown machine 'nosuch'"),
    "malformed machine": (("--machine", "BROKEN.toml", "PROGRAM"), "BROKEN.toml"),
    "missing machine file": (("--machine", "absent.toml", "PROGRAM"), "absent.toml"),
    "malformed model": ((*SANDY, "--model", "BROKEN.json", "PROGRAM"), "BROKEN.json"),
    "unknown model": ((*SANDY, "--model", "nosuch", "PROGRAM"), "unknown model 'nosuch'"),
    "model of another topology": (
        ("--machine", "broadwell-2x10", "--model", "sandybridge-4x8", "PROGRAM"),
        "sandybridge-4x8",
    ),
    "malformed label": (("run", "--mapping", "16y2", "--", "ls"), "'16y2' is not a mapping's label"),
    "mapping beyond this computer": (("run", "--mapping", "9999x1-contiguous-bind", "--", "ls"), "needs 9999 cores"),
    "unsupported page policy": (("run", "--mapping", "2x2-contiguous-mix", "--", "ls"), "2x2-contiguous-mix"),
    "malformed dataset": (("train", "--dataset", "."), "dataset.json is missing"),
    "unknown dataset": (("report", "clustermap", "--dataset", "absent"), "no dataset 'absent'"),
    "a figure of another format": (
        ("report", "topology", "--output", "a.pdf"),
        "a.pdf: figures are written as .png or",
    ),
    "a figure of an absent dataset": (("report", "related", "absent"), "no dataset 'absent'"),
    "a figure of an unknown machine": (("report", "topology", "--machine", "nosuch"), "unknown machine 'nosuch'"),
    "a figure of no mapping": (("report", "mapping", "16y2"), "'16y2' is not a mapping's label"),
    "a figure of a mapping too large": (
        ("report", "mapping", "33x4-scatter-mix", *SANDY),
        "33x4-scatter-mix needs 33 cores",
    ),
    "a figure by no profile": (
        ("report", "mapping", "32x4-scatter-mix", *SANDY, "--profile", "BROKEN.toml"),
        "BROKEN.toml is no whole page-access profile",
    ),
    "unknown option": (("--frob",), "--frob"),
    "missing option": (("run", "ls"), "--mapping"),
    "unknown codelet": (("collect", "campaign", "--into", "x", "--codelet", "nosuch"), "unknown codelet 'nosuch'"),
    "unknown space": (("collect", "campaign", "--into", "x", "--space", "nosuch"), "nosuch"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_line(tmp_path: Path, mistake: str) -> None:
    words, expected = MISTAKES[mistake]
    (tmp_path / "BROKEN.toml").write_text("name = [")
    (tmp_path / "BROKEN.json").write_text('{"schema_version": 1, "machine": ')
    program = shutil.which("ls") or "/bin/ls"
    assert expected in refusal(numapredict(*(program if word == "PROGRAM" else word for word in words), cwd=tmp_path))


TYPED = {
    "./heat --machine sandybridge-4x8": (
        "--machine stands behind the program: type numapredict --machine sandybridge-4x8 ./heat (or, if it is the "
        "program's own, numapredict -- ./heat --machine sandybridge-4x8)"
    ),
    "-q ./heat 5 --machine=lpdquad 9": "type numapredict -q --machine=lpdquad ./heat 5 9 (or",
    "run ./heat --mapping close": "type numapredict run --mapping close ./heat (or",
    "variables ./heat --mapping 2x1-contiguous-bind": "type numapredict variables --mapping 2x1-contiguous-bind ./heat",
    "--machine sandybridge ls": "unknown machine 'sandybridge' (did you mean sandybridge-4x8?)",
    "--machine sandybridge-4x8 --model sandy ls": "unknown model 'sandy' (did you mean sandybridge-4x8?)",
    "evaluate lpdqad": "no dataset 'lpdqad' (did you mean lpdquad?)",
    "report sandybrige": "no dataset, model or answer 'sandybrige' (did you mean sandybridge-4x8?)",
    "preditc ./heat": "preditc: neither a command nor a program in PATH; did you mean numapredict predict ./heat?",
    "-q topolgy --list": "did you mean numapredict topology --list?",
    "help": "help: neither a command nor a program in PATH; did you mean numapredict --help?",
    "help run": "did you mean numapredict run --help?",
    "version": "did you mean numapredict --version?",
    "-h": "-h is no option; type numapredict --help",
    "run -h": "-h is no option; type numapredict run --help",
    "run --machine lpdquad ./heat": (
        "run has no option --machine, predict has one: did you mean numapredict predict --machine lpdquad ./heat?"
    ),
    "OMP_NUM_THREADS=8 ./heat": (
        "OMP_NUM_THREADS=8 is a variable: put it in front of all else: OMP_NUM_THREADS=8 numapredict ./heat"
    ),
    "run --mapping close -- A=1 B=2 ./heat": "A=1 B=2 are variables: put them in front of all else: A=1 B=2 numap",
    "report heatmap D": "there is no report 'heatmap'; did you mean numapredict report clustermap D?",
    "report dendrogram D": "there is no report 'dendrogram'; did you mean numapredict report clustermap D?",
    "report clustermp D": "there is no report 'clustermp'; did you mean numapredict report clustermap D?",
}


@pytest.mark.parametrize("line", TYPED)
def test_what_was_mistyped_is_told_with_what_to_type(tmp_path: Path, line: str) -> None:
    assert TYPED[line] in refusal(numapredict(*line.split(), cwd=tmp_path))


def test_words_of_the_program_are_left_to_it() -> None:
    """Behind a `--` all of them; without one those whose value no option knows, with a line on them."""
    alone = {"HWLOC_SYNTHETIC": "node:1 core:1 pu:1"}
    assert "one processor" in refusal(numapredict("--", "ls", "--machine", "lpdquad", **alone))
    done = numapredict("ls", "--machine", "other", "-q", "x=1", **alone)
    assert "one processor" in refusal(done)
    assert done.stderr.startswith(
        "--machine stands behind the program and goes to it; for numapredict's own, type numapredict --machine other ls"
    )
    placed = numapredict("run", "--mapping", "1x1-contiguous-bind", "echo", "--mapping", "other", "A=1")
    assert (placed.returncode, placed.stdout, placed.stderr) == (0, "--mapping other A=1\n", "")


def test_an_argument_that_is_no_text_gets_one_line() -> None:
    words = [*map(os.fsencode, COLD), b"--machine", b"sandybridge-4x8", b"ls", b"\xff.dat"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
    assert "is not UTF-8" in refusal(done)


def test_malformed_topology_gets_one_line(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xml"
    bomb.write_text('<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><topology>&b;</topology>')
    assert "bomb" in refusal(numapredict("topology", HWLOC_XMLFILE=str(bomb)))


def test_only_a_computer_with_one_processor_has_nothing_to_choose() -> None:
    alone = {"HWLOC_SYNTHETIC": "node:1 core:1 pu:1"}
    text = refusal(numapredict("ls", **alone))
    assert "this computer has one processor, so there is nothing to choose" in text
    assert "numapredict --machine broadwell-2x10 ls" in text
    text = refusal(numapredict("train", HWLOC_SYNTHETIC="node:1 core:4 pu:1"))
    assert "a model would say nothing that numapredict ./app does not find in a few runs" in text


def test_without_a_model_there_is_an_answer_and_a_line_says_how_to_train_one(tmp_path: Path) -> None:
    four = {"HWLOC_SYNTHETIC": "node:4 core:6 pu:1", "NUMAPREDICT_DATA": str(tmp_path)}
    done = numapredict("--explain", "ls", **four)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "there is no model for synthetic yet" in line]
    assert "numapredict train measures what helps here (--dry-run says how long that takes, --budget 2h" in line
    assert "run 1             as it is now: " in done.stdout
    dry = numapredict("train", "--dry-run", **four)
    assert "runs" in dry.stdout  # all of them take weeks


def test_a_full_disk_and_a_closed_folder_get_one_line(tmp_path: Path) -> None:
    done = numapredict("report", "clustermap", "--dataset", "sandybridge-4x8", "--output", "/proc/figure.png")
    assert "/proc/figure.png" in refusal(done, 1)
    done = numapredict("train", "--dataset", "sandybridge-4x8", "--output", "/proc/model.json")
    assert "/proc/model.json" in refusal(done, 1)
    # /dev/full accepts an open and refuses every write with ENOSPC.
    code = (
        "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1);"
        "from numapredict.predictor.command_line.main import main; sys.exit(main(['topology', '--list']))"
    )
    full = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=240)
    assert full.returncode == 1
    assert "No space left on device" in full.stderr
    assert "Traceback" not in full.stderr


def test_cere_is_asked_for_where_it_is_missing(tmp_path: Path) -> None:
    campaign = ("campaign", *SANDY, "--cere", str(tmp_path), "--into", str(tmp_path / "into"))
    for words in (("regions", str(tmp_path)), campaign):
        assert "cere is not on the PATH" in refusal(numapredict("collect", *words, PATH="/nowhere"))
    assert not (tmp_path / "into").exists()


def test_a_budget_of_too_few_programs_says_how_many_it_takes(tmp_path: Path) -> None:
    write_dataset(planted_dataset(1), tmp_path / "data")
    done = numapredict("-q", "report", "budget", "data", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "numapredict: dataset of planted-4x8 has 1 group of programs: a budget is divided among at least 3; "
        "collect more programs\n"
    )
