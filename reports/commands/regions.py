"""`report regions`: what each region of a program gains from each mapping, as a heat map."""

from pathlib import Path

import click

from numapredict.collect.campaign.completion import files
from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import doing
from numapredict.reports.report_options import figure_option, print_drawn


@click.command(
    cls=Command,
    answers=["numapredict.reports.region_gains:RegionGainsData"],
    examples={"numapredict report regions regions.json -o regions.svg": "Draw what `regions -o regions.json` wrote."},
)
@click.argument("answer", metavar="ANSWER", shell_complete=files)
@figure_option("regions")
@JSON
def regions(answer: str, output: Path, as_json: bool) -> None:
    """Draw what each region of a program gains from each mapping, by an answer of `regions -o FILE`."""
    with doing(f"reading {answer}"):
        from numapredict.reports.figure_file import format_of, write_figure
        from numapredict.reports.parts.replays_file import open_replays
        from numapredict.reports.region_gains import region_gains_data
        from numapredict.reports.region_gains_figure import region_gains_figure

        format_of(output)
        data = region_gains_data(open_replays(answer))
    with doing(f"drawing {output}"):
        write_figure(region_gains_figure(data), output)
    print_drawn(data, data.title, output, as_json)
