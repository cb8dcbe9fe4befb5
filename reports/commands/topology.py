"""`report topology`: a machine's nodes and what lies between them."""

from pathlib import Path

import click

from numapredict.collect.campaign.campaign_options import MACHINE
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.reports.report_options import figure_option, print_drawn


@click.command(
    cls=Command,
    answers=["numapredict.reports.topology_map:TopologyMapData"],
    examples={"numapredict report topology --machine lpd48core": "Draw a described machine."},
)
@MACHINE
@figure_option("topology")
@JSON
def topology(machine: str | None, output: Path, as_json: bool) -> None:
    """Draw a machine's nodes, and latency and bandwidth between them (distances only, on this computer)."""
    with doing(f"drawing {output}"):
        from numapredict.collect.host.host import describes_this_computer, host_topology
        from numapredict.collect.host.packages import packages
        from numapredict.collect.modelled.description import load_description
        from numapredict.reports.figure_file import write_figure
        from numapredict.reports.topology_map import computer_map_data, described_map_data, topology_figure

        if machine:
            data = described_map_data(load_description(machine))
        else:
            data = computer_map_data(host_topology(), packages() if describes_this_computer() else ())
        write_figure(topology_figure(data), output)
    print_drawn(data, data.title, output, as_json)
