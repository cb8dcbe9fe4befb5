"""What a machine refuses to run at all; a program that merely fails gets a measurement with a status instead."""

from numapredict.native.errors import NumapredictError


class UnsupportedMappingError(NumapredictError):
    """A machine cannot apply a mapping: the line says what would be needed."""


class UnrunnableProgramError(NumapredictError):
    """A program is missing, not executable, or nothing that the system could start."""


class NotRecordedError(NumapredictError):
    """A recording has no measurement of this program under this mapping."""
