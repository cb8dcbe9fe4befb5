"""`report explanations`: how often each rule of an explanation is right."""

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.explanation_check:RuleScore[]"],
    examples={"numapredict report explanations lpdquad": "Score each rule."},
)
@DATASETS
@JSON
def explanations(datasets: tuple[str, ...], as_json: bool) -> None:
    """Show how often each rule of the advice's explanation is right, of codelets, whose nature is known."""
    with doing("loading what judges"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.explanation_session import check_datasets
        from numapredict.reports.explanations import explanations_table

    scores = check_datasets(datasets)
    print_answer(scores, as_json, explanations_table)
