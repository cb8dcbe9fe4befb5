"""A folder that all nodes of a test's SLURM share, and what is typed there."""

import hashlib
import os
import shlex
import sys
import time
from pathlib import Path

from numapredict.collect.campaign.shard_journals import Source, shard_journals
from tests.slurm.cluster import NUMAPREDICT, Cluster


class LoginNode:
    """Types commands in a folder that all nodes share, with numapredict on the path."""

    def __init__(self, slurm: Cluster, folder: Path) -> None:
        self.slurm, self.folder = slurm, folder
        self.path = f"{folder}/bin:{slurm.environment['PATH']}"
        (folder / "bin").mkdir()
        command = folder / "bin" / "numapredict"
        command.write_text(f'#!/bin/sh\nexec {shlex.join(NUMAPREDICT)} "$@"\n')
        command.chmod(0o755)

    def type(self, text: str) -> str:
        """Return what a command prints on standard output; it must go well."""
        variables = {
            "PATH": self.path,
            "PYTHONPATH": os.pathsep.join(sys.path),  # as given it may be relative, to another folder
            "NUMAPREDICT_CACHE": str(self.folder / "cache"),
        }
        done = self.slurm.run(["sh", "-euc", text], variables, self.folder)
        said = "".join(path.read_text() for path in self.folder.glob("slurm-*.out"))
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}{said}"
        return done.stdout

    def wait(self, job: str) -> None:
        """Wait for the end of a job; sbatch --wait looks after 2 s, then after 4 more, then after 8, and so on."""
        while self.type(f"squeue --noheader --array --jobs={job} || true").strip():
            time.sleep(0.1)

    def journals(self, folder: str = "runs") -> tuple[Source, ...]:
        return shard_journals(self.folder / folder)

    def digest(self, dataset: str) -> str:
        return hashlib.sha256((self.folder / dataset / "measurements.parquet").read_bytes()).hexdigest()
