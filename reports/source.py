"""The line below a figure that says where its data come from."""

import datetime
import textwrap
from collections.abc import Sequence

import msgspec
from matplotlib.figure import Figure

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.evaluation.evaluate import Evaluations
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.figure_file import BELOW, LINE_HEIGHT

_LETTERS_PER_INCH = 17.5  # of 7 point, on average; wide letters make a line slightly longer
_EDGE = 0.12  # inches


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a dataset is from; ``created`` and ``made_by`` are empty if unknown.

    ``default`` is the label that speedups are over, empty without speedups.
    """

    machine: str
    modelled: bool
    default: str = ""
    created: str = ""
    made_by: str = ""


def origin_of(dataset: Dataset, default: str = "") -> Origin:
    """Return a dataset's origin: made by the version in its environment, else by what the dataset states."""
    about = dict(dataset.environment)
    version = f"numapredict {about['numapredict']}" if "numapredict" in about else ""
    commit = f" (commit {about['commit'][:12]})" if version and "commit" in about else ""
    return Origin(
        machine=dataset.machine,
        modelled=dataset.modelled,
        default=default,
        created=dataset.created,
        made_by=version + commit or dataset.made_by,
    )


def evaluated_origins(evaluations: Evaluations, datasets: Sequence[Dataset] = ()) -> tuple[Origin, ...]:
    """Return the origins of evaluated datasets, in the same order; without the datasets, from the evaluations alone."""
    if not datasets:
        return tuple(
            Origin(machine=each.machine, modelled=each.modelled, default=each.default.label)
            for each in evaluations.datasets
        )
    return tuple(
        origin_of(dataset, each.default.label) for dataset, each in zip(datasets, evaluations.datasets, strict=True)
    )


def source_line(origins: Sequence[Origin]) -> str:
    """Return the line: machine, modelled or measured, when and by what it was made, and what speedups are over."""
    defaults = list(dict.fromkeys(each.default for each in origins))
    one = len(defaults) == 1
    parts = [
        ", ".join(
            part
            for part in (
                drawable(each.machine),
                palette.made_in_words(each.modelled),
                _made_in_words(each),
                f"speedups over {drawable(each.default)}" if each.default and not one else "",
            )
            if part
        )
        for each in origins
    ]
    last = f" Speedups are over {drawable(defaults[0])}." if one and defaults[0] else ""
    return f"Source: {'; '.join(parts)}.{last}"


def sign(figure: Figure, line: str) -> None:
    """Put a source line below a figure, wrapped to its width; ``write_figure`` makes room for it."""
    width, height = figure.get_size_inches()
    text = textwrap.fill(line, int(_LETTERS_PER_INCH * (width - 2 * _EDGE)))
    figure.text(_EDGE / width, -0.2 * LINE_HEIGHT / height, text, fontsize=7, va="top", color=palette.TEXT, gid=BELOW)


def _made_in_words(origin: Origin) -> str:
    by = f"by {drawable(origin.made_by)}" if origin.made_by else ""
    try:
        day = f"made on {datetime.datetime.fromisoformat(origin.created).date()}" if origin.created else ""
    except ValueError:
        day = f"made {drawable(origin.created)}"
    return " ".join(part for part in (day or ("made" if by else ""), by) if part)
