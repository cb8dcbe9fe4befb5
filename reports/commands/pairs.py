"""`report pairs`: the programs of a dataset that the model can hardly tell apart."""

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.reports.report_options import DATASET


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.similarity:LikePair[]"],
    examples={"numapredict report pairs --dataset lpdquad --count 5": "Show the five pairs most alike."},
)
@DATASET
@click.option("--default", metavar="LABEL", help="The mapping that times are divided by.")
@click.option("--count", type=click.IntRange(1), default=20, show_default=True, help="Pairs to show.")
@JSON
def pairs(dataset: str, default: str | None, count: int, as_json: bool) -> None:
    """Show which programs of a dataset the model can hardly tell apart: one of such a pair teaches nothing."""
    with doing(f"reading {dataset}"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.similarity import like_pairs
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import observe
        from numapredict.predictor.learning.learning import options_of
        from numapredict.predictor.learning.train import default_label
        from numapredict.reports.pairs import pairs_in_words

        opened = open_dataset(dataset)
        label = default_label(opened, options_of(default, None, opened))
        observations = observe(opened, label)
        found = like_pairs(observations, observations.column(label))
    print_answer(found[:count], as_json, lambda shown: pairs_in_words(shown, len(found)))
