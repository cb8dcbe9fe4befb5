"""`report accuracy`: expected against measured speedups of held-out programs."""

from pathlib import Path

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, DEFAULT, JOBS
from numapredict.reports.report_options import figure_option, print_drawn, warn_of_doubts


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
def accuracy(datasets: tuple[str, ...], default: str | None, jobs: int, output: Path, as_json: bool) -> None:
    """Draw expected against measured speedups of held-out programs, and how regret is spread over them."""
    with doing(f"reading {', '.join(datasets)}"):
        from numapredict.predictor.evaluation.evaluation_session import different_datasets, evaluate_datasets
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.accuracy import accuracy_data, draw_accuracy
        from numapredict.reports.figure_file import format_of

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, default, jobs)
    warn_of_doubts(evaluations)
    with doing(f"drawing {output}"):
        data = accuracy_data(evaluations, [open_dataset(name) for name in different])
        draw_accuracy(data, output)
    print_drawn(data, output, as_json)
