"""What a plan's size costs a program that allocates: ns a block under a plan of 100,000 ranges over one of 1,000."""

import os
import random
import subprocess
import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.preloaded import placed
from tests.ranges_only import GCC, build

SIZE_BYTES = 100_000  # large enough to be a range
RANGES = (1_000, 100_000)


def write_plan(path: Path, ranges: int) -> None:
    """Write a plan of so many ranges of another program: each allocation is looked for, and none is found."""
    draw = random.Random(1)  # noqa: S311 (nothing secret)
    lines = ["numaplace-plan 3"]
    for _ in range(ranges):
        lines += [f"range 1 {draw.getrandbits(64):016x} 0 0 24", "run 0 12 0", "run 12 12 1"]
    path.write_text("\n".join(lines) + "\n")


def block_ns(churn: Path, blocks: int, plan: Path | None) -> float:
    """Return the wall time a block of the allocating program, without the start of the process."""
    environment = dict(os.environ)
    if plan:
        cpu = min(os.sched_getaffinity(0))
        policy = f"threads=contiguous;pages=locality;nodes=0,1;plan={plan}"
        environment = placed(f"cpus={cpu}*2;homes=0,1;{policy}", 2)
    command = [str(churn), str(blocks), "1", "0", str(SIZE_BYTES)]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return int(run.stderr.split()[-1]) / blocks


@click.command()
@click.option("--blocks", default=20_000, show_default=True)
@click.option("--rounds", default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(blocks: int, rounds: int, as_json: bool) -> None:
    """Measure one thread's malloc, a touch of both ends, and free; the runs are interleaved."""
    none_ns: list[float] = []
    few_ns: list[float] = []
    many_ns: list[float] = []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        churn = build("churn.c", folder, GCC)
        plans = [folder / f"plan-{ranges}" for ranges in RANGES]
        for plan, ranges in zip(plans, RANGES, strict=True):
            write_plan(plan, ranges)
        for _ in range(rounds):
            none_ns.append(block_ns(churn, blocks, None))
            few_ns.append(block_ns(churn, blocks, plans[0]))
            many_ns.append(block_ns(churn, blocks, plans[1]))
    show(
        (
            ratios("100,000 ranges over 1,000", many_ns, few_ns),
            ratios("100,000 ranges over no library", many_ns, none_ns),
            Figure("a block without", "ns", tuple(none_ns)),
            Figure("a block, 1,000 ranges", "ns", tuple(few_ns)),
            Figure("a block, 100,000 ranges", "ns", tuple(many_ns)),
        ),
        as_json=as_json,
    )


if __name__ == "__main__":
    main()
