"""`report calibration`: how sure the advice was, against how often it was right."""

from pathlib import Path

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, JOBS
from numapredict.reports.report_options import figure_option, print_drawn, warn_of_doubts


@click.command(
    cls=Command,
    kept="finished folds are kept",
    answers=["numapredict.reports.calibration:CalibrationData"],
    examples={"numapredict report calibration lpdquad lpd48core": "Draw it over two datasets."},
)
@DATASETS
@JOBS
@figure_option("calibration")
@JSON
def calibration(datasets: tuple[str, ...], jobs: int, output: Path, as_json: bool) -> None:
    """Draw how sure the advice was of held-out programs, and how often it was right (what `evaluate` finds)."""
    with doing(f"reading {', '.join(datasets)}"):
        from numapredict.predictor.evaluation.evaluation_session import different_datasets, evaluate_datasets
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.calibration import calibration_data, draw_calibration
        from numapredict.reports.figure_file import format_of

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, jobs=jobs)
    warn_of_doubts(evaluations)
    with doing(f"drawing {output}"):
        data = calibration_data(evaluations, [open_dataset(name) for name in different])
        draw_calibration(data, output)
    print_drawn(data, output, as_json)
