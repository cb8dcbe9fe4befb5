"""The figures of an evaluation that documents quote."""

from pathlib import Path

import msgspec

from numapredict.predictor.evaluation.evaluate import Evaluation
from numapredict.predictor.learning.scores import Score

FILE = Path(__file__).parent / "figures.json"
QUOTED = ("fixed", "oracle", "thesis recipe", "search of 2 runs")
OURS = "search of 4 runs"


class Quoted(msgspec.Struct, frozen=True):
    """A way of choosing: both mean speedups, the share of losers, the gain captured and its interval."""

    geometric: float
    arithmetic: float
    losers: float
    gain_captured: float
    interval: tuple[float, float]

    @property
    def texts(self) -> list[str]:
        """Return the means and the gain as a table has them."""
        return [f"{self.geometric:.2f}", f"{self.arithmetic:.2f}", f"{self.gain_captured:.2f}"]


class Judged(msgspec.Struct, frozen=True):
    """One machine's evaluation; the other numbers are of the ``runs`` after the first of all searches."""

    mappings: int
    scores: dict[str, Quoted]
    runs: int
    faster: int
    stated: float
    within: int

    @property
    def row(self) -> list[str]:
        """Return the figures of a row of the README's table, in their order."""
        ours, fixed, oracle = (self.scores[name] for name in (OURS, "fixed", "oracle"))
        thesis = f"{self.scores['thesis recipe'].gain_captured:.2f}"
        shares = [f"{score.losers:.1%}".rstrip("%") for score in (ours, fixed)]
        return [
            str(self.mappings),
            *(*ours.texts, shares[0]),
            *(*fixed.texts, shares[1]),
            *(thesis, *oracle.texts[:2], "1"),
        ]


def judged(evaluation: Evaluation) -> Judged:
    """Return what documents quote of an evaluation."""
    calibration = evaluation.calibration
    return Judged(
        mappings=evaluation.mappings,
        scores={OURS: quoted(evaluation)} | {name: quoted(evaluation.baselines[name]) for name in QUOTED},
        runs=calibration.runs,
        faster=calibration.faster,
        stated=calibration.stated,
        within=calibration.within,
    )


def quoted(score: Score) -> Quoted:
    """Return what documents quote of a score that has a gain to capture."""
    captured, interval = score.gain_captured, score.gain_captured_interval
    assert captured is not None
    assert interval is not None
    return Quoted(
        geometric=score.speedup.geometric,
        arithmetic=score.speedup.arithmetic,
        losers=score.slower_than_default,
        gain_captured=captured,
        interval=(interval.low, interval.high),
    )
