"""The errors that numapredict raises on purpose: a class for each thing that a caller can do about one.

Each says in one line what is wrong, with the value, and what to do next. The command line exits with ``exit_code``.
"""

from collections.abc import Sequence
from typing import ClassVar


class NumapredictError(Exception):
    """The root of them all."""

    exit_code: ClassVar[int] = 2
    """2: what was asked for cannot be done; 1, in subclasses: it was begun and failed on the way."""


class UsageError(NumapredictError):
    """An option, a name or a combination of them asks for what there is not: ask for something else."""


class InvalidInputError(NumapredictError):
    """A file or folder cannot be read, or holds something else than it should: name another, or make it again."""


class InvalidTopologyError(NumapredictError):
    """A description of NUMA nodes and cores contradicts itself, or is of no machine that can be."""


class InvalidMappingError(NumapredictError):
    """A text is no mapping's label, or the topology is too small for the mapping."""


class UnsupportedMappingError(NumapredictError):
    """A machine cannot apply a mapping here: the line says what would be needed."""


class UnrunnableProgramError(NumapredictError):
    """A program is missing, not executable, or failed where its run was needed.

    A machine returns a measurement with a status for a program that merely fails.
    """


class TracingError(NumapredictError):
    """A program failed under the tracer, or has nothing to trace."""


class CounterError(NumapredictError):
    """A source of counters cannot count here, failed in a run, or wrote what cannot be read; runs go on without.

    ``reason`` says why, ``remedies`` what helps.
    """

    def __init__(self, reason: str, remedies: Sequence[str] = ()) -> None:
        super().__init__("; ".join((reason, *remedies)))
        self.reason, self.remedies = reason, tuple(remedies)


class NoModelError(NumapredictError):
    """No model can be used here: there is none of the name or machine, or it is of another machine."""


class InsufficientDataError(NumapredictError):
    """Too little was measured to learn or to predict anything from."""


class FailedRunsError(NumapredictError):
    """A campaign's runs all failed, or a worker died; what has finished is kept."""

    exit_code = 1


class UnwritableError(NumapredictError):
    """The system refused to write an output or a temporary file; an output that was there before is untouched."""

    exit_code = 1


class MissingNativePartError(NumapredictError):
    """A compiled part or an outside program that this step needs is not installed."""
