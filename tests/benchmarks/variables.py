"""How well sampled shares of touches agree with those of a trace: of all, and of each variable the remote ones."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from numapredict.collect.modelled.description import load_description
from numapredict.collect.program import program_as_typed
from numapredict.predictor.variables.session import Question, ask
from tests.benchmarks.exact_touches import Exact, exact_touches
from tests.benchmarks.programs import HERE, compiled
from tests.benchmarks.table import table
from tests.openmp import traced

MACHINE, MAPPING, NODE_OF = "sandybridge-4x8", "4x4-contiguous-first-touch", (0, 1, 2, 3)
WAYS = {"stream": 2, "table": 1, "columns": 2}
"""The three ways of shares.c, each with the number of regions of a step: the last that first begin."""
AGREE, MATTERS, TRACED = 0.05, 0.05, 4


@dataclass(frozen=True)
class Compared:
    """A variable's shares by samples and by the trace; ``touch_share`` is of the program's."""

    program: str
    variable: str
    touch_share: float
    remote_share: float
    exact: Exact

    @property
    def off(self) -> float:
        """Return the larger of the two differences."""
        return max(abs(self.touch_share - self.exact.touches), abs(self.remote_share - self.exact.remote_touches))


def compared(program: Path, way: str, steps: int) -> list[Compared]:
    """Return the variables of a program that have more than a few touches; its trace is taken in the emulator."""
    answer = ask(Question((str(program), way, str(steps)), machine=MACHINE, mapping=MAPPING))
    whole = traced(
        program_as_typed((str(program), way, str(TRACED))), 4, load_description(MACHINE), {"records": 6_000_000}
    )
    regions = [region.key for region in whole.census.regions]
    exact = exact_touches(whole.trace, regions[-WAYS[way] :], NODE_OF)
    found = []
    for one in answer.variables:
        pages = next((size for size in exact if 0 <= one.size_bytes // answer.page_bytes - size <= 1), None)
        if pages is not None:
            name = f"{pages} pages" if one.name is None else f"{one.name}, {pages} pages"
            found.append(Compared(way, name, one.touch_share, one.remote_share or 0.0, exact[pages]))
    return sorted(found, key=lambda one: -one.exact.touches)


@click.command()
@click.option("--steps", default=8000, show_default=True, help="Of each profiled run.")
def main(steps: int) -> None:
    """Print the shares of each variable, sampled and exact."""
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        program = compiled(HERE / "shares.c", Path(name), options=("-g", "-fopenmp"))
        found = [one for way in WAYS for one in compared(program, way, steps)]
    head = ["program", "variable", "sampled", "exact", "of misses", "sampled remote", "exact remote", "agree"]
    rows = [
        [
            one.program,
            one.variable,
            f"{one.touch_share:.3f}",
            f"{one.exact.touches:.3f}",
            f"{one.exact.misses:.3f}",
            f"{one.remote_share:.3f}",
            f"{one.exact.remote_touches:.3f}",
            "yes" if one.off <= AGREE else "no" if one.exact.touches > MATTERS else "small",
        ]
        for one in found
    ]
    click.echo(table(head, rows))


if __name__ == "__main__":
    main()
