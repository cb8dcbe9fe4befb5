"""`report clustermap`: a dataset's dendrogram and heatmap."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from numapredict.collect.terminal.command import JSON, Command
from numapredict.collect.terminal.progress import counting, doing
from numapredict.predictor.evaluation.evaluation_options import to_mapping
from numapredict.reports.report_options import DATASET, figure_option, print_drawn

if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping
    from numapredict.predictor.learning.options import Scale


@click.command(
    cls=Command,
    answers=["numapredict.reports.clustermap:ClustermapData"],
    examples={"numapredict report clustermap lpdquad --clusters 5": "Draw the heatmap with 5 clusters coloured."},
)
@DATASET
@figure_option("clustermap")
@click.option("--default", callback=to_mapping, metavar="LABEL", help="The mapping that times are divided by.")
@click.option(
    "--clusters", type=click.IntRange(1), metavar="N", help="Clusters to colour (default: 6, or as many as there are)."
)
@click.option(
    "--scale",
    type=click.Choice(("log", "linear")),
    default="log",
    show_default=True,
    help="Scale of the times that are clustered; models use log2, the thesis linear.",
)
@JSON
def clustermap(
    dataset: str, output: Path, default: "AnyMapping | None", clusters: int | None, scale: "Scale", as_json: bool
) -> None:
    """Draw a dataset's dendrogram and heatmap in one figure (thesis figures 24 and 25)."""
    with doing("loading libraries"):
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.clustermap import clustermap_data
        from numapredict.reports.clustermap_figure import figure_of
        from numapredict.reports.figure_file import write_figure
        from numapredict.reports.parts.subject import model_for

    with counting(2, "steps of drawing") as count:
        opened = open_dataset(dataset)
        data = clustermap_data(opened, default, clusters, scale, model_for(opened))
        count.step()
        write_figure(figure_of(data), output)
    print_drawn(data, data.title, output, as_json)
