"""Sessions on real pseudo-terminals of several widths, in pipes, without colours: what a person truly gets."""

import fcntl
import functools
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, numapredict
from tests.openmp import CAN_TRACE
from tests.planted import planted_dataset
from tests.warm_start import COLD, warm

STYLE = re.compile(r"\x1b\[[0-9;]*m")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ROOT = Path(__file__).parents[2]


def on_a_terminal(columns: int, *words: str, start: Sequence[str] = COLD, **environment: str) -> tuple[int, str]:
    """Run numapredict on a terminal of so many columns; return its exit code and all that the terminal was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [*start, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**inherited, "TERM": "xterm-256color", **environment},
        start_new_session=True,
    )
    os.close(theirs)
    sent = b""
    try:
        while part := os.read(ours, 1 << 16):
            sent += part
    except OSError:  # EIO: the other end was closed
        pass
    finally:
        os.close(ours)
    return process.wait(timeout=240), sent.decode().replace("\r\n", "\n")


def widest(sent: str) -> int:
    """Return the columns of the widest line that stays; what is drawn over itself begins with a carriage return."""
    return max(len(line.rsplit("\r", 1)[-1]) for line in CODES.sub("", sent).split("\n"))


PAIRS = ("report", "pairs", "--dataset", "sandybridge-4x8", "--count", "3")


@functools.cache
def piped_pairs() -> subprocess.CompletedProcess[str]:
    return numapredict(*PAIRS)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_answers_fit_the_terminal_and_hold_the_same_words(columns: int) -> None:
    code, sent = on_a_terminal(columns, *PAIRS, start=COLD if columns == 80 else warm())
    assert code == 0
    piped = piped_pairs()
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "reading sandybridge-4x8" in sent
    assert widest(sent) <= columns
    assert widest(sent) > columns * 0.75 or columns == 200
    answer = CODES.sub("", sent).rsplit("\r", 1)[-1]
    assert set(re.split(r"[-\s]+", piped.stdout)) <= set(re.split(r"[-\s]+", answer))
    plain = on_a_terminal(columns, *PAIRS, start=warm(), NO_COLOR="1")[1]
    assert STYLE.search(plain) is None
    assert CODES.sub("", plain).rsplit("\r", 1)[-1] == answer


def test_a_dumb_terminal_gets_no_codes() -> None:
    assert "\x1b" not in on_a_terminal(80, *PAIRS, start=warm(), TERM="dumb")[1]


def test_what_takes_a_second_says_what_it_does(tmp_path: Path) -> None:
    write_dataset(planted_dataset(3, subset="diener"), tmp_path / "data")
    data, to = str(tmp_path / "data"), str(tmp_path / "page.html")
    for words, shown in (
        (("report", data, "-o", to), [f"reading {data}", f"writing {to}"]),
        (("train", *SANDY, "--into", data + "2", "--dry-run"), ["loading libraries", "counting the runs"]),
        (("report", "explanations", "sandybridge-4x8"), ["0/1 datasets read"]),
        (("evaluate", data, "--output", to), ["0/1 datasets read", "0/3 folds of planted-4x8"]),
        (("train", "--dataset", data, "--output", to), [f"reading {data}", "learning the clusters of"]),
    ):
        # Libraries that are loaded before would not be said to load.
        code, sent = on_a_terminal(200, *words, start=COLD if "loading what learns" in shown else warm())
        assert code == 0, sent
        for text in shown:
            assert text in CODES.sub("", sent)
        assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h")


def test_tables_of_evaluations_fit_and_names_steer_no_terminal(tmp_path: Path) -> None:
    made = planted_dataset(3, subset="diener")
    wild = {made.programs[0].name: "red\x1b[31m\x1b]0;pwn\x07\u202e\nrow", made.programs[1].name: "x" * 300}
    renamed = [msgspec.structs.replace(p, name=wild.get(p.name, p.name)) for p in made.programs]
    runs = [msgspec.structs.replace(m, program=wild.get(m.program, m.program)) for m in made.measurements]
    write_dataset(msgspec.structs.replace(made, programs=tuple(renamed), measurements=tuple(runs)), tmp_path / "data")
    words = ("evaluate", str(tmp_path / "data"), "--output", str(tmp_path / "e.json"))
    code, sent = on_a_terminal(60, *words, start=warm())
    assert code == 0, sent
    assert widest(sent) <= 60
    piped = numapredict(*words)
    assert max(map(len, piped.stdout.split("\n"))) < 200
    for text in (sent, piped.stdout, piped.stderr):
        assert [part for part in ("\x1b]", "\x07", "\u202e", "\nrow") if part in text] == []
    assert "red\\x1b[31m\\x1b]0;pwn\\x07\\u202e\\nrow" in piped.stdout
    names = {held["program"] for held in json.loads((tmp_path / "e.json").read_text())["datasets"][0]["held_out"]}
    assert set(wild.values()) < names


@pytest.mark.parametrize("columns", [40, 200])
def test_a_mistake_is_said_within_the_width(columns: int) -> None:
    code, sent = on_a_terminal(columns, "topology", "--machine", "nosuch")
    assert code == 2
    assert STYLE.search(sent)
    text = CODES.sub("", sent)
    assert text == on_a_terminal(columns, "topology", "--machine", "nosuch", NO_COLOR="1")[1]
    assert " ".join(text.split()).startswith("numapredict: unknown machine 'nosuch'")
    assert max(map(len, text.splitlines())) <= columns


def test_learning_shows_how_far_it_is_and_clears_up(tmp_path: Path) -> None:
    write_dataset(planted_dataset(12), tmp_path / "data")
    words = ("train", "--dataset", str(tmp_path / "data"), "--output", str(tmp_path / "model.json"))
    code, sent = on_a_terminal(80, *words)
    assert code == 0
    assert "learning the clusters of planted-4x8" in CODES.sub("", sent)
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h")
    quiet = numapredict("-q", *words)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert "exclude each other" in numapredict("-q", *words, "-v").stderr


@pytest.mark.native
@pytest.mark.thorough
def test_a_modelled_run_shows_for_how_long_it_has_run(tmp_path: Path) -> None:
    program = tmp_path / "heat"
    source = str(ROOT / "examples" / "heat.c")
    subprocess.run(["gcc", "-O2", "-fopenmp", source, "-o", str(program), "-lm"], check=True)
    words = (*SANDY, "--cpu-seconds", "30", str(program))
    code, sent = on_a_terminal(80, *words, NUMAPREDICT_CACHE=str(tmp_path / "cache"))
    assert code == 0
    text = CODES.sub("", sent)
    assert "tracing with 32 threads" in text
    assert re.search(r"tracing with 32 threads, at most \d+ CPU seconds", text)
    assert re.search(r"run 1 of 4 \S+ +running for \d+ s", text)
    again = numapredict("-v", *words, NUMAPREDICT_CACHE=str(tmp_path / "cache"))
    assert "the cache had its trace with 32 threads" in again.stderr
    assert "searching by what 136 programs" in again.stderr
    assert "tracing" not in again.stderr


@pytest.mark.native
@pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")
def test_a_search_shows_its_runs_in_a_table_and_plain_lines_in_pipes(foreign: Path) -> None:
    words = ("--machine", "broadwell-2x10", "--runs", "3", str(foreign), "exit", "0")
    code, sent = on_a_terminal(160, *words)
    assert code == 0, sent
    text = CODES.sub("", sent)
    assert re.search(r"run 2 of 3 \S+ +running for \d+ s; expected to add \d+%", text)
    assert "run 1 of 3:" not in text
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") > 0
    assert widest(sent) <= 160
    assert re.search(r"^run 2 of 3: \S+ under ", numapredict(*words).stderr, re.MULTILINE)
