"""Pages moved a second by the preload library's batches, over `migratepages` on the same data, in a guest of two nodes.

Under emulation a second means nothing; the ratio is that of the same kernel doing both. `python -m
tests.benchmarks.page_moves`.
"""

import subprocess
import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, show
from tests.guest.machine import Guest
from tests.guest.shape import Shape

PLACEMENT = Path(__file__).parents[2] / "native" / "placement"
SYSTEM = PLACEMENT / "process" / "system.c"


@click.command()
@click.option("--megabytes", default=64, show_default=True)
@click.option("--rounds", default=9, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(megabytes: int, rounds: int, as_json: bool) -> None:
    """Boot a guest and print the ratio's median and range."""
    with tempfile.TemporaryDirectory(prefix="numapredict-moves-") as name:
        program = Path(name) / "page_moves"
        source = Path(__file__).with_name("page_moves.c")
        command = ["gcc", "-O2", "-I", str(PLACEMENT), "-o", str(program), str(source), str(SYSTEM)]
        subprocess.run(command, check=True)
        folder = Path(name) / "guest"
        folder.mkdir()
        result = Guest(Shape.parse("2x1"), ("numa_balancing=disable",)).run(
            [str(program), str(megabytes), str(rounds)], folder
        )
        if result.exit_code != 0:
            raise SystemExit(f"exit code {result.exit_code}: {result.stderr.decode()}")
        ratios = tuple(float(line.split()[2]) for line in result.stdout.decode().splitlines())
        show([Figure(f"{megabytes} MB, pages a second over migratepages", "times", ratios)], as_json=as_json)


if __name__ == "__main__":
    main()
