"""Common look of all figures: colours that colour-blind people can distinguish, legible ink, and a light frame."""

from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

# Okabe and Ito, Color Universal Design (2008).
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILION, PURPLE, BLACK = "#0072b2", "#d55e00", "#cc79a7", "#000000"
GREY, PALE, TEXT = "#737373", "#e5e5e5", "#404040"
SERIES = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK)
"""For curves and groups without an order, the most different first; without yellow, which is faint on white."""

MARKERS = "osD^vPX*"


def ink_on(colour: str) -> str:
    """Return black or white, whichever has more contrast with a colour (WCAG 2.1, relative luminance)."""
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return BLACK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#ffffff"


def shade(share: float, light: float = 1.0) -> str:
    """Return the colour of a value from 0 (dark) to 1; ``light`` below 1 leaves out the lightest."""
    return mpl.colors.to_hex(mpl.colormaps["viridis"](light * share))


def paler(colour: str) -> str:
    """Return a colour mixed with two parts of white, on which black text is legible."""
    red, green, blue = to_rgb(colour)
    return mpl.colors.to_hex(((red + 2) / 3, (green + 2) / 3, (blue + 2) / 3))


def quieten(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Leave a light grid behind the data and no frame on top and at the right."""
    axes.grid(axis=axis, color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def made_in_words(modelled: bool) -> str:
    """Return whether figures are modelled or measured."""
    return "modelled" if modelled else "measured"
