"""Options, evaluations and output that the commands of `report` share. Only click is loaded here."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from numapredict.collect.campaign.completion import named
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.renamed_option import argument_once_option
from numapredict.predictor.evaluation.evaluation_options import DATASET_NAMES, FILE, shipped_datasets, shipped_models

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from numapredict.collect.data.dataset import Dataset
    from numapredict.collect.mapping import AnyMapping
    from numapredict.predictor.evaluation.evaluate import Evaluations

SUBJECTS = named(lambda: sorted({*shipped_datasets(), *shipped_models()}), "file")
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])
DATASET = argument_once_option("dataset", "--dataset", metavar="DATASET", shell_complete=DATASET_NAMES)


def figure_option(name: str) -> Callable[[_Decorated], _Decorated]:
    """Return the option that says where the figure goes."""
    return click.option(
        "-o", "--output", type=FILE, default=Path(f"{name}.png"), show_default=True, help=".png or .svg"
    )


TABLE_FILE = click.option("-o", "--output", type=FILE, help="A Markdown or text file; else the table is printed.")


def print_table(data: object, in_words: Callable[[Any], str], output: Path | None, as_json: bool) -> None:
    """Write a table into a file if one is named, and print JSON if it is requested; else print the table."""
    from numapredict.collect.host.durable import refused_as, replace_file
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.collect.terminal.printable import printable_lines

    if output is not None:
        with refused_as(f"cannot write the table {output}"):
            replace_file(output, f"{printable_lines(in_words(data))}\n".encode())
        log.info(f"{output}: written")
    if as_json or output is None:
        print_answer(data, as_json, in_words)


def print_drawn(data: object, title: str, output: Path, as_json: bool) -> None:
    """Print a figure's data if JSON is requested, and log the figure's path."""
    from numapredict.collect.terminal.answer import print_answer

    if as_json:
        print_answer(data, as_json, str)
    log.info(f"{output}: {title}")


def evaluated_datasets(
    datasets: Sequence[str], output: Path, jobs: int, default: "AnyMapping | None" = None
) -> "tuple[Evaluations, list[Dataset]]":
    """Evaluate datasets, each once, for a figure; return the evaluations and the datasets.

    Raises UsageError first if ``output`` cannot be a figure's name. Warns of times that the evaluation left out, and of
    programs that may be one code base.
    """
    with doing(f"reading {', '.join(datasets)}"):
        from numapredict.predictor.evaluation.evaluation_session import Asked, different_datasets, evaluate_datasets
        from numapredict.predictor.evaluation.evaluation_text import doubts_in_words
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.figure_file import format_of

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, Asked(default=default), jobs)
    for line in doubts_in_words(evaluations):
        log.warning(line)
    return evaluations, [open_dataset(name) for name in different]
