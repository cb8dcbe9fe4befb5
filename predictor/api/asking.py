"""``predict`` and ``search``: the questions of the command line, as functions."""

import os
from collections.abc import Sequence
from typing import Literal

from numapredict.predictor.advising.search import MOST_RUNS, RUNS, SearchOptions
from numapredict.predictor.advising.session import Question, ask
from numapredict.predictor.api.answer import Answer

Command = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def words_of(command: Command) -> tuple[str, ...]:
    """Return a command's words: a single text is one word, the program, and no shell looks at it.

    >>> words_of("./my app"), words_of(["./app", "-n", "4"])
    (('./my app',), ('./app', '-n', '4'))
    """
    words = [command] if isinstance(command, str | os.PathLike) else command
    return tuple(os.fspath(word) for word in words)


def predict(  # noqa: PLR0913 - by name, as options are
    command: Command,
    *,
    machine: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    method: Literal["gains", "thesis"] = "gains",
    verify: bool = False,
    strict: bool = False,
    cpu_seconds: float = 100.0,
) -> Answer:
    """Return the advice on a command after two probe runs, or after a search where the machine has no model.

    ``command`` is a program or a list of its words. ``machine`` names a described machine or its .toml file, whose
    answers are modelled; without it the program runs on this computer. ``model`` names a model or its file; ``method``
    is ``thesis`` for the mapping of the nearest cluster. ``verify`` runs default and choice in turn and keeps the
    default unless the choice is faster. ``strict`` refuses a program that ends with an exit code other than 0, and
    ``cpu_seconds`` is what modelled probes may take. Raises NumapredictError, with one line, where there is no answer.

    >>> import numapredict
    >>> numapredict.predict("./no-such-program")
    Traceback (most recent call last):
        ...
    numapredict.native.errors.UnrunnableProgramError: ...
    """
    return Answer(
        ask(
            Question(
                words_of(command),
                machine=None if machine is None else os.fspath(machine),
                model=None if model is None else os.fspath(model),
                budget_s=cpu_seconds,
                verified=verify,
                strict=strict,
                thesis=method == "thesis",
            )
        )
    )


def search(  # noqa: PLR0913
    command: Command,
    *,
    machine: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    expected_runs: int | None = None,
    cut: bool = True,
    fresh: bool = False,
    strict: bool = False,
) -> Answer:
    """Return the best of ``runs`` runs (default 4), each under the mapping that should add most to those before.

    The first run is the program as it is now. ``expected_runs`` is how often the program will run: the search then goes
    on while a run should save more than it costs. ``cut`` ends a run that has taken as long as the best; ``fresh``
    discards the runs that earlier searches kept. The others are those of ``predict``. Raises NumapredictError.
    """
    most = runs or (RUNS if expected_runs is None else MOST_RUNS)
    options = SearchOptions(runs=most, cut=cut, fresh=fresh, expected_runs=expected_runs)
    where = None if machine is None else os.fspath(machine)
    return Answer(ask(Question(words_of(command), machine=where, strict=strict, searched=True, search=options)))
