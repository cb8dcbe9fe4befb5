"""`report explanations`: how often each rule of an explanation is right."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import DATASETS
from numapredict.reports.report_options import TABLE_FILE, print_table

if TYPE_CHECKING:
    from numapredict.predictor.evaluation.explanation_check import RuleScore
    from numapredict.predictor.learning.options import Reads

HEADINGS: dict["Reads", str] = {
    "bandwidth": "with counters",
    "share": "by the times and the share of local accesses alone",
}


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.explanation_check:RuleScore[]"],
    examples={"numapredict report explanations lpdquad": "Score each rule."},
)
@DATASETS
@TABLE_FILE
@JSON
def explanations(datasets: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Show how often each rule of the explanations is right, on codelets, for which the right answer is known."""
    with doing("loading libraries"):
        from numapredict.predictor.evaluation.explanation_check import check_datasets

    scores = check_datasets(datasets)
    print_table(scores, explanations_table, output, as_json)


def explanations_table(scores: "Sequence[RuleScore]") -> str:
    """Return the rules' scores as Markdown: right of stated, by machine; last, how often the claim holds in general."""
    from numapredict.predictor.evaluation.explanation_check import CLAIMS

    machines = tuple(dict.fromkeys(score.machine for score in scores))
    found = {(score.reads, score.rule, score.machine): score for score in scores}
    parts = []
    for reads, heading in HEADINGS.items():
        lines = [
            f"| {heading}: it says | of a program for which | {' | '.join(machines)} | all | any program |",
            f"| --- | --- |{' --- |' * (len(machines) + 2)}",
        ]
        for rule, claim in CLAIMS.items():
            of = [found[reads, rule, machine] for machine in machines]
            if any(score.said for score in of):
                cells = [_cell(score.right, score.said) for score in of]
                whole = _cell(sum(score.right for score in of), sum(score.said for score in of))
                guess = sum(score.holds for score in of) / sum(score.cases for score in of)
                lines.append(f"| {rule} | {claim} | {' | '.join(cells)} | {whole} | {guess:.0%} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _cell(right: int, said: int) -> str:
    return f"{right}/{said}" if said else ""
