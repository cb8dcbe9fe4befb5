"""Evaluation on the workers of a Dask scheduler: the same bytes as without, also where a worker is killed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import numapredict
from tests.planted import planted_dataset

pytestmark = pytest.mark.slow
LOCAL = ("--host", "127.0.0.1", "--no-dashboard")


def started(*words: str, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / f"{words[0]}.log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=log, stderr=log)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers of one thread, and yield its address and the workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    worker = (
        "worker",
        address,
        *LOCAL,
        "--nworkers",
        "1",
        "--nthreads",
        "1",
        "--no-nanny",
        "--local-directory",
        str(tmp_path),
    )
    server = started("scheduler", "--port", str(port), "--idle-timeout", "600", *LOCAL, folder=tmp_path)
    workers = [started(*worker, folder=tmp_path) for _ in range(2)]
    try:
        yield address, workers
    finally:
        for process in (*workers, server):
            process.kill()
            process.wait()


def evaluated(folder: Path, name: str, *options: str) -> bytes:
    """Evaluate the dataset there with nothing known of earlier folds, and return the result's bytes."""
    done = numapredict(
        "evaluate",
        str(folder / "data"),
        "-o",
        str(folder / name),
        *options,
        NUMAPREDICT_CACHE=str(folder / f"{name}-cache"),
        NUMAPREDICT_DATA=str(folder / "user"),
    )
    assert done.returncode == 0, done
    return (folder / name).read_bytes()


def test_workers_give_the_same_bytes_and_one_that_is_killed_loses_nothing(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = scheduler
    write_dataset(planted_dataset(5), tmp_path / "data")
    here = evaluated(tmp_path, "here")
    from distributed import Client  # connecting is warned of where a loop is missing, hence no fixture of its own

    with Client(address, timeout=60) as client:
        client.wait_for_workers(2, timeout=120)
        before = set(client.run(os.getpid).values())
    assert before == {worker.pid for worker in workers}
    assert evaluated(tmp_path, "there", "--scheduler", address) == here
    with subprocess.Popen(
        [sys.executable, "-c", KILLER, address, str(workers[0].pid), str(signal.SIGKILL.value)]
    ) as killer:
        assert evaluated(tmp_path, "killed", "--scheduler", address) == here
        assert killer.wait(timeout=60) == 0
    assert workers[0].wait(timeout=60) == -signal.SIGKILL


KILLER = """
import os, sys, time
from distributed import Client
with Client(sys.argv[1], timeout=60) as client:
    while not any(client.processing().values()):
        time.sleep(0.01)
    os.kill(int(sys.argv[2]), int(sys.argv[3]))
"""
