"""``predict``: the question of the command line, as a function."""

import math
import numbers
import os

from numapredict.collect.figure import Figure, figure_of
from numapredict.native.errors import UsageError
from numapredict.predictor.advising.search_options import comparing, search_options
from numapredict.predictor.advising.session import Question, ask
from numapredict.predictor.api.answer import Answer
from numapredict.predictor.api.quiet import Command, called, words_of
from numapredict.predictor.learning.options import Method


def predict(  # noqa: PLR0913 - by name, as options are
    command: Command,
    *,
    machine: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    method: Method = "search",
    runs: int | None = None,
    expected_runs: int | None = None,
    cut: bool = True,
    fresh: bool = False,
    metric: str | None = None,
    metric_smaller: bool = False,
    seconds: float | None = None,
    strict: bool = False,
    cpu_seconds: float = 100.0,
    progress: bool = False,
) -> Answer:
    """Return the advice on a command: the best of ``runs`` runs (default 4), each under what should add most.

    ``command`` is a program or a list of its words, and its first run is the program as it is now. ``machine`` names a
    described machine or its .toml file, whose answers are modelled; without it the program runs on this computer.
    ``model`` names a model or its file; ``method`` is ``thesis`` for the mapping of the nearest cluster.
    ``expected_runs`` is how often the program will run: runs then go on while one should save more than it costs.
    ``metric`` is a regular expression whose last match in the program's output has, as its first group, the number by
    which runs are compared, the larger the better, or with ``metric_smaller`` the smaller. Each run is ended after
    ``seconds``, if they are given, and compared by its parallel regions a second, or the metric.
    ``cut`` ends a run that has taken as long as the best; ``fresh`` discards the runs that earlier calls kept.
    ``strict`` refuses a program that ends with an exit code other than 0, and ``cpu_seconds`` is what modelled runs may
    take. ``progress`` shows on standard error what the command shows there; without it nothing is printed. Raises
    NumapredictError, with one line, where the question is refused.

    >>> import numapredict
    >>> answer = numapredict.predict("./heat", machine="sandybridge-4x8")
    >>> answer.mapping.page_policy in ("locality", "mix"), answer.speedup > 1, answer.measured
    (True, True, False)
    >>> numapredict.predict("./no-such-program", machine="sandybridge-4x8")
    Traceback (most recent call last):
        ...
    numapredict.native.errors.UnrunnableProgramError: ./no-such-program: no such file...
    """
    search = search_options(runs, expected_runs, cut=cut, fresh=fresh, method=method)
    question = Question(
        words_of(command),
        machine=None if machine is None else os.fspath(machine),
        model=None if model is None else os.fspath(model),
        budget_s=cpu_seconds,
        strict=strict,
        search=comparing(search, _figure(metric, metric_smaller, seconds)),
    )
    with called(progress=progress):
        return Answer(ask(question))


def _figure(metric: object, smaller: object, seconds: object) -> Figure:
    """Return the figure that arguments ask for; UsageError by an argument's name for one of another type."""
    if metric is not None and not isinstance(metric, str):
        raise UsageError(f"metric={metric!r} is no text: give a regular expression such as 'GB/s: ([0-9.]+)'")
    if not isinstance(smaller, bool):
        raise UsageError(f"metric_smaller={smaller!r} is neither True nor False: give one")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, numbers.Real)):
        raise UsageError(f"seconds={seconds!r} is no number: give one, in which the program works")
    # Of the types that answers are written with: NumPy has its own.
    pattern = None if metric is None else str(metric)
    try:
        window_s = None if seconds is None else float(seconds)
    except OverflowError:
        window_s = math.inf
    return figure_of(pattern, smaller=smaller, seconds=window_s)
