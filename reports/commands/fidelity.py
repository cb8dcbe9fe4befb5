"""`report fidelity`: the modelled machines against what was published."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.campaign.completion import named
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import follow

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from numapredict.collect.fidelity.claim import Comparison


def _comparisons() -> tuple[str, ...]:
    from numapredict.collect.fidelity.every import EVERY

    return tuple(EVERY)


@click.command(
    cls=Command,
    kept="finished traces are kept",
    answers=["numapredict.collect.fidelity.claim:Comparison[]"],
    examples={"numapredict report fidelity --only ics19": "Make one comparison."},
)
@click.option(
    "--only",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=named(_comparisons),
    help="One comparison; repeatable. All by default.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A Markdown file; else the table is printed.",
)
@JSON
def fidelity(names: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Compare the modelled machines with what was published: some minutes of tracing the first time.

    Comparisons: forestgomp, mctop, thesis, ics19, libgomp, npb, placements, determinism.
    """
    from numapredict.collect.fidelity.bench import Bench
    from numapredict.collect.fidelity.every import EVERY
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.reports.fidelity import fidelity_table, write_table

    for name in names:
        if name not in EVERY:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(EVERY)}", param_hint="--only")
    bench = Bench()
    chosen = names or tuple(EVERY)
    comparisons: list[Comparison] = []
    for name in follow(chosen, len(chosen), "comparisons"):
        comparisons += EVERY[name](bench)
    command = " ".join(["numapredict report fidelity", *(f"--only {name}" for name in names)])
    table = fidelity_table(comparisons, command)
    if output is not None:
        write_table(table, output)
        log.info(f"{output}: {sum(len(comparison.claims) for comparison in comparisons)} figures")
    if as_json:
        print_answer(comparisons, as_json, str)
    elif output is None:
        click.echo(table, nl=False)
