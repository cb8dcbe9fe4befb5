"""The root of every error that numapredict raises on purpose."""

from typing import ClassVar


class NumapredictError(Exception):
    """Say what is wrong, where, and what to do next, in one line; the command line exits with ``exit_code``."""

    exit_code: ClassVar[int] = 2
    """2: what was asked for cannot be done; 1, in subclasses: it was begun and failed on the way."""


class UnwritableError(NumapredictError):
    """The system refused to write an output; what was there before is untouched."""

    exit_code = 1


class MissingNativePartError(NumapredictError):
    """A compiled part or an outside program that this step needs is not installed."""
