"""`report pairs`: the programs of a dataset that the model can hardly distinguish."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import to_mapping
from numapredict.reports.report_options import DATASET, TABLE_FILE, print_table

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping
    from numapredict.predictor.evaluation.similarity import LikePair


@click.command(
    cls=Command,
    answers=["numapredict.predictor.evaluation.similarity:LikePair[]"],
    examples={"numapredict report pairs lpdquad --count 5": "Show the five pairs most alike."},
)
@DATASET
@click.option("--default", callback=to_mapping, metavar="LABEL", help="The mapping that times are divided by.")
@click.option("--count", type=click.IntRange(1), metavar="N", default=20, show_default=True, help="Pairs to show.")
@TABLE_FILE
@JSON
def pairs(dataset: str, default: "AnyMapping | None", count: int, output: Path | None, as_json: bool) -> None:
    """Show which programs of a dataset the model can hardly distinguish: one of each pair adds nothing to a model."""
    with doing(f"reading {dataset}"):
        from numapredict.predictor.evaluation.similarity import like_pairs
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import observe
        from numapredict.predictor.learning.learning import options_of
        from numapredict.predictor.learning.train import default_of

        opened = open_dataset(dataset)
        mapping = default_of(opened, options_of(default, None, opened))
        observations = observe(opened, mapping)
        found = like_pairs(observations, observations.column(mapping))
    print_table(found[:count], lambda shown: pairs_in_words(shown, len(found)), output, as_json)


def pairs_in_words(pairs: "Sequence[LikePair]", of: int) -> str:
    """Return a table of the first pairs of ``of``, the most alike first."""
    from numapredict.collect.terminal.printable import name_cell

    names = [f"{name_cell(pair.first)}, {name_cell(pair.second)}" for pair in pairs]
    width = max(len("programs"), *map(len, names))
    variant = max(len("variant"), *(len(pair.variant) for pair in pairs))
    count = f"{len(pairs)} pairs" if len(pairs) > 1 else "pair"
    lines = [
        f"The {count} most alike of {of}, in the variant in which each differs most: the factor between",
        "their times over the default's, typically and at most over all mappings, and between their local bandwidths.",
        "",
        f"{'programs':{width}}  {'variant':{variant}}  time  at most  bandwidth  same best",
    ]
    for name, pair in zip(names, pairs, strict=True):
        bandwidth = "" if pair.bandwidth is None else f"{pair.bandwidth:.2f}x"
        lines.append(
            f"{name:{width}}  {pair.variant:{variant}}  {pair.time:.2f}x  "
            f"{pair.time_at_most:6.2f}x  {bandwidth:>9}  {'yes' if pair.best else 'no'}"
        )
    return "\n".join(lines)
