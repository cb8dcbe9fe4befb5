"""`report mapping`: where a mapping puts threads and pages."""

from pathlib import Path

import click

from numapredict.collect.campaign.campaign_options import MACHINE
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.predictor.evaluation.evaluation_options import FILE
from numapredict.reports.report_options import figure_option, print_drawn


@click.command(
    cls=Command,
    answers=["numapredict.reports.placed_mapping:PlacedMappingData"],
    examples={
        "numapredict report mapping 16x2-contiguous-interleave --machine lpdquad": "Draw a mapping on a machine."
    },
)
@click.argument("label", metavar="LABEL")
@MACHINE
@click.option("--profile", type=FILE, help="Where pages go by this profile, made by `numapredict run --profile`.")
@figure_option("mapping")
@JSON
def mapping(label: str, machine: str | None, profile: Path | None, output: Path, as_json: bool) -> None:
    """Draw the mapping LABEL on a machine: which thread runs on which core, which share of the pages is where."""
    with doing(f"drawing {output}"):
        from numapredict.collect.binding import mapping_on
        from numapredict.collect.host.host import host_topology
        from numapredict.collect.modelled.description import load_description
        from numapredict.collect.placement import resolve
        from numapredict.collect.placing.profile_file import read_profile
        from numapredict.reports.figure_file import write_figure
        from numapredict.reports.placed_mapping import mapping_figure, placed_mapping_data

        topology = load_description(machine).topology if machine else host_topology()
        placement = resolve(mapping_on(topology, label), topology)
        data = placed_mapping_data(placement, read_profile(profile) if profile else None)
        write_figure(mapping_figure(data), output)
    print_drawn(data, data.title, output, as_json)
