"""Write a characterisation into a folder: one JSON object, CSV tables, and figures as PNG and SVG."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from matplotlib.figure import Figure

from numapredict.collect.campaign.characterisation.result import Characterisation
from numapredict.collect.host.durable import refused_as, replace_file
from numapredict.collect.terminal.progress import counting
from numapredict.reports.characterisation.page_policies import policy_times_data, policy_times_figure
from numapredict.reports.characterisation.tables import nodes_csv, runs_csv, times_csv
from numapredict.reports.characterisation.times import times_data, times_figure
from numapredict.reports.characterisation.traffic import traffic_data, traffic_figure
from numapredict.reports.figure_file import FORMATS, write_figure
from numapredict.reports.source import Origin


def as_json(found: Characterisation) -> str:
    """Return a characterisation as one JSON object."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()


def write_characterisation(found: Characterisation, folder: Path, origin: Origin | None = None) -> tuple[str, ...]:
    """Write all files, and return their names.

    ``origin`` is where its runs are from, for the line below the figures. Figures of an earlier characterisation in
    the folder that this one lacks are removed. Raises UnwritableError.
    """
    texts = {
        "characterisation.json": as_json(found) + "\n",
        "times.csv": times_csv(found),
        "runs.csv": runs_csv(found),
        "nodes.csv": nodes_csv(found) if found.counted else None,
    }
    figures = _figures(found, origin)
    written = []
    with refused_as(f"cannot write into {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if text is None:
                (folder / name).unlink(missing_ok=True)
                continue
            replace_file(folder / name, text.encode())
            written.append(name)
        with counting(sum(draw is not None for draw in figures.values()), "figures") as count:
            for name, draw in figures.items():
                for kind in FORMATS:
                    path = folder / f"{name}.{kind}"
                    if draw is None:
                        path.unlink(missing_ok=True)
                        continue
                    write_figure(draw(), path)
                    written.append(path.name)
                if draw is not None:
                    count.step()
    return tuple(written)


def _figures(found: Characterisation, origin: Origin | None) -> dict[str, Callable[[], Figure] | None]:
    """Return the function that draws each figure by file name, None for one without data."""
    policies = policy_times_data(found, origin)
    figures: dict[str, Callable[[], Figure] | None] = {
        "times": partial(times_figure, times_data(found, origin)),
        "page-policies": partial(policy_times_figure, policies) if policies else None,
    }
    for quantity in ("accesses", "bandwidth"):
        traffic = traffic_data(found, quantity, origin)
        figures[quantity] = partial(traffic_figure, traffic) if traffic else None
    return figures
