"""The C parts of a timed guest, compiled for each boot: the plugin, and what makes programs pay for their memory."""

import re
import subprocess
from pathlib import Path

from tests.guest.errors import GuestError

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "programs"
SHARED = ("-shared", "-fPIC", "-fvisibility=hidden", "-pthread")
COMPILER = ("gcc", "-std=gnu11", "-O2")


def build_parts(folder: Path, emulator: str) -> None:
    """Compile libtimed.so, libpaying.so and charged into a folder. Raises GuestError, also for another emulator."""
    told = _output([emulator, "--version"])
    version = re.search(r"version (\d+\.\d+)", told)
    if version is None or version[1] != "7.2":
        raise GuestError(f"timed guests need QEMU 7.2, Debian 12's own; {emulator} is {told.splitlines()[0]}")
    sources = [str(source) for source in sorted(HERE.glob("*.c"))]
    _output([*COMPILER, *SHARED, "-o", f"{folder}/libtimed.so", *sources])
    _output([*COMPILER, *SHARED, "-o", f"{folder}/libpaying.so", str(PROGRAMS / "paying.c")])
    _output([*COMPILER, "-static", "-o", f"{folder}/charged", str(PROGRAMS / "charged.c")])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise GuestError(f"timed guests need {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise GuestError(f"{command[0]} failed: {(done.stderr.strip() or 'it said nothing').splitlines()[0]}")
    return done.stdout
