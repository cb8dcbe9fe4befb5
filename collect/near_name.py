"""The known name that somebody probably meant who typed one that there is not."""

import difflib
from collections.abc import Iterable


def near_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that begins with what was typed, else the one most like it; None where none is like it."""
    names = sorted(known)
    wanted = name.lower()
    begun = [each for each in names if wanted and each.lower().startswith(wanted)]
    return next(iter(begun or difflib.get_close_matches(wanted, names, n=1)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the near name as a question in brackets, to be put behind what was typed; empty where there is none."""
    near = near_name(name, known)
    return f" (did you mean {near}?)" if near else ""
