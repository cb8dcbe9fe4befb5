"""`report calibration`: how sure the advice was, against how often it was right."""

from pathlib import Path

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, JOBS
from numapredict.reports.report_options import evaluated_datasets, figure_option, print_drawn


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
    """Draw predicted confidence against how often the advice was right, on held-out programs."""
    evaluations, opened = evaluated_datasets(datasets, output, jobs)
    with doing(f"drawing {output}"):
        from numapredict.reports.calibration import calibration_data, calibration_figure
        from numapredict.reports.figure_file import write_figure

        data = calibration_data(evaluations, opened)
        write_figure(calibration_figure(data), output)
    print_drawn(data, data.title, output, as_json)
