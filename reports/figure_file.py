"""Figures as files: PNG to look at, SVG to print."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from numapredict.collect.host.durable import write_whole
from numapredict.native.errors import UsageError

FORMATS = ("png", "svg")
BELOW = "below"
"""The group (gid) of texts below a figure's lower edge, for which the file is made higher."""

LINE_HEIGHT = 0.135
"""Inches that a line of 7 point takes."""


def format_of(path: Path) -> str:
    """Return the format by a file's suffix; UsageError for one that cannot be written."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UsageError(f"{path}: figures are written as .png or .svg; end the name with one of these")
    return suffix


def spell(figure: Figure) -> None:
    """Switch off formulas in every text of a figure: names may contain ``$``."""
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_parse_math(False)


def width_of(text: str, points: float) -> float:
    """Return the width in inches of a line of text at a font size in points."""
    with _any_script():
        width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=points), ismath=False)
    return float(width) / 72


@contextlib.contextmanager
def _any_script() -> Iterator[None]:
    """Silence warnings of letters that the font lacks: a PNG shows boxes for them, an SVG has them as text."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def extent(figure: Figure) -> Bbox:
    """Return the box of the file in inches: the figure and the texts below it."""
    width, height = figure.get_size_inches()
    below = [text.get_text().count("\n") + 1.6 for text in figure.texts if text.get_gid() == BELOW]
    return Bbox.from_extents(0, -LINE_HEIGHT * max(below, default=0), width, height)


def _settle(figure: Figure) -> None:
    """Fix the layout of a figure: a legend at its lower edge must not move when room is made below."""
    if figure.get_layout_engine() is None:
        return
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)


def write_figure(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure in one step, in the format that the name ends with; equal figures give equal files.

    Raises UsageError for another ending, and UnwritableError.
    """
    kind = format_of(path)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    # Text stays searchable text in SVG; a fixed salt and no date make the file reproducible. Texts that are created
    # only while drawing are no formulas, either.
    settings = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "numapredict", "text.parse_math": False})
    with settings, _any_script():
        spell(figure)
        _settle(figure)
        figure.savefig(
            buffer,
            format=kind,
            dpi=dpi,
            bbox_inches=extent(figure),
            metadata={"Date": None} if kind == "svg" else None,
        )
    write_whole(path, buffer.getvalue(), f"cannot write the figure {path}")
