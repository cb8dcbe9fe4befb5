"""The command that says what each region of a program gains from other mappings, in two runs: `regions`."""

import sys
from pathlib import Path

import click

from numapredict.collect.campaign.completion import files
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.number_range import NumberRange


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    answers=["numapredict.predictor.regions.replayed_regions:ReplayedRegions"],
    examples={
        "numapredict regions ./app": "Run it twice, and say which region gains from which mapping.",
        "numapredict regions --plan app.plan ./app": "The same, and write a plan that `run --plan` applies.",
        "numapredict regions --keep ./app": "The same; later searches on this computer know what they gained.",
        "numapredict regions -o regions.json ./app input.dat": "The same, with the answer as JSON in a file.",
    },
)
@click.option(
    "--seconds",
    type=NumberRange(0, 86_400, min_open=True),
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="Time limit for all replays together.",
)
@click.option(
    "-o", "--output", "json", type=click.Path(path_type=Path, dir_okay=False), help="Write the answer as JSON, too."
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a plan for `run --plan`: threads region by region, pages in one place, or moved where that pays.",
)
@click.option(
    "--profile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --plan: the profile of an earlier run (`run --profile`), to place and move pages array by array.",
)
@click.option(
    "--smaller-teams",
    is_flag=True,
    help="With --plan: also in a program that may count on its number of threads; check its output then.",
)
@click.option(
    "--time",
    "in_time",
    is_flag=True,
    help="With --plan: measure it, too, in three to five rounds in turn with the run as it is.",
)
@click.option("--keep", is_flag=True, help="Keep what the regions gain: later searches on this computer know it.")
@JSON
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=files)
def regions(
    seconds: float,
    json: Path | None,
    plan: Path | None,
    profile: Path | None,
    smaller_teams: bool,
    in_time: bool,
    keep: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Run COMMAND twice and say what each of its parallel regions gains from other mappings.

    The program runs as it would with its threads on all cores, in order. The first run, whose output is discarded, says
    which instances of each region are alike. In the second one an instance of each kind is replayed under other
    mappings, in forks of the program, which stands still meanwhile. Output, exit code and signals are the program's.
    """
    from numapredict.predictor.regions.planning import Wish
    from numapredict.predictor.regions.session import Request, run_replayed

    if plan is None and (profile is not None or smaller_teams or in_time):
        raise click.UsageError("--profile, --smaller-teams and --time are about --plan FILE: name the file, too")
    if plan is not None and json is not None and plan.absolute() == json.absolute():
        raise click.UsageError(f"--plan and --output name one file, {plan}: each writes its own")
    wish = None if plan is None else Wish(plan, profile, smaller_teams)
    sys.exit(run_replayed(Request(command, seconds, json, wish, keep, as_json, in_time)))
