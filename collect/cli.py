"""The commands that look at machines and measure: `topology`, `doctor` and `collect`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from numapredict.collect.campaign_options import MACHINE, campaign_options

if TYPE_CHECKING:
    from numapredict.collect.request import CampaignRequest


@click.command()
@MACHINE
@click.option("--list", "listed", is_flag=True, help="List the described machines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def topology(machine: str | None, listed: bool, as_json: bool) -> None:
    """Show a machine's NUMA nodes: this computer's, or a described machine's."""
    import msgspec

    from numapredict.collect.allocation_text import allocation_lines
    from numapredict.collect.host import host_topology
    from numapredict.collect.machines.description import load_description, machine_names
    from numapredict.collect.topology_text import describe

    if listed:
        for name in machine_names():
            click.echo(f"{name:16} {load_description(name).summary}")
        return
    shown = load_description(machine).topology if machine else host_topology()
    click.echo(msgspec.json.format(msgspec.json.encode(shown)).decode() if as_json else describe(shown))
    for line in () if machine else allocation_lines(shown):
        click.echo(line, err=as_json)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Say what disturbs measuring here, and which counters can be believed: each is tested on known loads."""
    import msgspec

    from numapredict.collect.counters.sources import all_sources
    from numapredict.collect.diagnosis import diagnose
    from numapredict.collect.diagnosis_text import diagnosis_in_words
    from numapredict.collect.host import host_topology

    topology = host_topology()
    found = diagnose(topology, all_sources(topology), lambda text: click.echo(text, err=True))
    click.echo(msgspec.json.format(msgspec.json.encode(found)).decode() if as_json else diagnosis_in_words(found))


@click.group()
def collect() -> None:
    """Measure programs under mappings: list codelets, run campaigns."""


@collect.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def codelets(as_json: bool) -> None:
    """List the codelets, the small programs that a model learns from."""
    import msgspec

    from numapredict.collect.codelets import codelets as all_codelets

    found = all_codelets()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    for codelet in found:
        size_MB = codelet.sizes.get("medium", 0) / 1e6
        click.echo(f"{codelet.name:20} {codelet.family:19} {size_MB:5.1f} MB  {codelet.summary}")


@collect.command()
@campaign_options
@click.option(
    "--into", type=click.Path(path_type=Path), required=True, help="The dataset's folder; resumed if it exists."
)
@click.option("--dry-run", is_flag=True, help="Only say how many runs there are and how long they will take.")
def campaign(request: "CampaignRequest", into: Path, dry_run: bool) -> None:
    """Run programs under mappings and keep what was measured as a dataset."""
    from numapredict.collect.request import prepare, run_campaign, say_estimate

    prepared = prepare(request, into)
    if dry_run:
        click.echo(say_estimate(prepared))
        return
    dataset = run_campaign(prepared, sys.stderr)
    click.echo(f"{into}: {len(dataset.measurements)} measurements of {len(dataset.programs)} programs", err=True)


@collect.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("-o", "--output", "into", type=click.Path(path_type=Path), required=True, help="The dataset's folder.")
@click.option("--program", required=True, metavar="COL[,COL]", help="What names a program; several are joined.")
@click.option("--mapping", required=True, metavar="COL[,COL]", help="What names a mapping; several are joined by '-'.")
@click.option("--time", required=True, metavar="COL", help="The run time.")
@click.option(
    "--time-unit", type=click.Choice(["s", "ms", "us", "ns", "min"]), default="s", show_default=True, help="Its unit."
)
@click.option("--group", metavar="COL", help="What is held out together; each program alone if not given.")
@click.option("--counter", "counters", multiple=True, metavar="COL", help="A reading to keep; repeatable.")
@click.option("--where", "where", multiple=True, metavar="COL=VALUE", help="Only such rows; repeatable.")
@click.option("--drop-if", "drop_if", multiple=True, metavar="COL=VALUE", help="No such rows; repeatable.")
@click.option("--default", metavar="LABEL", help="The mapping that speedups are counted from.")
@click.option("--machine", metavar="NAME", help="The machine's name.")
def import_(file: Path, into: Path, default: str | None, machine: str | None, **named: Any) -> None:  # noqa: ANN401
    """Make a dataset of a CSV FILE of somebody's run times; its mappings need not be ours."""
    from numapredict.collect.foreign_table import UNITS_S, TableColumns
    from numapredict.collect.import_text import tally_in_words
    from numapredict.collect.table_import import import_table

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
    click.echo(f"{into}: {tally_in_words(import_table(file, into, columns, default, machine))}", err=True)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _conditions(texts: tuple[str, ...], option: str) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE", param_hint=option)
    return tuple((name, value) for name, _, value in (text.partition("=") for text in texts))


@collect.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def regions(folder: Path, as_json: bool) -> None:
    """List the regions that CERE can extract from the application in FOLDER (`cere configure` was run there)."""
    import msgspec

    from numapredict.collect.cere import Cere

    found = Cere(folder).regions()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    for region in found:
        coverage = "" if region.coverage is None else f"{region.coverage:5.1f} %"
        click.echo(f"{coverage:>8}  {region.name}  {region.file}")
