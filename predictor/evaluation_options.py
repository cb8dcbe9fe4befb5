"""The options of all commands that ask what held-out programs would be told. Only click is loaded here."""

from pathlib import Path

import click

DATASETS = click.argument("datasets", nargs=-1, required=True, metavar="DATASET...")
DEFAULT = click.option("--default", metavar="LABEL", help="The mapping that speedups are counted from.")
JOBS = click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Folds at a time.")

FILE = click.Path(path_type=Path, dir_okay=False)
