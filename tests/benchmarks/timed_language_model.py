"""Tokens a second of llama.cpp in a timed guest, by its clock: `python -m tests.benchmarks.timed_language_model BENCH`.

BENCH is llama-bench, built for the guest's processor: `cmake -DGGML_NATIVE=OFF -DBUILD_SHARED_LIBS=OFF`. The model has
random weights and takes 16 MB. Its file was read before on the second node, as by a program that ran there. A search is
made there, then all ways run in turn. The figures are those of a timed guest, of no hardware.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.language_model import write_model
from tests.benchmarks.table import table
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import Timing, timing_of

HEAD = ("way", "tokens/s", "lowest to highest", "over as it is", "remote lines", "file's pages by node")
LIMIT_S = 7200


Runs = dict[str, list[dict[str, Any]]]
"""By way what each of its runs said, the program as it is first."""


def rows(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each way; gains are over the first, round by round."""
    first = [run["tokens_per_s"] for run in next(iter(runs.values()))]
    for way, its in runs.items():
        own = [run["tokens_per_s"] for run in its]
        gains = [each / base for each, base in zip(own, first, strict=False)]
        pages = sorted({" + ".join(map(str, run["pages"])) for run in its})
        yield (
            way,
            f"{statistics.median(own):.3g}",
            f"{min(own):.3g} to {max(own):.3g}",
            f"{statistics.median(gains):.2f}x ({min(gains):.2f} to {max(gains):.2f})",
            f"{statistics.median(run['remote'] for run in its):.0%}",
            "; ".join(pages),
        )


def remote_share(totals: str) -> float:
    """Return the part of the lines from memory that came from another node, by the totals of a guest's plugin."""
    words = totals.split()
    near, far = (sum(int(count) for word, count in pairwise(words) if word == name) for name in ("near", "far"))
    return far / (near + far)


def measured(timing: Timing, folder: Path, words: Sequence[str], take: Callable[[dict[str, Any]], None]) -> int:
    """Boot a guest, give what each search and run said to ``take`` as it ends; return the exit code.

    ``words`` are those of tests/guest/timed_language_model.py.
    """
    (folder / "guest").mkdir()
    totals, read = folder / "totals", [0]

    def line(text: str) -> None:
        said = json.loads(text)
        if "way" in said:
            said["remote"], read[:] = remote_share(totals.read_text()[read[0] :]), [totals.stat().st_size]
        if "way" in said or "search" in said:  # what each command printed comes too
            take(said)

    *_, bench, _ = words
    command = [sys.executable, "-m", "tests.guest.timed_language_model", *words]
    environment = python_environment() | {"GUEST_PAYS": Path(bench).name}
    guest = Guest(timing.shape(), ("numa_balancing=disable",), timing, totals=totals)
    return guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(line), sys.stderr.buffer)).exit_code


@click.command()
@click.argument("bench", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
@click.option("--factor", type=float, default=1500, show_default=True, help="How many times slower than the machine.")
@click.option("--model", type=click.Path(exists=True, dir_okay=False, resolve_path=True), help="A GGUF file of yours.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--tokens", default=3, show_default=True, help="Of a run.")
@click.option("--only", default="", help="No search, and only the first way and those in whose names this pattern is.")
def main(bench: str, factor: float, model: str | None, rounds: int, tokens: int, only: str) -> None:
    """Boot one guest, search there, run in all ways in turn, and print what was said and the table."""
    runs: Runs = {}

    def take(said: dict[str, Any]) -> None:
        click.echo(json.dumps(said))
        if "way" in said:
            runs.setdefault(said["way"], []).append(said)

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-tokens-") as name:
        folder, timing = Path(name), timing_of("guest-2x2", factor)
        if model is None:
            model = str(folder / "model.gguf")
            write_model(Path(model))
        try:
            code = measured(timing, folder, (str(rounds), str(tokens), only, bench, model), take)
        finally:
            click.echo(table(HEAD, [*rows(runs)]) if runs else "nothing ran")
    if code:
        raise SystemExit(f"exit code {code}")


if __name__ == "__main__":
    main()
