"""Claims: one published figure, the modelled one, and whether they agree as closely as required."""

import statistics
from collections.abc import Sequence

import msgspec

_ROUNDING = 1e-9


class Claim(msgspec.Struct, frozen=True):
    """One figure: what was published, what the model gives, and how closely they must agree.

    ``published`` is None where the paper states an order or a winner and no number. ``reason`` says why a figure is
    not met, as far as it is known. ``given`` is true of a figure that the machine is described by: that it comes back
    shows that the model keeps to its description, and predicts nothing.
    """

    quantity: str
    unit: str
    published: float | None
    modelled: float
    asked: str
    met: bool
    reason: str = ""
    given: bool = False

    @property
    def deviation(self) -> float | None:
        """Return modelled / published - 1, or None where no number was published."""
        return None if self.published is None else self.modelled / self.published - 1


class Comparison(msgspec.Struct, frozen=True):
    """The figures of one source on one machine; ``used`` are the figures that the machine's description is based on."""

    source: str
    machine: str
    used: str
    predicted: str
    claims: tuple[Claim, ...]


def within(quantity: str, unit: str, figures: tuple[float, float], share: float, reason: str = "") -> Claim:
    """Return the claim that the modelled figure is within a share of the published one.

    ``figures`` are (published, modelled); the reason is kept only where the claim is not met.
    """
    published, modelled = figures
    met = abs(modelled - published) <= share * published * (1 + _ROUNDING)
    return Claim(quantity, unit, published, modelled, f"within {share:.0%}", met, "" if met else reason)


def at_least(quantity: str, unit: str, figures: tuple[float | None, float], least: float, reason: str = "") -> Claim:
    """Return the claim that the modelled figure is at least so large; ``figures`` as for ``within``."""
    published, modelled = figures
    met = modelled >= least
    return Claim(quantity, unit, published, modelled, f"at least {least:g}", met, "" if met else reason)


def at_most(quantity: str, unit: str, figures: tuple[float | None, float], most: float, reason: str = "") -> Claim:
    """Return the claim that the modelled figure is at most so large; ``figures`` as for ``within``."""
    published, modelled = figures
    met = modelled <= most
    return Claim(quantity, unit, published, modelled, f"at most {most:g}", met, "" if met else reason)


def as_given(claim: Claim) -> Claim:
    """Return the claim as one on a figure that the machine is described by."""
    return msgspec.structs.replace(claim, given=True)


def median_error(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the median of |modelled / published - 1| over pairs (published, modelled)."""
    return statistics.median(abs(modelled / published - 1) for published, modelled in pairs)
