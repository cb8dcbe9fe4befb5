"""The command that draws: `report`."""

from pathlib import Path

import click


@click.group()
def report() -> None:
    """Draw what was measured or learned."""


@report.command()
@click.option("--dataset", required=True, metavar="NAME|FOLDER", help="A shipped dataset by name, or a folder.")
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("clustermap.png"), show_default=True, help=".png or .svg"
)
@click.option("--default", metavar="LABEL", help="The mapping that times are divided by.")
@click.option("--clusters", type=click.IntRange(1), default=3, show_default=True, help="Clusters to colour.")
def clustermap(dataset: str, output: Path, default: str | None, clusters: int) -> None:
    """Draw a dataset's dendrogram and heatmap in one figure (thesis figures 24 and 25)."""
    from numapredict.predictor.datasets import open_dataset
    from numapredict.reports.clustermap import clustermap_data, draw_clustermap

    data = clustermap_data(open_dataset(dataset), default=default, n_clusters=clusters)
    draw_clustermap(data, output)
    click.echo(f"{output}: {data.title}", err=True)
