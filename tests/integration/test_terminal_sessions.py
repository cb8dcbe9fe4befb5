"""Sessions on real pseudo-terminals of several widths, in pipes, without colours: what a person truly gets."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from numapredict.collect.dataset import write_dataset
from tests.integration.test_command_line import SANDY, numapredict
from tests.planted import planted_dataset

CODE = "import sys; from numapredict.predictor.main import main; sys.exit(main())"
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ROOT = Path(__file__).parents[2]


def on_a_terminal(columns: int, *words: str, **environment: str) -> tuple[int, str]:
    """Run numapredict on a terminal of so many columns; return its exit code and all that the terminal was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *words],
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


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_answers_fit_the_terminal_and_hold_the_same_words(columns: int) -> None:
    words = ("report", "pairs", "--dataset", "sandybridge-4x8", "--count", "3")
    code, sent = on_a_terminal(columns, *words)
    assert code == 0
    piped = numapredict(*words)
    assert "\x1b" not in piped.stdout + piped.stderr
    assert CODES.sub("", sent).split() == piped.stdout.split()
    plain = on_a_terminal(columns, *words, NO_COLOR="1")[1]
    assert STYLE.search(plain) is None
    assert plain == CODES.sub("", sent)
    assert "\x1b" not in on_a_terminal(columns, *words, TERM="dumb")[1]


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
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") == 1
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


def script(tmp_path: Path, shell: str) -> Path:
    """Return a completion script, with `numapredict` on the PATH of whoever sources it in ``tmp_path``."""
    program = tmp_path / "numapredict"
    program.write_text(f"#!{sys.executable}\n{CODE.replace('; ', chr(10))}\n")
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
    ],
)
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], expected: set[str]) -> None:
    path = script(tmp_path, "bash")
    quoted = " ".join(f"'{word}'" for word in words)
    text = BASH.format(words=quoted, at=len(words))
    assert set(said_by(["bash", "-c", text, "bash", str(path)], tmp_path)) == expected


def test_bash_leaves_what_may_be_a_program_to_its_own_completion_of_files(tmp_path: Path) -> None:
    path = script(tmp_path, "bash")
    text = 'source "$1"; COMP_WORDS=(numapredict ./com); COMP_CWORD=1; compopt() { echo "$@"; }; '
    text += "_numapredict_completion numapredict; complete -p numapredict"
    said = said_by(["bash", "-c", text, "bash", str(path)], tmp_path)
    assert said[:2] == ["-o", "default"]


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


def test_exit_codes_are_told_and_kept(tmp_path: Path) -> None:
    text = numapredict("--help").stdout
    assert re.findall(r"^    (\d+) +\w", text, re.MULTILINE) == ["0", "1", "2", "130"]
    full = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n{CODE}",
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
