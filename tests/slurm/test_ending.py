"""Nothing of a SLURM is left where the tests that started it are killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.tied import descendants


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_started_ends_with_who_started_it(slurm: Cluster, tmp_path: Path, number: signal.Signals) -> None:
    assert slurm.folder.is_dir()  # SLURM can be had
    begun = tmp_path / "begun"
    job = f'echo "$SLURM_CONF" >{begun}.new; mv {begun}.new {begun}; exec sleep 99999'
    command = [sys.executable, "-m", "tests.slurm", "--", "srun", "-n1", "sh", "-c", job]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (begun.exists() and any(name == b"sleep\x0099999\x00" for name in below(process.pid).values())):
            assert process.poll() is None
            time.sleep(0.05)
        names = below(process.pid)
        process.send_signal(number)
        process.wait()
    finally:
        process.terminate()
        process.wait()
    folder = Path(begun.read_text().strip()).parent
    assert sum(b"slurmd" in name for name in names.values()) >= 2
    while any(same(pid, name) for pid, name in names.items()) or folder.exists():
        time.sleep(0.05)


def below(pid: int) -> dict[int, bytes]:
    """Return what a process started, directly or not, and how each was called."""
    return {one: text for one in descendants(pid) if (text := called(one))}


def called(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def same(pid: int, name: bytes) -> bool:
    """Return whether a process goes on; another one may have its number by now."""
    return called(pid) == name
