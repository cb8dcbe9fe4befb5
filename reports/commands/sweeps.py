"""`report sweeps`: the thesis's curves of speedup over the number of clusters (figs. 26 to 29)."""

import logging
from pathlib import Path

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASET_NAMES, FILE

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.thesis:Sweep[]"],
    examples={"numapredict report sweeps lpdquad --figure sweeps.svg": "Print the curves and draw them."},
)
@click.argument("dataset", metavar="DATASET", shell_complete=DATASET_NAMES)
@click.option("--figure", type=FILE, help="Draw them too, into a .png or .svg file.")
@JSON
def sweeps(dataset: str, figure: Path | None, as_json: bool) -> None:
    """Show the speedup over the number of clusters for the thesis's feature sets (figures 26 to 29)."""
    with doing("loading what draws"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.native.errors import InsufficientDataError
        from numapredict.predictor.evaluation.thesis import sweeps_of
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import observe
        from numapredict.reports.figure_file import format_of
        from numapredict.reports.source import origin_of
        from numapredict.reports.sweep_curves import draw_sweep_curves, sweep_curves_data
        from numapredict.reports.sweeps import sweeps_in_words

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
            draw_sweep_curves(data, figure)
        log.info(f"{figure}: {data.title}")
