"""How long `numapredict --help` takes, against an interpreter that does nothing."""

import subprocess
import sys
import time

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import numapredict

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "click", "rich", "msgspec", "importlib.metadata")


def wall_s(command: list[str]) -> float:
    """Return the wall time of a command that must succeed."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
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
    for command in (nothing, help_):
        wall_s(command)  # fills the file cache
    nothing_s, help_s = [], []
    for _ in range(rounds):
        nothing_s.append(wall_s(nothing))
        help_s.append(wall_s(help_))
    figures = (
        ratios("numapredict --help over python -c pass", help_s, nothing_s, "at most 5"),
        Figure("numapredict --help", "s", tuple(help_s)),
        Figure("heavy libraries that --help loads", "", (float(len(heavy_modules())),), "none"),
    )
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
