"""The command that shows what threads, nodes and page policies do to a program: `characterize`."""

import logging
from pathlib import Path

import click

from numapredict.collect.campaign.campaign_options import MACHINE, NO_SMT, STRICT
from numapredict.collect.campaign.completion import files
from numapredict.collect.page_policy import PAGE_POLICIES, PagePolicy
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.number_range import NumberRange
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.renamed_option import renamed

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    kept="finished runs are kept",
    answers=["numapredict.collect.campaign.characterisation.result:Characterisation"],
    examples={"numapredict characterize --threads 8 ./app": "Show what nodes and policies do to 8 threads."},
)
@MACHINE
@renamed(
    "--into",
    "output",
    old=["--output"],
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The folder of figures, tables and runs (default: PROGRAM-on-MACHINE); resumed if it exists.",
)
@click.option(
    "--threads", multiple=True, type=click.IntRange(1), metavar="N", help="Only this number of threads; repeatable."
)
@click.option(
    "--page-policy",
    "page_policies",
    multiple=True,
    type=click.Choice(PAGE_POLICIES),
    help="Page policy of the tables over threads and nodes; repeatable (default: first-touch).",
)
@NO_SMT
@renamed(
    "--cpu-seconds",
    "budget_s",
    old=["--budget"],
    type=NumberRange(5, 86400),
    metavar="SECONDS",
    help="Modelled machines: limit of CPU time for all traces; time before the first parallel region does not count. "
    "Default: 20 for the native run and 40 per number of threads.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(1),
    metavar="N",
    default=5,
    show_default=True,
    help="Timed runs of a mapping on this computer; up to twice as many if times vary.",
)
@click.option("--fresh", is_flag=True, help="Discard the runs that an earlier characterisation has finished.")
@click.option("--retry-failed", is_flag=True, help="Repeat the runs that failed before.")
@STRICT
@JSON
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=files)
def characterize(
    machine: str | None,
    output: Path | None,
    threads: tuple[int, ...],
    page_policies: tuple[PagePolicy, ...],
    no_smt: bool,
    budget_s: float | None,
    repetitions: int,
    fresh: bool,
    retry_failed: bool,
    strict: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Show what threads, nodes and policies do to COMMAND: times, and accesses and bandwidth per node."""
    with doing("loading libraries"):
        from numapredict.collect.campaign.characterisation.session import (
            RUNS_FOLDER,
            CharacterisationRequest,
            characterise_command,
        )
        from numapredict.collect.data.dataset import read_dataset
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.reports.characterisation.files import write_characterisation
        from numapredict.reports.characterisation.words import NO_COUNTERS, characterisation_in_words
        from numapredict.reports.source import origin_of

    request = CharacterisationRequest(
        command=command,
        machine=machine,
        folder=output,
        threads=threads,
        page_policies=page_policies,
        no_smt=no_smt,
        budget_s=budget_s,
        repetitions=repetitions,
        fresh=fresh,
        retry_failed=retry_failed,
        strict=strict,
    )
    found, folder = characterise_command(request)
    origin = origin_of(read_dataset(folder / RUNS_FOLDER))
    written = write_characterisation(found, folder, origin)
    print_answer(found, as_json, characterisation_in_words)
    if as_json and not found.counted:
        log.warning(NO_COUNTERS)
    log.info(f"{folder}: {', '.join(written)}")
