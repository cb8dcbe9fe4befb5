"""Advice in a file, as `numapredict predict --json` printed it."""

from numapredict.native.errors import InvalidInputError
from numapredict.predictor.advising.advice import Advice
from numapredict.reports.parts.subject import open_subject


def open_advice(name: str) -> Advice:
    """Return the advice in a file, or from standard input (`-`); InvalidInputError for anything else."""
    found = open_subject(name).advice
    if found is None:
        raise InvalidInputError(f"{name} holds no advice: name a file with what 'numapredict predict --json' printed")
    return found
