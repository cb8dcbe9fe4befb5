"""How long `--help`, starting a placed program and an answer from finished traces take, against an idle interpreter."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import EXAMPLES, compiled, numapredict

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "click", "rich", "msgspec", "importlib.metadata")


def wall_s(command: list[str], variables: Mapping[str, str] | None = None) -> float:
    """Return the wall time of a command that must succeed, with these environment variables added."""
    began = time.perf_counter()
    environment = {**os.environ, **(variables or {})}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - began


def heavy_modules() -> list[str]:
    """Return which of the heavy libraries `--help` loads; there should be none."""
    code = (
        "import sys\nfrom numapredict.predictor.command_line.main import main\nmain(['--help'])\n"
        f"sys.stderr.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stderr.split()


@click.command()
@click.option("--rounds", default=15, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Measure the command line's start-up."""
    nothing, help_ = [sys.executable, "-c", "pass"], [*numapredict(), "--help"]
    placed = [*numapredict(), "run", "--mapping", "1x1-contiguous-bind", "true"]
    adapting = [*numapredict(), "run", "--adapt", "true"]
    with tempfile.TemporaryDirectory() as folder:
        program = str(compiled(EXAMPLES / "heat.c", Path(folder)))
        answer = [*numapredict(), "--machine", "sandybridge-4x8", program, "512", "5"]
        kept = {"NUMAPREDICT_CACHE": folder, "NUMAPREDICT_DATA": folder}
        commands = (nothing, help_, placed, adapting, answer)
        for command in commands:
            wall_s(command, kept)  # fills the file cache, and makes the answer's traces
        rounds_s = [[wall_s(command, kept) for command in commands] for _ in range(rounds)]
    nothing_s, help_s, placed_s, adapting_s, answer_s = zip(*rounds_s, strict=True)
    figures = (
        ratios("numapredict --help over python -c pass", help_s, nothing_s, "at most 5"),
        Figure("numapredict --help", "s", help_s),
        ratios("numapredict run true over python -c pass", placed_s, nothing_s),
        Figure("numapredict run true", "s", placed_s, "at most 0.1 s on a quiet computer"),
        ratios("numapredict run --adapt true over python -c pass", adapting_s, nothing_s),
        Figure("numapredict run --adapt true", "s", adapting_s, "at most 0.15 s on a quiet computer"),
        ratios("an answer, its traces finished, over python -c pass", answer_s, nothing_s),
        Figure("an answer, its traces finished", "s", answer_s),
        Figure("heavy libraries that --help loads", "", (float(len(heavy_modules())),), "none"),
    )
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
