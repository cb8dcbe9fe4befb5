"""Figures as files: PNG to look at, SVG to print."""

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from numapredict.collect.durable import reason_and_advice, replace_file
from numapredict.native.errors import NumapredictError

FORMATS = ("png", "svg")


class UnwritableFigureError(NumapredictError):
    """A figure could not be written, or its name asks for an unknown format."""


def format_of(path: Path) -> str:
    """Return the format that a file's name asks for; UnwritableFigureError when it is none of ours."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UnwritableFigureError(f"{path}: figures are written as .png or .svg; end the name with one of these")
    return suffix


def write_figure(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure in one step, in the format that the name ends with; equal figures give equal files."""
    kind = format_of(path)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    # Text stays text in SVG, so that it can be searched; a fixed salt and no date make the file reproducible.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "numapredict"}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, buffer.getvalue())
    except OSError as error:
        raise UnwritableFigureError(f"cannot write the figure {path}: {reason_and_advice(error)}") from error
