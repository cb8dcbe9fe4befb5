"""The table of how often explanations are right."""

from numapredict.predictor.evaluation.explanation_check import RuleScore
from numapredict.predictor.learning.options import Reads
from numapredict.reports.commands.explanations import explanations_table


def score(machine: str, reads: Reads, rule: str, right: int, said: int) -> RuleScore:
    return RuleScore(
        machine=machine, reads=reads, rule=rule, said=said, right=right, holds=4, cases=8, wrong=("p",) * (right < said)
    )


def test_a_row_has_right_of_said_for_each_machine_and_for_all() -> None:
    from numapredict.predictor.evaluation.explanation_check import CLAIMS

    scores = [
        score(machine, reads, rule, 0, 0) if rule != "shared" else score(machine, reads, rule, right, 5)
        for machine, right in (("one", 3), ("two", 4))
        for reads in ("bandwidth", "share")
        for rule in CLAIMS
    ]
    counted, shares = explanations_table(scores).split("\n\n")
    assert counted.splitlines() == [
        "| with counters: it says | of a program for which | one | two | all | any program |",
        "| --- | --- | --- | --- | --- | --- |",
        "| shared | no page policy makes 90% of the accesses local | 3/5 | 4/5 | 7/10 | 50% |",
    ]
    assert shares.splitlines()[0].startswith("| by the times and the share of local accesses alone: it says |")
