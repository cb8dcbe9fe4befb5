"""`report sweeps`: the thesis's curves of speedup over the number of clusters (figs. 26 to 29)."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.renamed_option import renamed
from numapredict.predictor.evaluation.evaluation_options import DATASET_NAMES, FILE

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from numapredict.predictor.evaluation.thesis import Sweep

SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
"""Numbers of clusters that have a row, besides the greatest."""


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.thesis:Sweep[]"],
    examples={"numapredict report sweeps lpdquad -o sweeps.svg": "Print the curves and draw them."},
)
@click.argument("dataset", metavar="DATASET", shell_complete=DATASET_NAMES)
@renamed("-o", "--output", "figure", old=["--figure"], type=FILE, help="Draw them too, into a .png or .svg file.")
@JSON
def sweeps(dataset: str, figure: Path | None, as_json: bool) -> None:
    """Show the speedup over the number of clusters for the thesis's feature sets (figures 26 to 29)."""
    with doing("loading libraries"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.native.errors import InsufficientDataError
        from numapredict.predictor.evaluation.thesis import sweeps_of
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import observe
        from numapredict.reports.figure_file import format_of, write_figure
        from numapredict.reports.source import origin_of
        from numapredict.reports.sweep_curves import sweep_curves_data, sweep_figure

    if figure is not None:
        format_of(figure)
    with doing(f"reading {dataset}"):
        opened = open_dataset(dataset)
        found = () if opened.topology is None else sweeps_of(observe(opened), opened.topology)
    if not found:
        raise InsufficientDataError(
            f"dataset of {opened.machine}: none of the thesis's default mappings was measured; collect the full space"
        )
    print_answer(found, as_json, lambda curves: sweeps_in_words(curves, opened.machine))
    if figure is not None:
        with doing(f"drawing {figure}"):
            data = sweep_curves_data(found, origin_of(opened))
            write_figure(sweep_figure(data), figure)
        log.info(f"{figure}: {data.title}")


def sweeps_in_words(sweeps: "Sequence[Sweep]", machine: str) -> str:
    """Return a table: a row per number of clusters, a column per curve; arithmetic means, as in the thesis."""
    from numapredict.reports.drawable import drawable

    titles = [f"{sweep.features} over {sweep.default}" for sweep in sweeps]
    lines = [
        f"{drawable(machine)}: speedup over a default mapping when each program takes the best mapping of its",
        "cluster's centroid, by the features clustered (thesis figures 26 to 29): in sample, no program was held out.",
        "",
        *(f"{chr(ord('A') + number)}: {title}" for number, title in enumerate(titles)),
        "",
        "clusters" + "".join(f"{chr(ord('A') + number):>8}" for number in range(len(sweeps))),
    ]
    most = max(len(sweep.points) for sweep in sweeps)
    for count in (count for count in (*SHOWN, most) if count <= most):
        row = [next((p.speedup_arithmetic for p in sweep.points if p.clusters == count), None) for sweep in sweeps]
        lines.append(f"{count:8}" + "".join(f"{value:7.2f}x" if value is not None else " " * 8 for value in row))
    return "\n".join(lines)
