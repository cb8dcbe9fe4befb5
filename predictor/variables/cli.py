"""The command that says which data is in the wrong place, and which line put it there: `variables`."""

from functools import partial
from pathlib import Path

import click

from numapredict.collect.campaign.campaign_options import MACHINE
from numapredict.collect.campaign.completion import files, labels
from numapredict.collect.terminal.command import JSON, Command


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    answers=["numapredict.predictor.variables.variable:Variables"],
    examples={
        "numapredict variables --machine sandybridge-4x8 ./app": "Profile a run with a thread for each of its cores.",
        "numapredict variables --time ./app": "Say which of them are worth fixing by the time that they cost.",
        "numapredict variables --profile app.profile": "Judge the profile that `run --profile` wrote.",
    },
)
@MACHINE
@click.option(
    "--mapping",
    metavar="LABEL",
    shell_complete=labels,
    help="Which threads share a node, pages by first touch; all cores if not given.",
)
@click.option(
    "--profile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read this profile of an earlier run (`run --profile`) instead of running COMMAND.",
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write where the pages of what is worth fixing should go, for `run --plan`; all others stay where they are.",
)
@click.option("--variable", "names", multiple=True, metavar="NAME", help="With --plan: only this one; repeatable.")
@click.option(
    "--tier",
    is_flag=True,
    help="With --plan: what is touched most for its size in near memory, the rest in far memory (CXL, HBM).",
)
@click.option(
    "--time",
    "in_time",
    is_flag=True,
    help="Say what each costs in time, too: by up to 25 further runs, modelled with --machine.",
)
@JSON
@click.argument("command", nargs=-1, type=click.UNPROCESSED, shell_complete=files)
def variables(
    machine: str | None,
    mapping: str | None,
    profile: Path | None,
    plan: Path | None,
    names: tuple[str, ...],
    tier: bool,
    in_time: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Say which variables of COMMAND are in the wrong place, which line put them there, and what would help."""
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.predictor.variables.session import Question, ask
    from numapredict.predictor.variables.variables_text import variables_in_words

    if bool(command) == (profile is not None):
        raise click.UsageError("name a program to profile, or with --profile the profile of an earlier run")
    if names and plan is None:
        raise click.UsageError("--variable says what --plan FILE places: name the file, too")
    if tier and (names or plan is None):
        raise click.UsageError("--tier says by which rule --plan FILE places all variables: use it with --plan alone")
    if in_time and profile is not None:
        raise click.UsageError("--time runs the program again: name it instead of --profile")
    question = Question(command, profile, machine, mapping, plan, names, in_time, tier)
    print_answer(ask(question), as_json, partial(variables_in_words, time_asked=in_time))
