"""The commands that learn, advise and run: `train`, `predict`, `run`, `evaluate`."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.campaign.campaign_options import STRICT, campaign_options
from numapredict.collect.campaign.completion import machines, named
from numapredict.collect.terminal.command import JSON, Command, Interruption
from numapredict.collect.terminal.number_range import NumberRange
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.renamed_option import renamed
from numapredict.predictor.command_line.figure_options import figure_options
from numapredict.predictor.command_line.limit_options import limit_options
from numapredict.predictor.command_line.run_cli import COMMAND, EMIT, PROGRAM
from numapredict.predictor.evaluation.evaluation_options import (
    DATASET_NAMES,
    DATASETS,
    DEFAULT,
    FILE,
    JOBS,
    KEEP_OUTLIERS,
    SCHEDULER,
    shipped_models,
)

if TYPE_CHECKING:
    from numapredict.collect.campaign.request import CampaignRequest
    from numapredict.collect.figure import Figure
    from numapredict.collect.limits import Limits
    from numapredict.collect.mapping import AnyMapping
    from numapredict.collect.placing.tools.tools import Printed
    from numapredict.predictor.learning.learning import Wishes
    from numapredict.predictor.learning.options import Method

MACHINE = click.option(
    "--machine",
    metavar="NAME",
    shell_complete=named(machines, "file"),
    help="A described machine, modelled, by name or .toml file.",
)
METHOD = click.option(
    "--method",
    type=click.Choice(["search", "thesis"]),
    default="search",
    show_default=True,
    help="How a mapping is chosen: by runs, each chosen by the results so far, or as in the thesis by the cluster to "
    "which two probe runs assign the program.",
)

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    context_settings=PROGRAM,
    answers=[
        "numapredict.predictor.advising.advice:Advice",
        "numapredict.predictor.advising.unknown:Unknown",
    ],
    examples={
        "numapredict predict --runs 2 ./app": "The quick answer: run it as it is and under one mapping.",
        "numapredict predict --runs 6 ./app": "Run it as it is and under 5 mappings, and advise the fastest.",
        "numapredict predict --for 100 ./app": "Make runs as long as they should pay if it will run 100 times.",
        "numapredict predict --threads 8 --only numactl ./app": "Advise what numactl can do for 8 threads.",
        "numapredict predict --metric 'GB/s: ([0-9.]+)' ./app": "Compare runs by what the program prints.",
        "numapredict predict --emit slurm ./app": "Print the srun command that applies the advice.",
    },
)
@MACHINE
@click.option(
    "--model",
    "wanted",
    metavar="NAME|FILE",
    shell_complete=named(shipped_models, "file"),
    help="A shipped model, or one that `train` wrote.",
)
@renamed(
    "--cpu-seconds",
    "budget_s",
    old=["--budget"],
    type=NumberRange(5, 3600),
    metavar="SECONDS",
    default=100,
    show_default=True,
    help="Modelled machines: limit of CPU time for the first 4 runs together. Time before the first parallel region "
    "does not count.",
)
@click.option("--verify", is_flag=True, hidden=True, expose_value=False, help="Every answer is verified.")
@METHOD
@click.option("--search", is_flag=True, hidden=True, expose_value=False, help="Every answer is searched.")
@click.option(
    "--runs",
    type=click.IntRange(2),
    metavar="N",
    help="Make at most N runs, the first of the program as it is (default: 4). On a described machine the first is "
    "under its default mapping, and at most N numbers of threads are traced.",
)
@click.option(
    "--for",
    "expected_runs",
    type=click.IntRange(1),
    metavar="RUNS",
    help="Make runs as long as they should pay if the program will run this often: each must be expected to save "
    "more than it costs. At most --runs, or 16. Without --for, it must be expected to speed up the best by 0.35%.",
)
@click.option("--no-cut", is_flag=True, help="Let every run finish, also one that is slower than the best so far.")
@click.option("--fresh", is_flag=True, help="Discard the runs that earlier commands made on this computer.")
@figure_options
@limit_options
@STRICT
@click.option(
    "--explain",
    is_flag=True,
    help="Also print the reasons, all runs, the commands of other tools and similar programs.",
)
@EMIT
@JSON
@COMMAND
def predict(
    machine: str | None,
    wanted: str | None,
    budget_s: float,
    method: "Method",
    runs: int | None,
    expected_runs: int | None,
    no_cut: bool,
    fresh: bool,
    figure: "Figure",
    limits: "Limits",
    strict: bool,
    explain: bool,
    tool: "Printed | None",
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Advise where COMMAND's threads and pages should live (what `numapredict COMMAND` does)."""
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.predictor.advising.advice_text import advice_in_words
    from numapredict.predictor.advising.brief_text import advice_in_brief
    from numapredict.predictor.advising.search_options import comparing, search_options
    from numapredict.predictor.advising.session import Question, ask
    from numapredict.predictor.advising.unknown import Unknown, refuse_command, unknown_in_words

    if tool is not None and as_json:
        raise click.UsageError("--emit and --json exclude each other: the JSON object has every tool's command")
    search = search_options(runs, expected_runs, cut=not no_cut, fresh=fresh, limits=limits, method=method)
    advice = ask(
        Question(
            command,
            machine=machine,
            model=wanted,
            budget_s=budget_s,
            strict=strict,
            search=comparing(search, figure),
        )
    )
    if isinstance(advice, Unknown):
        if tool is not None:
            raise refuse_command(advice)
        print_answer(advice, as_json, unknown_in_words)
    elif tool is not None:
        from numapredict.collect.program import program_of
        from numapredict.predictor.advising.emitted_command import command_for_advice

        click.echo(command_for_advice(tool, advice, program_of(command)), color=True)  # to the letter
    else:
        others = [] if advice.alternative is None else [advice.alternative.command]
        in_words = advice_in_words if explain else advice_in_brief
        print_answer(advice, as_json, in_words, (advice.command, *others))


@click.command(
    cls=Command,
    kept="finished runs are kept",
    answers=[
        "numapredict.predictor.learning.learning:Learned",
        "numapredict.predictor.learning.learning:LearnedGains",
        "numapredict.collect.campaign.plan:Estimate",
        "numapredict.predictor.learning.budget:BudgetPlan",
        "numapredict.predictor.evaluation.fleet_session:LearnedFleet",
    ],
    examples={
        "numapredict train --budget 2h": "Train for about 2 hours: a model, or data for searches.",
        "numapredict train --dataset lpdquad -o model.json": "Learn from a shipped dataset.",
        "numapredict train --fleet /shared/store --held-out": "Learn from all machines, and see which help others.",
    },
)
@campaign_options
@click.option(
    "--dataset",
    metavar="NAME|FOLDER",
    shell_complete=DATASET_NAMES,
    help="Learn from this dataset instead of running a campaign.",
)
@click.option(
    "--fleet",
    multiple=True,
    metavar="FOLDER|URL",
    help="Learn what searches need from the datasets of all machines in this store (`collect share`); repeatable.",
)
@click.option("--held-out", is_flag=True, help="With --fleet: search on each machine by the others alone.")
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="FOLDER", help="The campaign's folder; resumed if it exists."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to write the model.")
@DEFAULT
@click.option(
    "--clusters",
    type=click.IntRange(1),
    metavar="N",
    help="The number of clusters (default: chosen by cross-validation, at most 6).",
)
@click.option(
    "--budget",
    "budget_text",
    metavar="RUNS|SHARE|TIME",
    help="A limit such as 2000 (runs), 15% (of all runs) or 45min; the most informative runs are made. If that is too "
    "few for a model, only searches learn from them, and the answer says so.",
)
@KEEP_OUTLIERS
@click.option("--dry-run", is_flag=True, help="Only print the number of runs and the estimated time.")
@JSON
def train(
    request: "CampaignRequest",
    dataset: str | None,
    fleet: tuple[str, ...],
    held_out: bool,
    into: Path | None,
    output: Path | None,
    default: "AnyMapping | None",
    clusters: int | None,
    budget_text: str | None,
    keep_outliers: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn a model: run a campaign on a machine (this computer if none is named), then cluster its programs."""
    with doing("loading libraries"):
        from numapredict.collect.campaign.plan import Estimate
        from numapredict.collect.campaign.request import estimate_in_words
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.learning.budget import BudgetPlan, parse_budget, plan_in_words
        from numapredict.predictor.learning.learning import (
            Learned,
            LearnedGains,
            Wishes,
            learn_by_measuring,
            learn_from,
            learned_in_words,
        )

    wishes = Wishes(default=default, clusters=clusters, keep_outliers=keep_outliers)
    budget = parse_budget(budget_text) if budget_text is not None else None
    if budget is not None and dataset is not None:
        raise click.UsageError("--budget limits measuring, and --dataset measures nothing: leave one of them out")
    if request.scheduler is not None and (fleet or dataset is not None):
        raise click.UsageError("--scheduler runs a campaign: leave it out with --dataset and --fleet")
    if held_out and not fleet:
        raise click.UsageError("--held-out compares the machines of --fleet")
    if fleet:
        others = dataset, into, budget, clusters
        if dry_run or request != type(request)() or any(each is not None for each in others):
            raise click.UsageError(
                "--fleet learns for searches from datasets that are there: leave out all that says what to measure "
                "and how (--machine, --dataset, --into, --budget, --clusters, --dry-run and the like)"
            )
        _learn_fleet(fleet, output, wishes, held_out, as_json)
        return
    if dataset is not None:
        try:
            found: Learned | LearnedGains | Estimate | BudgetPlan = learn_from(dataset, output, wishes)
        except KeyboardInterrupt:  # no campaign was run that could go on
            raise Interruption("") from None
    else:
        found = learn_by_measuring(request, into, output, wishes, budget, dry_run)
    if isinstance(found, Estimate):
        print_answer(found, as_json, estimate_in_words)
    elif isinstance(found, BudgetPlan):
        print_answer(found, as_json, plan_in_words)
    else:
        log.info(learned_in_words(found))
        if as_json:
            print_answer(found, as_json, learned_in_words)


def _learn_fleet(places: tuple[str, ...], output: Path | None, wishes: "Wishes", held_out: bool, as_json: bool) -> None:
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.predictor.evaluation.fleet_session import fleet_in_words, learn_fleet

    try:
        found = learn_fleet(places, output, wishes, held_out=held_out)
    except KeyboardInterrupt:  # no campaign was run that could go on
        raise Interruption("") from None
    print_answer(found, as_json, fleet_in_words)


@click.command(
    cls=Command,
    kept="finished folds are kept",
    answers=["numapredict.predictor.evaluation.evaluate:Evaluations"],
    examples={
        "numapredict evaluate lpdquad --jobs 2": "Hold out every program of a shipped dataset once.",
        "numapredict evaluate lpdquad --without-machine": "Search knowing only programs of other machines.",
    },
)
@DEFAULT
@JOBS
@SCHEDULER
@click.option(
    "-o", "--output", type=FILE, help="Where to save the result as JSON (default: in the user's data folder)."
)
@click.option("--fresh", is_flag=True, help="Discard finished folds and run all again.")
@METHOD
@click.option("--without-machine", is_flag=True, help="Let searches know only the shipped datasets of other machines.")
@KEEP_OUTLIERS
@JSON
@DATASETS
def evaluate(
    datasets: tuple[str, ...],
    default: "AnyMapping | None",
    jobs: int,
    scheduler: str | None,
    output: Path | None,
    fresh: bool,
    method: str,
    without_machine: bool,
    keep_outliers: bool,
    as_json: bool,
) -> None:
    """Measure how good the advice is: every program of each DATASET is held out once, with all its variants.

    DATASET is a shipped dataset by name, or a folder. Finished folds are kept: an evaluation that was interrupted goes
    on where it was.
    """
    with doing(f"reading {', '.join(datasets)}"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.evaluation_session import Asked, evaluate_datasets, save
        from numapredict.predictor.evaluation.evaluation_text import doubts_in_words, evaluations_in_words
        from numapredict.predictor.evaluation.processes import on_scheduler

    asked = Asked(
        default=default, thesis=method == "thesis", keep_outliers=keep_outliers, without_machine=without_machine
    )
    with on_scheduler(scheduler, jobs) as at_a_time:
        found = evaluate_datasets(datasets, asked, at_a_time, fresh)
    for line in doubts_in_words(found):
        log.warning(line)
    where, _ = save(found, datasets, output)
    print_answer(found, as_json, evaluations_in_words)
    log.info(f"saved as {where}")
