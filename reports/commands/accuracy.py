"""`report accuracy`: the runs of held-out programs that came farthest from what was expected."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, DEFAULT, JOBS
from numapredict.reports.report_options import evaluated_datasets, figure_option, print_drawn

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping


@click.command(
    cls=Command,
    kept="finished folds are kept",
    answers=["numapredict.reports.accuracy:AccuracyData"],
    examples={"numapredict report accuracy lpdquad --output accuracy.svg": "Draw it to print."},
)
@DATASETS
@DEFAULT
@JOBS
@figure_option("accuracy")
@JSON
def accuracy(datasets: tuple[str, ...], default: "AnyMapping | None", jobs: int, output: Path, as_json: bool) -> None:
    """Draw which runs of held-out programs came farthest from what was expected, and the regret of all."""
    evaluations, opened = evaluated_datasets(datasets, output, jobs, default)
    with doing(f"drawing {output}"):
        from numapredict.reports.accuracy import accuracy_data, accuracy_figure
        from numapredict.reports.figure_file import write_figure

        data = accuracy_data(evaluations, opened)
        write_figure(accuracy_figure(data), output)
    print_drawn(data, data.title, output, as_json)
