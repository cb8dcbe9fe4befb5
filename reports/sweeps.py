"""The thesis's curves of speedup over the number of clusters (figs. 26 to 29), as text."""

from collections.abc import Sequence

from numapredict.predictor.evaluation.thesis import Sweep
from numapredict.reports.drawable import drawable

SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)


def sweeps_in_words(sweeps: Sequence[Sweep], machine: str) -> str:
    """Return a table: a row a number of clusters, a column a curve; arithmetic means, as the thesis has them."""
    titles = [f"{sweep.features} over {sweep.default}" for sweep in sweeps]
    lines = [
        f"{drawable(machine)}: speedup over a default mapping when each program takes the best mapping of its",
        "cluster's centroid, by the features clustered (thesis figures 26 to 29): in sample, no program was held out.",
        "",
        *(f"{chr(ord('A') + number)}: {title}" for number, title in enumerate(titles)),
        "",
        "clusters" + "".join(f"{chr(ord('A') + number):>8}" for number in range(len(sweeps))),
    ]
    most = max(len(sweep.points) for sweep in sweeps)
    for count in (count for count in (*SHOWN, most) if count <= most):
        row = [next((p.speedup_arithmetic for p in sweep.points if p.clusters == count), None) for sweep in sweeps]
        lines.append(f"{count:8}" + "".join(f"{value:7.2f}x" if value is not None else " " * 8 for value in row))
    return "\n".join(lines)
