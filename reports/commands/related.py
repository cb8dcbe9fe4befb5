"""`report related`: related work and other learners against ours."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS, DEFAULT, JOBS
from numapredict.reports.report_options import evaluated_datasets, figure_option

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    kept="finished folds are kept",
    answers=["numapredict.reports.related_work:RelatedData"],
    examples={"numapredict report related lpdquad": "Compare with related work."},
)
@DATASETS
@DEFAULT
@JOBS
@figure_option("related")
@JSON
def related(datasets: tuple[str, ...], default: "AnyMapping | None", jobs: int, output: Path, as_json: bool) -> None:
    """Compare speedups of held-out programs: ours, related work, other learners (thesis table 1 and figure 30)."""
    evaluations, opened = evaluated_datasets(datasets, output, jobs, default)
    with doing(f"drawing {output}"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.reports.figure_file import write_figure
        from numapredict.reports.related_work import related_data, related_in_words
        from numapredict.reports.related_work_figure import related_figure

        data = related_data(evaluations, [dataset.topology for dataset in opened], opened)
        write_figure(related_figure(data), output)
    print_answer(data, as_json, related_in_words)
    log.info(f"{output}: {', '.join(panel.machine for panel in data.panels)}")
