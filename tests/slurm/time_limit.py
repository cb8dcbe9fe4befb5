"""A campaign's job that SLURM ends at its time limit, and requeued: `python -m tests.slurm.time_limit`, some 3 minutes.

SLURM counts limits in minutes and looks at them twice a minute, which is too long for the gate.
"""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from numapredict.collect.data.dataset import read_dataset
from tests.slurm.cluster import cluster
from tests.slurm.login_node import LoginNode

PROGRAMS, SLEEP_S = 12, 3
OPTIONS = "--mapping 1x1-contiguous-bind --repetitions 1 --shards 1 --emit sbatch --time-limit 1 --into runs"


def main() -> int:
    """Submit it again until no job of it is ended by the limit, and say what became of each run."""
    programs = " ".join(f"--program 'sleep {SLEEP_S}.{number}'" for number in range(PROGRAMS))
    with cluster() as slurm, tempfile.TemporaryDirectory() as name:
        login = LoginNode(slurm, Path(name))
        login.type(f"numapredict collect campaign {programs} {OPTIONS} > job.sh")
        for start in range(1, PROGRAMS):
            job = login.type("sbatch --parsable job.sh").strip()
            login.wait(job)
            ended = re.findall(r"JobState=(\w+)", login.type(f"scontrol show job {job}"))
            ran = Counter(m.program for source in login.journals() for m in source.record.measurements)
            _say(f"start {start}: {', '.join(ended)}; {len(ran)} of {PROGRAMS} programs ran, {ran.total()} runs")
            if "TIMEOUT" not in ended:
                break
        login.type("numapredict collect merge runs --into data")
        merged = Counter(m.program for m in read_dataset(login.folder / "data").measurements)
        _say(f"merged: {len(merged)} programs, {merged.total()} runs")
    return 0 if start > 1 and ended == ["COMPLETED"] and len(merged) == merged.total() == PROGRAMS else 1


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
