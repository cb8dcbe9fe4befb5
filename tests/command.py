"""Starts the numapredict command as tests of the whole need it, and reads the one line of a refusal."""

import os
import subprocess
from pathlib import Path

from tests.warm_start import COLD, warm

SANDY = ("--machine", "sandybridge-4x8")


def numapredict(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with its libraries loaded before; `cold` starts it as a user does."""
    return ended([*warm(), *words], cwd, **environment)


def cold(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start the installed command, as a user does."""
    return ended([*COLD, *words], cwd, **environment)


def ended(command: list[str], cwd: Path | None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def refusal(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """Return the one line on stderr that says what is wrong, after the lines that say what was being done."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("numapredict: ")]
    assert done.returncode == code, done
    assert len(lines) == 1
    assert lines[0] == done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return lines[0]
