"""Nothing of a SLURM is left where the tests that started it are killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.tied import descendants

pytestmark = pytest.mark.slow


def started(slurm: Cluster, tmp_path: Path) -> tuple[subprocess.Popen[bytes], list[int], Path]:
    """Start another SLURM with a job that goes on for ever, and return its processes and its folder."""
    assert slurm.folder.is_dir()  # SLURM can be had
    begun = tmp_path / "begun"
    job = f'echo "$SLURM_CONF" >{begun}.new; mv {begun}.new {begun}; exec sleep 99999'
    command = [sys.executable, "-m", "tests.slurm", "--", "srun", "-n1", "sh", "-c", job]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.05)
    return process, descendants(process.pid), Path(begun.read_text().strip()).parent


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_started_ends_with_who_started_it(slurm: Cluster, tmp_path: Path, number: signal.Signals) -> None:
    process, below, folder = started(slurm, tmp_path)
    names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in below}
    assert sum(b"slurmd" in name for name in names.values()) >= 2
    assert any(b"99999" in name for name in names.values())  # the job, which has a session of its own
    assert folder.is_dir()
    process.send_signal(number)
    process.wait()
    while any(same(pid, name) for pid, name in names.items()) or folder.exists():
        time.sleep(0.05)


def same(pid: int, name: bytes) -> bool:
    """Return whether a process goes on; another one may have its number by now."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() == name != b""
    except OSError:
        return False
