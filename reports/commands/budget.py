"""`report budget`: the gain that is left when a model is learned from a part of all runs."""

import logging
from pathlib import Path

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, JOBS, SCHEDULER
from numapredict.reports.report_options import figure_option

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.budget_curve:BudgetCurve[]"],
    examples={"numapredict report budget lpdquad": "Draw what fewer runs would cost."},
)
@DATASETS
@JOBS
@SCHEDULER
@figure_option("budget")
@JSON
def budget(datasets: tuple[str, ...], jobs: int, scheduler: str | None, output: Path, as_json: bool) -> None:
    """Draw how much gain is left when a model is learned from a part of all runs (`train --budget`): minutes."""
    with doing("loading libraries"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.budget_curve import budget_curve
        from numapredict.predictor.evaluation.processes import on_scheduler
        from numapredict.predictor.learning.datasets import open_datasets
        from numapredict.predictor.learning.learning import options_of
        from numapredict.predictor.learning.train import default_of
        from numapredict.reports.budget_curve import budget_curves_data, budget_figure, curves_in_words
        from numapredict.reports.figure_file import format_of, write_figure
        from numapredict.reports.source import origin_of

    format_of(output)
    opened = open_datasets(tuple(dict.fromkeys(datasets)))
    options = [options_of(None, None, dataset) for dataset in opened]
    with on_scheduler(scheduler, jobs) as at_a_time:
        curves = [budget_curve(dataset, each, jobs=at_a_time) for dataset, each in zip(opened, options, strict=True)]
    origins = [
        origin_of(dataset, default_of(dataset, each).label) for dataset, each in zip(opened, options, strict=True)
    ]
    with doing(f"drawing {output}"):
        write_figure(budget_figure(budget_curves_data(curves, origins)), output)
    print_answer(curves, as_json, curves_in_words)
    log.info(f"{output}: {', '.join(curve.machine for curve in curves)}")
