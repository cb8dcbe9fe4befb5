"""What each choice gives, as bars, with intervals where it is expected."""

import msgspec

from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.explanation import Choice

TITLES = {"pages": "Page policies, with the threads of the answer", "threads": "Numbers of threads, each at its best"}
WIDTH = 100.0
"""Of a bar's room, in its own units."""


class ChoiceBar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: its name, the mapping, its speedup with the interval, and where these are on the scale of all bars.

    ``ran``: its speedup is of a run, and not expected.
    """

    words: str
    mapping: str
    speedup: float
    low: float
    high: float
    at: float
    low_at: float
    high_at: float
    advised: bool
    ran: bool


class ChoiceRow(msgspec.Struct, frozen=True):
    """The bars of one choice, below its title."""

    title: str
    bars: tuple[ChoiceBar, ...]


class ChoicesData(msgspec.Struct, frozen=True):
    """All bars on one scale; ``even_at`` is where the baseline is."""

    rows: tuple[ChoiceRow, ...]
    even_at: float


def choices_data(advice: Advice) -> ChoicesData | None:
    """Return the bars of an answer that is consistent; None where it has no choices."""
    choices = advice.explanation.choices
    if not choices:
        return None
    per_x = WIDTH / max(1.0, *(choice.high for choice in choices))

    def bar(choice: Choice) -> ChoiceBar:
        return ChoiceBar(
            words=choice.words,
            mapping=choice.mapping.label,
            speedup=choice.speedup,
            low=choice.low,
            high=choice.high,
            at=round(choice.speedup * per_x, 2),
            low_at=round(choice.low * per_x, 2),
            high_at=round(choice.high * per_x, 2),
            advised=choice.mapping == advice.mapping,
            ran=choice.ran,
        )

    rows = [
        ChoiceRow(title, tuple(bar(choice) for choice in choices if choice.part == part))
        for part, title in TITLES.items()
    ]
    return ChoicesData(tuple(row for row in rows if row.bars), round(per_x, 2))
