"""The command `numapredict run`: a program under a mapping, or under mappings that change while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.campaign.completion import files, labels
from numapredict.collect.placing.tools.tools import OF_RANKS, PRINTED
from numapredict.collect.terminal.command import Command
from numapredict.collect.terminal.renamed_option import renamed
from numapredict.predictor.evaluation.evaluation_options import FILE

if TYPE_CHECKING:
    from numapredict.collect.placing.tools.tools import Printed

EMIT = click.option("--emit", "tool", type=click.Choice(PRINTED), help="Print only this tool's command, for a shell.")
COMMAND = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=files)
PROGRAM = {"ignore_unknown_options": False, "allow_interspersed_args": False}


@click.command(
    cls=Command,
    context_settings=PROGRAM,
    among_output=True,
    answers=[
        "numapredict.collect.placing.placed_run_record:PlacedRun",
        "numapredict.predictor.adapting.adapted:Adapted",
    ],
    examples={
        "numapredict run ./app input.dat": "Run it under the mapping that was advised last.",
        "numapredict run --adapt ./app input.dat": "Try mappings while it runs, and keep what makes it faster.",
        "numapredict run --mapping 16x2-contiguous-interleave -- ./app input.dat": "Run it under this mapping.",
        "numapredict run --mapping 16x2-contiguous-locality --verify -- ./app": "Check where threads and pages were.",
        "numapredict run --mapping 16x2-contiguous-locality-1pernode -- mpirun -n 2 ./app": (
            "Run two MPI ranks, each with the threads and pages of a node."
        ),
    },
)
@click.option(
    "--mapping",
    "label",
    metavar="LABEL",
    shell_complete=labels,
    help="Such as 16x2-contiguous-interleave, or close, spread, compact; without it, the last advice for COMMAND.",
)
@click.option("--verify", is_flag=True, help="Report at the end where the kernel had threads and pages.")
@click.option("--regions", is_flag=True, help="Report at the end how long each parallel region took.")
@click.option("--profile", type=FILE, help="Sample which thread uses which page, and write it to this file.")
@click.option("--use-profile", type=FILE, help="Place the pages by the profile of an earlier run.")
@click.option(
    "--plan",
    type=FILE,
    help="Apply a plan of `regions --plan` (threads by region) or `variables --plan` (pages by variable).",
)
@click.option(
    "--adapt",
    is_flag=True,
    help="Begin as it is, try mappings while it runs, and keep what makes it faster, for the next run too.",
)
@click.option(
    "--budget-share",
    metavar="SHARE",
    help="With --adapt: what trials may cost of the time so far, such as 2%; 5% if not given.",
)
@click.option("--fresh", is_flag=True, help="With --adapt: forget what earlier runs found.")
@renamed(
    "-o",
    "--output",
    "json_file",
    old=["--json"],
    type=FILE,
    help="Write where threads and pages were, and the regions' times, as JSON into this file.",
)
@click.option(
    "--emit",
    "tool",
    type=click.Choice([*PRINTED, OF_RANKS]),
    help="Print only this tool's command, for a shell.",
)
@click.option(
    "--no-numa-balancing", is_flag=True, help="Switch off automatic NUMA balancing during the run; needs root."
)
@COMMAND
def run(
    label: str | None,
    verify: bool,
    regions: bool,
    profile: Path | None,
    use_profile: Path | None,
    plan: Path | None,
    adapt: bool,
    budget_share: str | None,
    fresh: bool,
    json_file: Path | None,
    tool: "Printed | None",
    no_numa_balancing: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND on this computer under a mapping; the exit code is the command's own."""
    if adapt:
        from numapredict.predictor.adapting.session import Request, run_adapting, share_of

        if label is not None or tool is not None:
            raise click.UsageError("--adapt finds the mapping itself: leave out --mapping and --emit")
        if any((verify, regions, profile, use_profile, plan, no_numa_balancing)):
            raise click.UsageError("--adapt takes -o, --budget-share and --fresh alone: leave the other options out")
        return run_adapting(Request(command, share_of(budget_share), fresh, json_file))
    if budget_share is not None or fresh:
        raise click.UsageError("--budget-share and --fresh are of --adapt: add it, or leave them out")
    from numapredict.collect.placing.placed_run import run_placed
    from numapredict.collect.placing.run_options import RunOptions

    if label is None and plan is None:
        from numapredict.collect.placing.plain_run import become
        from numapredict.collect.program import program_of
        from numapredict.native.errors import KeptAsItIsError
        from numapredict.predictor.advising.last_advice import label_or_itself, label_to_run

        try:
            program = program_of(command)
            profiled = "it is profiled as it runs by itself"
            label = label_to_run(program) if profile is None else label_or_itself(program, profiled)
        except KeptAsItIsError:
            if any((verify, regions, use_profile, json_file, tool, no_numa_balancing)):
                raise  # these are about a mapping
            become(command)
    if tool is not None:
        from numapredict.predictor.advising.emitted_command import command_for_mapping

        if any((verify, regions, profile, use_profile, plan, json_file, no_numa_balancing)):
            raise click.UsageError("--emit only prints a command: leave out the options of a run")
        click.echo(command_for_mapping(tool, label or "", command), color=True)  # to the letter
        return 0
    if profile is not None and use_profile is not None:
        raise click.UsageError("--profile and --use-profile exclude each other: sample first, then use what was found")
    if plan is not None and use_profile is not None:
        raise click.UsageError("--plan and --use-profile exclude each other: a plan places pages itself")
    options = RunOptions(verify, regions, profile, use_profile, plan, json_file, not no_numa_balancing)
    return run_placed(label, command, options)
