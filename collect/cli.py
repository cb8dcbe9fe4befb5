"""The commands that look at machines and measure: `topology`, `doctor` and `collect`."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from numapredict.collect.campaign.campaign_options import MACHINE, campaign_options
from numapredict.collect.terminal.command import JSON, Command, Group
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.renamed_option import renamed

if TYPE_CHECKING:
    from numapredict.collect.campaign.request import CampaignRequest

log = logging.getLogger(__name__)


@click.command(
    cls=Command,
    answers=(
        "numapredict.collect.topology:Topology",
        "numapredict.collect.modelled.description:DescribedMachine[]",
        "numapredict.collect.modelled.description_file:MachineFile",
    ),
    examples={
        "numapredict topology --list": "List the described machines.",
        "numapredict topology --measure -o machine.toml": "Describe this computer by measuring it.",
    },
)
@MACHINE
@click.option("--list", "listed", is_flag=True, help="List the described machines.")
@click.option("--measure", is_flag=True, help="Measure this computer and print its description.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="With --measure: the description's file."
)
@JSON
def topology(machine: str | None, listed: bool, measure: bool, output: Path | None, as_json: bool) -> None:
    """Show a machine's NUMA nodes: this computer's, or a described machine's."""
    from numapredict.collect.host.facts.allocation_text import allocation_lines
    from numapredict.collect.host.host import host_topology
    from numapredict.collect.host.topology_text import describe
    from numapredict.collect.modelled.description import described_machines, load_description
    from numapredict.collect.terminal.answer import print_answer, print_words

    if measure:
        if machine or listed:
            raise click.UsageError("--measure describes this computer: use it without --machine and --list")
        _measure(output, as_json)
        return
    if output is not None:
        raise click.UsageError("--output is the file of --measure")
    if listed:
        known = described_machines()
        width = max(len(each.name) for each in known)
        print_answer(known, as_json, lambda _: "\n".join(f"{each.name:{width}} {each.summary}" for each in known))
        return
    shown = load_description(machine).topology if machine else host_topology()
    print_answer(shown, as_json, describe)
    for line in () if machine else allocation_lines(shown):
        if as_json:
            log.info(line)
        else:
            print_words(line)


def _measure(output: Path | None, as_json: bool) -> None:
    from numapredict.collect.describing.measure import measure_this_computer
    from numapredict.collect.modelled.description_text import description_text
    from numapredict.collect.terminal.answer import print_answer

    found = measure_this_computer(output)
    if as_json:
        print_answer(found, as_json, str)
    elif output is None:
        click.echo(description_text(found), nl=False)


@click.command(
    cls=Command,
    answers=["numapredict.collect.measuring.diagnosis:Diagnosis"],
    examples={"numapredict doctor": "See what to switch off before measuring."},
)
@JSON
def doctor(as_json: bool) -> None:
    """Show what disturbs measuring here, and which counters pass a self-test on known loads."""
    from numapredict.collect.host.host import host_topology
    from numapredict.collect.measuring.counter_sources import all_sources
    from numapredict.collect.measuring.diagnosis import diagnose, diagnosis_in_words
    from numapredict.collect.terminal.answer import print_answer

    topology = host_topology()
    found = diagnose(topology, all_sources(topology))
    print_answer(found, as_json, diagnosis_in_words)


@click.group(cls=Group, examples={"numapredict collect codelets": "List the programs that models are learned from."})
def collect() -> None:
    """Measure programs under mappings: list codelets, run campaigns."""


@collect.command(
    answers=["numapredict.collect.campaign.codelets:Codelet[]"],
    examples={"numapredict collect codelets --json": "List the codelets for a program to read."},
)
@JSON
def codelets(as_json: bool) -> None:
    """List the codelets, the small programs that a model learns from."""
    from numapredict.collect.campaign.codelets import codelets as all_codelets
    from numapredict.collect.campaign.codelets import codelets_in_words
    from numapredict.collect.terminal.answer import print_answer

    print_answer(all_codelets(), as_json, codelets_in_words)


@collect.command(
    kept="finished runs are kept",
    answers=["numapredict.collect.campaign.request:CampaignSummary", "numapredict.collect.campaign.plan:Estimate"],
    examples={
        "numapredict collect campaign --machine lpdquad --codelet stream-triad --space thesis --into data": (
            "Run one codelet under the mappings of the thesis; the same command resumes after an interruption."
        ),
        "numapredict collect campaign --shards 32 --emit sbatch --into runs > campaign.sh": (
            "Print the job array that collects on many nodes; submit it by sbatch, again after a time limit."
        ),
    },
)
@campaign_options
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    required=True,
    help="The dataset's folder; resumed if it exists.",
)
@click.option("--dry-run", is_flag=True, help="Only print the number of runs and the estimated time.")
@click.option(
    "--shards", metavar="N", type=click.IntRange(1), help="Parts in which many nodes collect into one folder."
)
@click.option("--shard", metavar="N", type=click.IntRange(0), help="Which part to run, from 0.")
@click.option("--emit", type=click.Choice(["sbatch"]), help="Only print the job array that runs all shards.")
@click.option("--time-limit", metavar="TIME", help="With --emit: of each job, as sbatch takes it.")
@JSON
def campaign(
    request: "CampaignRequest",
    into: Path,
    dry_run: bool,
    as_json: bool,
    **many: Any,  # noqa: ANN401 - the options of many nodes
) -> None:
    """Run programs under mappings and keep what was measured as a dataset."""
    from numapredict.collect.campaign.request import (
        estimate_in_words,
        job_script,
        prepare,
        prepare_shard,
        run_campaign,
        summary_in_words,
        summary_of,
    )
    from numapredict.collect.campaign.shard import Shard
    from numapredict.collect.terminal.answer import print_answer

    shards, number = many["shards"], many["shard"]
    if shards is not None and request.scheduler is not None:
        raise click.UsageError("--shards and --scheduler exclude each other: a Dask scheduler deals out the programs")
    _check_shards(dry_run or as_json, **many)
    if many["emit"]:
        with doing("estimating the time"):
            script = job_script(request, into, shards, many["time_limit"])
        click.echo(script)
        return
    shard = None if number is None else Shard(number, shards)
    with doing("counting the runs"):
        prepared = prepare(request, into) if shard is None else prepare_shard(request, into, shard)
        estimate = prepared.estimate() if dry_run else None
    if estimate is not None:
        print_answer(estimate, as_json, estimate_in_words)
        return
    summary = summary_of(run_campaign(prepared), into)
    log.info(summary_in_words(summary) if shard is None else f"{shard}: {summary_in_words(summary)}")
    if as_json:
        print_answer(summary, as_json, summary_in_words)


def _check_shards(
    answers: bool, shards: int | None, shard: int | None, emit: str | None, time_limit: str | None
) -> None:
    if shards is None and (shard is not None or emit):
        raise click.UsageError("--shards says in how many parts to collect")
    if shards is not None and (shard is None) == (emit is None):
        raise click.UsageError(
            "of --shards either --shard says which one to run, or --emit sbatch prints a job for each"
        )
    if emit and answers:
        raise click.UsageError("--emit prints a job script: use it without --dry-run and --json")
    if time_limit is not None and not emit:
        raise click.UsageError("--time-limit is of the jobs that --emit sbatch prints")


FOLDERS = click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, file_okay=False),
)


@collect.command(
    answers=["numapredict.collect.campaign.merging:MergeSummary"],
    examples={
        "numapredict collect merge runs --into data": "Make a dataset of what all nodes of a campaign have collected.",
        "numapredict collect merge genoa-runs rome-runs --fleet --into fleet": "Make a dataset a kind of machine.",
    },
)
@FOLDERS
@click.option("--into", type=click.Path(path_type=Path), metavar="FOLDER", required=True, help="The dataset's folder.")
@click.option("--fleet", is_flag=True, help="Take several kinds of machines: a dataset each, in folders of that one.")
@click.option("--keep-nodes", is_flag=True, help="Keep nodes whose control is out of line with the others'.")
@JSON
def merge(folders: tuple[Path, ...], into: Path, fleet: bool, keep_nodes: bool, as_json: bool) -> None:
    """Make one dataset of the campaigns in FOLDERs: of shards, of other nodes, finished or not."""
    from numapredict.collect.campaign.merging import merge_folders, merge_in_words
    from numapredict.collect.terminal.answer import print_answer

    with doing("merging"):
        summary = merge_folders(folders, into, fleet=fleet, keep_nodes=keep_nodes)
    for line in merge_in_words(summary).splitlines():  # a log escapes what breaks a line
        log.info(line)
    if as_json:
        print_answer(summary, as_json, merge_in_words)


@collect.command(
    answers=["numapredict.collect.data.sharing:Shared"],
    examples={
        "numapredict collect share data --store /shared/store": "Add a dataset to the store that all machines share.",
    },
)
@FOLDERS
@click.option("--store", metavar="FOLDER|URL", required=True, help="The store: a folder, or a URL that fsspec knows.")
@JSON
def share(folders: tuple[Path, ...], store: str, as_json: bool) -> None:
    """Add the datasets in FOLDERs to a store for `train --fleet`; what is there is never changed."""
    from numapredict.collect.data.sharing import share_folders, shared_in_words
    from numapredict.collect.terminal.answer import print_answer

    with doing(f"adding to {store}"):
        shared = share_folders(folders, store)
    print_answer(shared, as_json, shared_in_words)


@collect.command(
    "import",
    answers=["numapredict.collect.data.foreign_table:Tally"],
    examples={
        "numapredict collect import times.csv --into data --program code --mapping policy,threads --time seconds": (
            "Make a dataset of a table with one row per run."
        )
    },
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@renamed(
    "--into",
    old=["-o", "--output"],
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    required=True,
    help="The dataset's folder.",
)
@click.option("--program", required=True, metavar="COL[,COL]", help="What names a program; several are joined.")
@click.option(
    "--mapping",
    required=True,
    metavar="COL[,COL]",
    help="What names a mapping; several are joined by '-'. After a label, a number is that of threads per core.",
)
@click.option("--time", required=True, metavar="COL", help="The run time.")
@click.option(
    "--time-unit", type=click.Choice(["s", "ms", "us", "ns", "min"]), default="s", show_default=True, help="Its unit."
)
@click.option(
    "--group", metavar="COL", help="Programs with the same value are held out together (default: each program alone)."
)
@click.option(
    "--groups",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="CSV file with columns program,group: programs of a group are held out together.",
)
@click.option("--counter", "counters", multiple=True, metavar="COL", help="A reading to keep; repeatable.")
@click.option("--where", "where", multiple=True, metavar="COL=VALUE", help="Only such rows; repeatable.")
@click.option("--drop-if", "drop_if", multiple=True, metavar="COL=VALUE", help="Leave out these rows; repeatable.")
@click.option("--default", metavar="LABEL", help="The mapping that speedups are relative to.")
@click.option("--machine", metavar="NAME", help="The machine's name.")
@click.option(
    "--counterparts",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="CSV file with columns mapping,label: which of our mappings each is nearest to.",
)
@click.option("--topology", metavar="NAME", help="The described machine, or .toml file, that counterparts are of.")
@click.option(
    "--keep-outliers", is_flag=True, help="Keep outliers: times far from the others of the same program and mapping."
)
@JSON
def import_(
    file: Path,
    into: Path,
    as_json: bool,
    **named: Any,  # noqa: ANN401 - the columns' names
) -> None:
    """Make a dataset of run times in a CSV FILE, yours or published ones, under any mappings."""
    from numapredict.collect.data.foreign_table import UNITS_S, TableColumns, doubts_in_words, tally_in_words
    from numapredict.collect.data.table_import import About, import_table
    from numapredict.collect.terminal.answer import print_answer

    if named["group"] and named["groups"]:
        raise click.UsageError("--group and --groups exclude each other: the file names every program's group")
    if (named["counterparts"] is None) != (named["topology"] is None):
        raise click.UsageError(
            "--counterparts and --topology belong together: the labels are of that machine's mappings"
        )
    if named["topology"] is not None:
        from numapredict.collect.modelled.description import load_description

        named["topology"] = load_description(named["topology"]).topology
    columns = TableColumns(
        program=_names(named["program"]),
        mapping=_names(named["mapping"]),
        time=named["time"],
        group=named["group"],
        counters=named["counters"],
        where=_conditions(named["where"], "--where"),
        drop_if=_conditions(named["drop_if"], "--drop-if"),
        unit_s=UNITS_S[named["time_unit"]],
    )
    about = About(**{name: named[name] for name in About.__struct_fields__})
    tally = import_table(file, into, columns, about)
    for line in f"{into}: {tally_in_words(tally)}".split("\n"):
        log.info(line)
    for line in doubts_in_words(tally, into.name, about.default):
        log.warning(line)
    if as_json:
        print_answer(tally, as_json, tally_in_words)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _conditions(texts: tuple[str, ...], option: str) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE", param_hint=option)
    return tuple((name, value) for name, _, value in (text.partition("=") for text in texts))


@collect.command(
    answers=["numapredict.collect.campaign.cere:Region[]"],
    examples={"numapredict collect regions ./application": "List what CERE can extract."},
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@JSON
def regions(folder: Path, as_json: bool) -> None:
    """List the regions that CERE can extract from the application in FOLDER (`cere configure` was run there)."""
    from numapredict.collect.campaign.cere import Cere, regions_in_words
    from numapredict.collect.terminal.answer import print_answer

    print_answer(Cere(folder).regions(), as_json, regions_in_words)
