"""The options of all commands that evaluate advice on held-out programs. Only click is loaded here."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.campaign.completion import named

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping


def shipped_datasets() -> tuple[str, ...]:
    """Return the names of the shipped datasets, for shell completion."""
    from numapredict.predictor.learning import datasets

    return datasets.shipped_datasets()


def shipped_models() -> tuple[str, ...]:
    """Return the names of the shipped models, for shell completion."""
    from numapredict.predictor.learning import model_choice

    return model_choice.shipped_models()


DATASET_NAMES = named(shipped_datasets, "dir")
DATASETS = click.argument("datasets", nargs=-1, required=True, metavar="DATASET...", shell_complete=DATASET_NAMES)


def to_mapping(_context: click.Context, _option: click.Parameter, label: str | None) -> "AnyMapping | None":
    """Return the mapping that the label of an option names, in our grammar or a dataset's own; None for no label."""
    from numapredict.collect.mapping import mapping_named

    return mapping_named(label) if label else None


DEFAULT = click.option(
    "--default", callback=to_mapping, metavar="LABEL", help="The mapping that speedups are relative to."
)
JOBS = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", default=1, show_default=True, help="Folds at a time."
)
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Run folds on the workers of this Dask scheduler, in place of --jobs."
)
KEEP_OUTLIERS = click.option(
    "--keep-outliers", is_flag=True, help="Keep outliers: times far from the others of the same program and mapping."
)

FILE = click.Path(path_type=Path, dir_okay=False)
