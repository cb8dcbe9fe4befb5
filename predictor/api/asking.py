"""Ask for the best mapping of a program: `predict` and `search`."""

from typing import Literal

from numapredict.predictor.advising.search import search_options
from numapredict.predictor.advising.session import Question, ask
from numapredict.predictor.advising.unknown import Unknown, refuse_command
from numapredict.predictor.api.answer import Answer
from numapredict.predictor.api.quiet import Command, called, words_of


def predict(
    command: Command,
    *,
    machine: str | None = None,
    model: str | None = None,
    cpu_seconds: float = 100,
    verify: bool = False,
    method: Literal["gains", "thesis"] = "gains",
    strict: bool = False,
    progress: bool = False,
) -> Answer:
    """Run a program briefly and return the mapping that should be best, as `numapredict predict` does.

    ``command`` is a program, or a list of it and its arguments. ``machine`` is a described machine by name or file, of
    which times are modelled, or None for this computer. Without a model of it, the answer is searched. All other
    parameters are the options of the same names. Raises NumapredictError if there is no answer.

    >>> answer = predict(["./heat", "1024", "4"], machine="sandybridge-4x8")
    >>> answer.mapping.page_policy, answer.speedup > 1, answer.measured
    ('locality', True, False)
    """
    return _asked(
        Question(
            words_of(command),
            machine=machine,
            model=model,
            budget_s=cpu_seconds,
            verified=verify,
            strict=strict,
            thesis=method == "thesis",
        ),
        progress=progress,
    )


def search(
    command: Command,
    *,
    machine: str | None = None,
    runs: int | None = None,
    expected_runs: int | None = None,
    cut: bool = True,
    fresh: bool = False,
    cpu_seconds: float = 100,
    strict: bool = False,
    progress: bool = False,
) -> Answer:
    """Run a program under a few mappings, each chosen by the runs before, and return the fastest if it wins again.

    As `numapredict predict --search`: ``runs`` at most, the first as it is now; ``expected_runs`` says how often the
    program will run (`--for`); ``cut`` false is `--no-cut`. Raises NumapredictError if there is no answer.

    >>> answer = search(["./heat", "1024", "4"], machine="sandybridge-4x8", runs=3)
    >>> len(answer.to_dict()["runs"])
    3
    """
    return _asked(
        Question(
            words_of(command),
            machine=machine,
            budget_s=cpu_seconds,
            strict=strict,
            searched=True,
            search=search_options(runs, expected_runs, cut=cut, fresh=fresh),
        ),
        progress=progress,
    )


def _asked(question: Question, *, progress: bool) -> Answer:
    with called(progress=progress):
        found = ask(question)
        if isinstance(found, Unknown):
            raise refuse_command(found)
    return Answer(found)
