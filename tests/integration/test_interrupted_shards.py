"""Shards of a campaign, side by side in one folder, that are killed or run out of disk lose the run under way alone."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from numapredict.collect.campaign.merging import merge_folders
from numapredict.collect.campaign.shard_journals import shard_journals
from numapredict.collect.data.dataset import read_dataset, write_dataset
from tests.samples import dataset_of

SCRIPT = Path(__file__).parent / "slow_campaign.py"
DATASET = dataset_of(programs=6, mappings=30)
PAIRS = len(DATASET.measurements)
SHARDS = 2


class Cluster:
    """Starts the shards of a campaign in one folder; each has a folder of its own to note what it begins."""

    def __init__(self, root: Path) -> None:
        self.root, self.runs = root, root / "runs"
        write_dataset(DATASET, root / "source")

    def start(self, shard: int, limit_bytes: int = 0) -> subprocess.Popen[str]:
        place = self.root / f"n{shard}"
        place.mkdir(exist_ok=True)
        return subprocess.Popen(
            [
                *(sys.executable, str(SCRIPT), str(self.root / "source"), str(self.runs), "1"),
                *(str(limit_bytes), str(shard), str(SHARDS)),
            ],
            cwd=place,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SLURMD_NODENAME": f"n{shard}"},
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(self) -> int:
        return sum(len(source.record.measurements) for source in shard_journals(self.runs))

    def begun(self) -> Counter[str]:
        lines = [line for path in self.root.glob("n*/calls") for line in path.read_text().splitlines()]
        return Counter(line for line in lines if not line.startswith("control "))

    def check(self) -> None:
        merge_folders([self.runs], self.root / "data", fleet=False, keep_nodes=False)
        assert set(read_dataset(self.root / "data").measurements) == set(DATASET.measurements)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def test_killed_again_and_again_they_finish_every_pair_once(cluster: Cluster) -> None:
    random_ = random.Random(7)  # noqa: S311 - moments, not secrets
    kills = 0
    for _ in range(4):
        before = cluster.finished()
        processes = [cluster.start(shard) for shard in range(SHARDS)]
        while all(p.poll() is None for p in processes) and cluster.finished() < before + random_.randrange(2, 30):
            time.sleep(0.001)
        for process in processes:
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
    assert kills > 4
    kept = cluster.finished()
    assert 0 < kept < PAIRS
    for shard in range(SHARDS):
        process = cluster.start(shard)
        assert process.communicate()[1]
        assert process.returncode == 0
    cluster.check()
    begun = cluster.begun()
    assert len(begun) == PAIRS
    assert begun.total() <= PAIRS + kills  # only what was running when it was killed is begun again


def test_a_full_disk_stops_a_shard_with_one_line_and_another_start_goes_on(cluster: Cluster) -> None:
    process = cluster.start(0, limit_bytes=30_000)
    errors = process.communicate()[1]
    assert process.returncode == 2
    assert "File too large; free some space and run the same command again" in errors.splitlines()[-1]
    kept = cluster.finished()
    assert 0 < kept < PAIRS / SHARDS
    for shard in range(SHARDS):
        process = cluster.start(shard)
        process.communicate()
        assert process.returncode == 0
    cluster.check()
    assert cluster.begun().total() == PAIRS + 1
