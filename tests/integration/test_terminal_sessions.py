"""Sessions on real pseudo-terminals of several widths, in pipes, without colours: what a person truly gets."""

import fcntl
import functools
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.integration.test_command_line import SANDY, numapredict
from tests.planted import planted_dataset
from tests.warm_start import COLD, MAIN, warm

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
        (("train", "--dataset", data, "--output", to), [f"reading {data}", "0/5 steps of learning"]),
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


@pytest.mark.slow
def test_learning_shows_how_far_it_is_and_clears_up(tmp_path: Path) -> None:
    write_dataset(planted_dataset(12), tmp_path / "data")
    words = ("train", "--dataset", str(tmp_path / "data"), "--output", str(tmp_path / "model.json"))
    code, sent = on_a_terminal(80, *words)
    assert code == 0
    assert "/5" in CODES.sub("", sent)
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h")
    quiet = numapredict("-q", *words)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    loud = numapredict(*words, "-v").stderr
    assert "steps of learning in" in loud
    assert "excludes" not in loud
    assert "exclude each other" in numapredict("-q", *words, "-v").stderr


@pytest.mark.native
@pytest.mark.slow
def test_a_modelled_probe_shows_the_time_left_of_its_bound(tmp_path: Path) -> None:
    program = tmp_path / "heat"
    source = str(ROOT / "examples" / "heat.c")
    subprocess.run(["gcc", "-O2", "-fopenmp", source, "-o", str(program), "-lm"], check=True)
    words = (*SANDY, "--budget", "30", str(program))
    code, sent = on_a_terminal(80, *words, NUMAPREDICT_CACHE=str(tmp_path / "cache"))
    assert code == 0
    text = CODES.sub("", sent)
    assert "tracing with 32 threads" in text
    assert re.search(r"at most \d+ s left", text)
    again = numapredict("-v", *words, NUMAPREDICT_CACHE=str(tmp_path / "cache"))
    assert "the cache had its trace with 32 threads" in again.stderr
    assert "learned from 128 programs" in again.stderr
    assert "tracing" not in again.stderr


def script(tmp_path: Path, shell: str, start: Sequence[str] = COLD) -> Path:
    """Return a completion script, with `numapredict` on the PATH of whoever sources it in ``tmp_path``."""
    program = tmp_path / "numapredict"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(start)} "$@"\n')
    program.chmod(0o755)
    done = numapredict("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    path = tmp_path / f"completion.{shell}"
    path.write_text(done.stdout)
    return path


def said_by(command: list[str], tmp_path: Path) -> list[str]:
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=240, check=True
    )
    return done.stdout.split()


BASH = """
source "$1"; COMP_WORDS=(numapredict {words}); COMP_CWORD={at}
_numapredict_completion numapredict; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ev",), {"evaluate"}),
        (("report", "c"), {"clustermap", "calibration"}),
        (("-q", "topo"), {"topology"}),
        (("--mach",), {"--machine"}),
        (("train", "--bud"), {"--budget"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
        (("--machine", "sand"), {"sandybridge-4x8"}),
        (("train", "--dataset", "sand"), {"sandybridge-4x8"}),
        (("evaluate", "broadwell-2x10", "lpd"), {"lpdquad", "lpd48core"}),
        (("report", "page", "sand"), {"sandybridge-4x8"}),
        (("report", "sand"), {"sandybridge-4x8"}),
        (("predict", "--model", "sand"), {"sandybridge-4x8"}),
        (("run", "--emit", "l"), {"likwid"}),
        (("collect", "campaign", "--space", "th"), {"thesis"}),
        (("schema", "pre"), {"predict"}),
        (("schema", "report", "cl"), {"clustermap"}),
        (("report", "fidelity", "--only", "ic"), {"ics19"}),
    ],
)
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], expected: set[str]) -> None:
    path = script(tmp_path, "bash", COLD if words == ("ev",) else warm())
    quoted = " ".join(f"'{word}'" for word in words)
    text = BASH.format(words=quoted, at=len(words))
    assert set(said_by(["bash", "-c", text, "bash", str(path)], tmp_path)) == expected


def test_bash_leaves_what_may_be_a_program_to_its_own_completion_of_files(tmp_path: Path) -> None:
    path = script(tmp_path, "bash")
    text = 'source "$1"; COMP_WORDS=(numapredict ./com); COMP_CWORD=1; compopt() { echo "$@"; }; '
    text += "_numapredict_completion numapredict; complete -p numapredict"
    said = said_by(["bash", "-c", text, "bash", str(path)], tmp_path)
    assert said[:2] == ["-o", "default"]


@pytest.mark.native
def test_codelets_are_completed(tmp_path: Path) -> None:
    path = script(tmp_path, "bash", warm())
    text = BASH.format(words="collect campaign --codelet stream-t", at=4)
    assert said_by(["bash", "-c", text, "bash", str(path)], tmp_path) == ["stream-triad"]


FILES = [
    ("./hea", "./heat-flow"),
    ("--machine sandybridge-4x8 ./hea", "./heat-flow"),
    ("predict ./hea", "./heat-flow"),
    ("predict ./other -x hea", "heat-flow"),
    ("characterize ./hea", "./heat-flow"),
    ("run --mapping 16x2-contiguous-bind -- ./hea", "./heat-flow"),
    ("report adv", "advice.json"),
    ("report page adv", "advice.json"),
    ("train --dataset measur", "measured/"),
    ("evaluate measur", "measured/"),
    ("topology --machine mach", "machine.toml"),
    ("topology --machine sandy", "sandybridge-4x8"),
]
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {path}\n"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -d {home}/dump; source {path}\n"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a program, a prediction, a description and a dataset to complete."""
    for name in ("heat-flow", "other", "advice.json", "machine.toml"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "measured").mkdir()
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_completes_files_and_names_in_a_shell(home: Path, shell: str) -> None:
    """In an interactive shell: only there the shell's own completion of files takes over."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = script(home, shell, warm())
    command, setting = SHELLS[shell]
    environment = {**os.environ, "PATH": f"{home}:{os.environ['PATH']}", "HOME": str(home), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 300, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=home, start_new_session=True
    )
    os.close(theirs)
    try:
        os.write(ours, setting.format(path=path, home=home).encode() + b"echo rea''dy\n")
        until(ours, "ready\r\n")
        for number, (typed, expected) in enumerate(FILES):
            # What was completed is echoed by the shell; echo shows the line as it then stands.
            os.write(ours, f"numapredict {typed}\t".encode())
            until(ours, expected)
            os.write(ours, b"\x01echo \x05 " + f"do''ne{number}\n".encode())
            line = until(ours, f"done{number}\r\n").split("\r\n")[-2]
            shown = CODES.sub("", line).replace("/ done", " done").split()  # zsh takes the slash back
            assert shown == ["numapredict", *typed.split()[:-1], expected.rstrip("/"), f"done{number}"]
    finally:
        os.close(ours)
        process.kill()
        process.wait()


def until(terminal: int, text: str) -> str:
    """Read a terminal until it says something."""
    sent = ""
    end_s = time.monotonic() + 60.0
    while text not in CODES.sub("", sent):
        left_s = end_s - time.monotonic()
        assert left_s > 0, f"{text!r} did not come: {sent!r}"
        if select.select([terminal], [], [], left_s)[0]:
            sent += os.read(terminal, 1 << 16).decode(errors="replace")
    return sent


@pytest.mark.parametrize(("typed", "expected"), FILES)
def test_fish_completes_files_and_names(home: Path, typed: str, expected: str) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    path = script(home, "fish", warm())
    said = said_by(["fish", "-c", f"source {path}; complete -C 'numapredict {typed}'"], home)
    assert said[:1] == [expected]


def test_fish_completes(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    path = script(tmp_path, "fish")
    said = said_by(["fish", "-c", f"source {path}; complete -C 'numapredict ev'"], tmp_path)
    assert said[0] == "evaluate"


def test_zsh_takes_the_script(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    path = script(tmp_path, "zsh")
    text = f"autoload -Uz compinit; compinit -u -d {tmp_path}/dump; source {path}; print $_comps[numapredict]"
    assert said_by(["zsh", "-fc", text], tmp_path) == ["_numapredict_completion"]
    asked = 'COMP_WORDS="numapredict ev" COMP_CWORD=1 _NUMAPREDICT_COMPLETE=zsh_complete numapredict'
    assert said_by(["zsh", "-fc", asked], tmp_path)[:2] == ["plain", "evaluate"]


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


def test_a_budget_of_too_few_programs_says_how_many_it_takes(tmp_path: Path) -> None:
    write_dataset(planted_dataset(1), tmp_path / "data")
    done = numapredict("-q", "report", "budget", "data", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "numapredict: dataset of planted-4x8 has 1 group of programs: a budget is divided among at least 3; "
        "collect more programs\n"
    )
