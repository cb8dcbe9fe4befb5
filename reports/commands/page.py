"""`report page`: one HTML page on a dataset, a model or an answer."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import FILE, to_mapping
from numapredict.reports.report_options import SUBJECTS

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping

log = logging.getLogger(__name__)


@click.command(
    cls=Command, examples={"numapredict report page model.json -o page.html": "Write a page on your own model."}
)
@click.argument("subject", metavar="DATASET|MODEL|ANSWER", shell_complete=SUBJECTS)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("page.html"),
    show_default=True,
    help="An .html file.",
)
@click.option(
    "--default", callback=to_mapping, metavar="LABEL", help="The mapping that a dataset's times are divided by."
)
@click.option(
    "--evaluation",
    type=FILE,
    help="What `evaluate` saved, for the page of a model (default: what was saved under its name).",
)
@click.option("--profile", type=FILE, help="Show where an answer's pages go by this profile (`run --profile`).")
def page(
    subject: str, output: Path, default: "AnyMapping | None", evaluation: Path | None, profile: Path | None
) -> None:
    """Write one HTML page on a dataset, a model or an answer: complete, offline, interactive.

    A shipped name is a dataset and a model, and the page shows both. This command's name may be left out.
    """
    with doing(f"reading {subject}"):
        from numapredict.collect.placing.profile_file import read_profile
        from numapredict.collect.terminal.printable import name_cell
        from numapredict.reports.parts.contents import page_data
        from numapredict.reports.parts.page import check_name, write_page
        from numapredict.reports.parts.subject import open_subject

        check_name(output)
        opened = open_subject(subject)
    if default is not None and opened.dataset is None:
        raise click.UsageError("--default is for a dataset: a model and an answer have their own")
    if evaluation is not None and opened.model is None:
        raise click.UsageError("--evaluation is for a model")
    if profile is not None and opened.advice is None:
        raise click.UsageError("--profile is for an answer: its mapping says where pages go")
    with doing(f"writing {output}"):
        data = page_data(opened, default, evaluation, read_profile(profile) if profile else None)
        size_bytes = write_page(data, output)
    log.info(f"{output}: {data.kind.lower()} {name_cell(data.title)}, {size_bytes / 1e6:.1f} MB")
