"""The commands that look at machines and measure: `topology` and `collect`."""

import sys
from pathlib import Path

import click

MACHINE = click.option(
    "--machine",
    metavar="NAME",
    help="A described machine, modelled (see `numapredict topology --list`), or a .toml file.",
)


@click.command()
@MACHINE
@click.option("--list", "listed", is_flag=True, help="List the described machines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def topology(machine: str | None, listed: bool, as_json: bool) -> None:
    """Show a machine's NUMA nodes: this computer's, or a described machine's."""
    import msgspec

    from numapredict.collect.host import host_topology
    from numapredict.collect.machines.description import load_description, machine_names
    from numapredict.collect.topology_text import describe

    if listed:
        for name in machine_names():
            click.echo(f"{name:16} {load_description(name).summary}")
        return
    shown = load_description(machine).topology if machine else host_topology()
    click.echo(msgspec.json.format(msgspec.json.encode(shown)).decode() if as_json else describe(shown))


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
        click.echo(f"{codelet.name:18} {codelet.family:11} {size_MB:5.0f} MB  {codelet.summary}")


@collect.command()
@MACHINE
@click.option(
    "--into", type=click.Path(path_type=Path), required=True, help="The dataset's folder; resumed if it exists."
)
@click.option("--codelet", "names", multiple=True, help="Only this codelet; may be repeated.")
@click.option("--size", "sizes", multiple=True, type=click.Choice(["small", "medium", "large"]), help="Only this size.")
@click.option("--space", default="full", show_default=True, help="A named set of mappings: full, thesis, wang, ...")
@click.option("--mapping", "labels", multiple=True, metavar="LABEL", help="Only this mapping; may be repeated.")
@click.option(
    "--program", "commands", multiple=True, metavar="COMMAND", help="A program of yours instead, with arguments."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes; modelled machines only.")
@click.option("--repetitions", type=click.IntRange(1), default=5, show_default=True, help="Timed runs of each pair.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--dry-run", is_flag=True, help="Only say how many runs there are and how long they will take.")
def campaign(
    machine: str | None,
    into: Path,
    names: tuple[str, ...],
    sizes: tuple[str, ...],
    space: str,
    labels: tuple[str, ...],
    commands: tuple[str, ...],
    jobs: int,
    repetitions: int,
    retry_failed: bool,
    dry_run: bool,
) -> None:
    """Run programs under mappings and keep what was measured as a dataset."""
    from numapredict.collect.request import CampaignRequest, prepare, run_campaign, say_estimate

    request = CampaignRequest(
        machine=machine,
        codelets=names,
        sizes=sizes,
        commands=commands,
        space=space,
        labels=labels,
        jobs=jobs,
        repetitions=repetitions,
        retry_failed=retry_failed,
    )
    prepared = prepare(request, into)
    if dry_run:
        click.echo(say_estimate(prepared))
        return
    dataset = run_campaign(prepared, sys.stderr)
    click.echo(f"{into}: {len(dataset.measurements)} measurements of {len(dataset.programs)} programs", err=True)
