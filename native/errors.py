"""The errors that numapredict raises: one class for each different reaction of a caller.

Each says in one line what is wrong, with the value, and what to do next. The command line exits with ``exit_code``.
"""

from collections.abc import Sequence
from typing import ClassVar


class NumapredictError(Exception):
    """Base class of all errors of this package."""

    exit_code: ClassVar[int] = 2
    """2: the request cannot be carried out; 1, in subclasses: it started and then failed."""


class UsageError(NumapredictError):
    """An option, a name or a combination of them is invalid: change the request."""


class InvalidInputError(NumapredictError):
    """A file or folder cannot be read, or has the wrong contents: name another, or create it again."""


class InvalidTopologyError(NumapredictError):
    """A description of NUMA nodes and cores contradicts itself or describes an impossible machine."""


class InvalidMappingError(NumapredictError):
    """A text is not a mapping label, or the topology is too small for the mapping."""


class UnsupportedMappingError(NumapredictError):
    """The machine cannot apply a mapping; the message says what is needed."""


class UnrunnableProgramError(NumapredictError):
    """A program is missing, not executable, or failed where its run was needed.

    A machine returns a measurement with a status for a program that merely fails.
    """


class TracingError(NumapredictError):
    """A program failed under the tracer, or has nothing to trace."""


class CounterError(NumapredictError):
    """A counter source is not available, failed in a run, or wrote unreadable output; runs continue without it.

    ``reason`` says why, ``remedies`` what to do about it.
    """

    def __init__(self, reason: str, remedies: Sequence[str] = ()) -> None:
        super().__init__("; ".join((reason, *remedies)))
        self.reason, self.remedies = reason, tuple(remedies)


class MissingLibraryError(NumapredictError):
    """A library of an extra is not installed: install the extra."""


class KeptAsItIsError(NumapredictError):
    """The last advice was to keep the program as it is: there is no mapping to name."""


class NoModelError(NumapredictError):
    """There is no model of this name or machine, or the model is for another machine."""


class InsufficientDataError(NumapredictError):
    """Too few measurements to learn or predict from."""


class FailedRunsError(NumapredictError):
    """All runs of a campaign failed, or a worker died; finished runs are kept."""

    exit_code = 1


class UnwritableError(NumapredictError):
    """The system refused to write an output or a temporary file; an existing output is left unchanged."""

    exit_code = 1


class MissingNativePartError(NumapredictError):
    """A compiled part or an outside program that this step needs is not installed."""
