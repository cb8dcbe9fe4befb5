"""How long a whole recommendation takes when nothing is in the cache."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import EXAMPLES, compiled, numapredict

MACHINE = "sandybridge-4x8"


def wall_s(command: list[str], **environment: str) -> float:
    """Return the wall time of a command that must succeed."""
    began = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise click.ClickException(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return time.perf_counter() - began


def measure(name: str, command: list[str], rounds: int) -> tuple[Figure, ...]:
    """Return the time of a recommendation for a command, alone and over the time of the command."""
    native_s, advice_s = [], []
    for _ in range(rounds):
        native_s.append(wall_s(command))
        with tempfile.TemporaryDirectory(prefix="numapredict-") as cache:
            advice_s.append(wall_s([*numapredict(), "--machine", MACHINE, *command], NUMAPREDICT_CACHE=cache))
    return (
        Figure(f"recommendation for {name}", "s", tuple(advice_s), "at most 120"),
        ratios(f"recommendation for {name} over its native run", advice_s, native_s),
    )


@click.command()
@click.argument("command", nargs=-1)
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(command: tuple[str, ...], rounds: int, as_json: bool) -> None:
    """Measure recommendations for COMMAND, or for the two examples: one by gcc, one by clang."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        if command:
            figures += measure(Path(command[0]).name, list(command), rounds)
        else:
            for example, compiler in (("heat", "gcc"), ("particles", "clang")):
                program = compiled(EXAMPLES / f"{example}.c", Path(name), compiler)
                figures += measure(example, [str(program)], rounds)
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
