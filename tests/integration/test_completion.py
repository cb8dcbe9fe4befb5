"""Shells complete commands, options, names and files by the scripts of `numapredict completion`."""

import fcntl
import os
import pty
import select
import shlex
import shutil
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command import numapredict
from tests.integration.test_terminal_sessions import CODES
from tests.warm_start import COLD, warm


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
    ("run --mapping spr", "spread"),
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
