"""Throughput of two SLURM nodes over one on a modelled campaign: `python -m tests.benchmarks.two_nodes`.

Both nodes are this computer, and each has a core of it: its jobs run under taskset. A campaign's job array is submitted
as it is printed, once for both nodes and once for one, in turn, with empty caches. Beside the ratio of the times stands
what the two sides took of processor time: on a busy computer the former says little. Needs two cores.
"""

import argparse
import os
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path

from numapredict.collect.campaign.codelets import codelets
from numapredict.collect.campaign.shard_journals import shard_journals
from tests.slurm.cluster import NODES, NUMAPREDICT, Cluster, cluster

MODELLED = ("--machine", "broadwell-2x10", "--space", "thesis")
# A core a node, and the processor time of each job beside its runs.
_COMMAND = """\
#!/bin/bash
case $SLURMD_NODENAME in n1) core=0 ;; *) core=1 ;; esac
TIMEFORMAT='%U %S'
time taskset -c $core {numapredict} "$@" 2>"$PWD/said.$SLURM_ARRAY_TASK_ID"
"""


def main() -> int:
    """Print the ratio of each round and their median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--codelets", type=int, default=32, help="of 64, in both initialisations")
    parser.add_argument("--size", default="tiny", help="of the codelets: jobs of larger ones take longer")
    asked = parser.parse_args()
    ratios, work = [], []
    with cluster() as slurm:
        for _ in range(asked.rounds):
            both_s, both_cpu_s = _campaign(slurm, asked, NODES)
            one_s, one_cpu_s = _campaign(slurm, asked, NODES[:1])
            ratios.append(one_s / both_s)
            work.append(both_cpu_s / one_cpu_s)
            times = (
                f"one node {one_s:.1f} s, {one_cpu_s:.1f} s of processor time, two {both_s:.1f} s, {both_cpu_s:.1f} s"
            )
            _say(f"{times}: {ratios[-1]:.2f}x; load {os.getloadavg()[0]:.1f}")
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    _say(f"median {statistics.median(ratios):.2f}x ({spread}), of processor time {statistics.median(work):.2f}x")
    return 0


def _campaign(slurm: Cluster, asked: argparse.Namespace, nodes: tuple[str, ...]) -> tuple[float, float]:
    """Return how long a campaign took from its submission to the end of its last job, and its processor time."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        command = folder / "numapredict"
        command.write_text(_COMMAND.format(numapredict=shlex.join(NUMAPREDICT)))
        command.chmod(0o755)
        variables = {
            "PATH": f"{folder}:{slurm.environment['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "NUMAPREDICT_CACHE": f"{folder}/cache",
        }

        def typed(text: str) -> str:
            done = slurm.run(["sh", "-euc", text], variables, folder)
            if done.returncode:
                raise SystemExit(f"{text}: {done.stderr}")
            return done.stdout.strip()

        chosen = [word for each in codelets()[: asked.codelets] for word in ("--codelet", each.name)]
        options = shlex.join(
            (
                *MODELLED,
                "--size",
                asked.size,
                *chosen,
                "--shards",
                str(asked.shards),
                "--into",
                "runs",
                "--time-limit",
                "60",
            )
        )
        typed(f"{shlex.join(NUMAPREDICT)} collect campaign {options} --emit sbatch > job.sh")
        began_s = time.monotonic()
        # --exclusive: one job at a time a node.
        job = typed(
            f"sbatch --parsable --exclusive --nodelist={nodes[0]} job.sh"
            if len(nodes) == 1
            else "sbatch --parsable --exclusive job.sh"
        )
        while typed(f"squeue --noheader --array --jobs={job} || true"):
            time.sleep(0.2)
        took_s = time.monotonic() - began_s
        ran = {source.name.node for source in shard_journals(folder / "runs") if source.name}
        if ran != set(nodes):
            raise SystemExit(f"ran on {ran}, not on {nodes}")
        said = [line for path in folder.glob("slurm-*.out") for line in path.read_text().splitlines()]
        return took_s, sum(float(word) for line in said for word in line.split())


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
