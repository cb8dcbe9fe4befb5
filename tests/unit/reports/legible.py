"""What makes a figure's text legible: it is inside the figure, and no two texts lie on each other."""

import itertools
from collections.abc import Iterator

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox, TransformedBbox

from numapredict.reports.figure_file import extent


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return the texts that show, with their extents in pixels."""
    figure.draw_without_rendering()
    hidden = set(_beyond_the_limits(figure))
    return [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text().strip() and text.get_visible() and text not in hidden
    ]


def assert_legible(figure: Figure, apart: bool = True) -> list[str]:
    """Return the texts that show; fail where one leaves the figure or, with ``apart``, lies on another."""
    texts = texts_of(figure)
    whole = TransformedBbox(extent(figure), figure.dpi_scale_trans)
    for text, box in texts:
        inside = whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1 and whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1
        assert inside, f"{text!r} leaves the figure: {box} of {whole}"
    for (one, first), (other, second) in itertools.combinations(texts, 2) if apart else ():
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        up = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, up) <= 1.5, f"{one!r} lies on {other!r}"
    return [text for text, _ in texts]


def _beyond_the_limits(figure: Figure) -> Iterator[Text]:
    """Return the labels of ticks that an axis has outside what it shows: they are not drawn, and nowhere."""
    for axes in figure.axes:
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            for tick in axis.get_major_ticks():
                if not min(limits) <= tick.get_loc() <= max(limits) or not axes.axison:
                    yield from (tick.label1, tick.label2)
