"""How a command ends: its exit codes, with outputs that are closed, unread or not to be written."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, numapredict
from tests.planted import planted_dataset
from tests.warm_start import COLD, MAIN


def test_exit_codes_are_reported_and_kept(tmp_path: Path) -> None:
    text = numapredict("--help").stdout
    assert re.findall(r"^    (\d+) +\w", text, re.MULTILINE) == ["0", "1", "2", "130", "141"]
    full = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n{MAIN}",
            "topology",
            "--list",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (full.returncode, full.stderr.count("\n")) == (1, 1)
    which = ("--program", str(shutil.which("false")), "--mapping", "1x1-contiguous-bind", "--repetitions", "1")
    failed = numapredict("-q", "collect", "campaign", "--into", str(tmp_path / "made"), *which)
    assert failed.returncode == 1, failed.stderr
    assert "all 1 runs failed" in failed.stderr
    assert numapredict("run", "--mapping", "1x1-contiguous-bind", "--", "sh", "-c", "exit 37").returncode == 37
    killed = numapredict("run", "--mapping", "1x1-contiguous-bind", "--", "sh", "-c", "kill -TERM $$")
    assert killed.returncode == -signal.SIGTERM


CLOSED = [
    (("topology", *SANDY), 1, 1),
    (("topology", "--json"), 1, 1),
    (("--help",), 1, 1),
    (("schema",), 1, 1),
    (("topology", "--machine", "nosuch"), 2, 1),
    (("run", "--mapping", "1x1-contiguous-bind", "--", "true"), 0, 0),
]


@pytest.mark.parametrize(("words", "code", "lines"), CLOSED)
def test_a_closed_output_is_a_line_and_no_traceback(words: tuple[str, ...], code: int, lines: int) -> None:
    done = shell_of(">&-", *words)
    assert (done.returncode, done.stderr.count("\n")) == (code, lines), done.stderr
    assert "Traceback" not in done.stderr
    for closed in ("2>&-", "<&- >&- 2>&-"):
        assert shell_of(closed, *words).returncode == (code if ">&- 2" in closed or code == 2 else 0)


def test_a_program_that_is_run_finds_closed_what_was(tmp_path: Path) -> None:
    ask = "import os, sys; sys.exit(sum(1 << fd for fd in range(3) if not os.path.exists(f'/proc/self/fd/{fd}')))"
    for verify in ((), ("--verify",)):
        words = ("run", "--mapping", "1x1-contiguous-bind", *verify, "--", sys.executable, "-c", ask)
        # Python puts nothing in the place of what is closed.
        assert shell_of(">&-", *words).returncode == 2


@pytest.mark.parametrize("words", [("schema",), ("--help",), ("topology", *SANDY, "--json")])
def test_a_reader_that_has_gone_is_no_failure(words: tuple[str, ...]) -> None:
    """And nothing is said of it: 128 + SIGPIPE, as of any program that is told by the signal."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COLD, *words], stdout=writing, stderr=subprocess.PIPE, timeout=240, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def shell_of(redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run numapredict from a shell, with some of its files closed."""
    text = f'"$@" {redirection}'
    command = ["sh", "-c", text, "sh", *COLD, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_output_that_cannot_be_written_is_a_failure_and_a_wrong_name_a_mistake(tmp_path: Path) -> None:
    write_dataset(planted_dataset(3, subset="diener"), tmp_path / "data")
    data = str(tmp_path / "data")
    (tmp_path / "file").touch()
    away = tmp_path / "file"  # no folder
    for words in (
        ("report", data, "-o", f"{away}/page.html"),
        ("report", "clustermap", "--dataset", data, "--output", f"{away}/map.png"),
        ("train", "--dataset", data, "--output", f"{away}/model.json"),
        ("collect", "campaign", *SANDY, "--codelet", "stream-triad", "--size", "small", "--into", f"{away}/made"),
        ("report", "fidelity", "--only", "ics19", "--output", f"{away}/table.md"),
    ):
        done = numapredict("-q", *words)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
        assert str(away) in done.stderr
    for words in (
        ("report", data, "-o", "page.pdf"),
        ("report", "clustermap", "--dataset", data, "--output", "map.pdf"),
    ):
        assert numapredict("-q", *words, cwd=tmp_path).returncode == 2
