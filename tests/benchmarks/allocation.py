"""What the preload library costs a program that allocates: idle, and noting every large block, against none."""

import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.ranges_only import GCC, build, build_library, ended

CASES = (("64 bytes", 64), ("100 KB", 100_000), ("mixed sizes", 0))


def block_ns(blocks: int, threads: int, size_bytes: int, churn: Path, **environment: str) -> float:
    """Return the wall time a block."""
    run = ended(churn, blocks, threads, 0, size_bytes, **environment)
    if run.code != 0:
        raise click.ClickException(f"{churn.name} ended with {run.code}: {run.errors.strip()}")
    return int(run.errors.split()[-1]) / blocks


@click.command()
@click.option("--blocks", default=10_000_000, show_default=True)
@click.option("--threads", default=8, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(blocks: int, threads: int, rounds: int, as_json: bool) -> None:
    """Measure malloc, a touch of both ends, and free, without placing anything; the runs are interleaved."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        library, churn = str(build_library(folder)), build("churn.c", folder, GCC)
        for words, size_bytes in CASES:
            alone_ns, idle_ns, noting_ns = [], [], []
            for _ in range(rounds):
                alone_ns.append(block_ns(blocks, threads, size_bytes, churn))
                idle_ns.append(block_ns(blocks, threads, size_bytes, churn, LD_PRELOAD=library))
                ranges = str(folder / "ranges")
                noting_ns.append(block_ns(blocks, threads, size_bytes, churn, LD_PRELOAD=library, RANGES=ranges))
            figures += (
                ratios(f"{words}, {threads} threads: idle over none", idle_ns, alone_ns),
                ratios(f"{words}, {threads} threads: noting over none", noting_ns, alone_ns),
                Figure(f"{words}, {threads} threads: a block without", "ns", tuple(alone_ns)),
                Figure(f"{words}, {threads} threads: a block noted", "ns", tuple(noting_ns)),
            )
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
