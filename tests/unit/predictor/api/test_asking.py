"""Questions from Python: as the command asks them, refused in one line, with nothing printed."""

import logging
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.figure import Figure
from numapredict.collect.terminal.command import Interruption
from numapredict.native.errors import NumapredictError
from numapredict.predictor.advising.search_options import MOST_RUNS, RUNS, SearchOptions
from numapredict.predictor.advising.session import Question
from numapredict.predictor.api import asking
from numapredict.predictor.api.asking import predict
from tests.searches import Computer, answered, times

FOUND = answered(Computer(times(8.0, local=4.0)), runs=2)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """Every question that is asked; each gets the same answer."""
    questions: list[Question] = []

    def ask(question: Question) -> object:
        questions.append(question)
        logging.getLogger("numapredict.predictor").warning("a remark")
        return FOUND

    monkeypatch.setattr(asking, "ask", ask)
    return questions


def test_every_parameter_is_an_option(asked: list[Question]) -> None:
    assert predict(["./app", Path("in put")]).record == FOUND
    predict("./my app", machine="m", model="n", cpu_seconds=7, strict=True, method="thesis")
    predict("./app", runs=9, expected_runs=7, cut=False, fresh=True)
    predict("./app", expected_runs=5)
    predict("./app", metric="rate ([0-9]+)", metric_smaller=True, seconds=9)
    plain, full, searched, often, printed = asked
    assert printed.search.figure == Figure(metric="rate ([0-9]+)", smaller=True, seconds=9)
    assert plain == Question(("./app", "in put"))
    thesis = SearchOptions(method="thesis")
    assert full == Question(("./my app",), machine="m", model="n", budget_s=7, strict=True, search=thesis)
    assert searched.search == SearchOptions(runs=9, cut=False, fresh=True, expected_runs=7)
    assert (plain.search.runs, plain.search.cut, often.search.runs) == (RUNS, True, MOST_RUNS)


def test_a_metric_and_a_window_of_other_libraries_are_plain_ones(asked: list[Question]) -> None:
    predict("./app", metric=np.str_("rate (.)"), seconds=np.int64(3))
    figure = asked[0].search.figure
    assert msgspec.json.decode(msgspec.json.encode(figure), type=Figure) == Figure(metric="rate (.)", seconds=3)


def test_nothing_is_printed_unless_it_is_asked_for(asked: list[Question], capfd: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger("numapredict").handlers)
    predict("./app")
    assert capfd.readouterr() == ("", "")
    predict("./app", progress=True)
    assert capfd.readouterr() == ("", "a remark\n")
    assert logging.getLogger("numapredict").handlers == before


def test_nothing_is_printed_where_nobody_has_set_up_logging() -> None:
    """Python itself would print a warning that nobody handles; here pytest handles all."""
    code = (
        "from numapredict.predictor.api import asking\n"
        "asking.ask = lambda _: __import__('logging').getLogger('numapredict.some').warning('a remark')\n"
        "asking.predict('./app')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("raised", "kind", "said"),
    [
        (Interruption("finished traces are kept"), KeyboardInterrupt, "finished traces are kept"),
        (PermissionError(13, "Permission denied", "/some/file"), NumapredictError, "/some/file: Permission denied"),
        (OSError(28, "No space left on device"), NumapredictError, "No space left on device"),
    ],
)
def test_what_ends_a_call_says_so(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, kind: type[BaseException], said: str
) -> None:
    def ask(_: Question) -> object:
        raise raised

    monkeypatch.setattr(asking, "ask", ask)
    with pytest.raises(kind) as error:
        predict("./app")
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"runs": 1}, "--runs is 1: a search makes at least 2"),
        ({"expected_runs": 0}, "--for is 0: a program that never runs needs no mapping"),
        ({"cpu_seconds": 4.5}, "--cpu-seconds is 4.5: name 5 to 3600 seconds"),
        ({"cpu_seconds": float("nan")}, "--cpu-seconds is nan: name 5 to 3600 seconds"),
        ({"machine": "none"}, "unknown machine 'none': "),
        ({"machine": "lpdquad", "fresh": True}, "--fresh discards runs of this computer"),
        ({"machine": "lpdquad", "metric": "([0-9])"}, "--metric is for runs of this computer"),
        ({"seconds": 0.5}, "--seconds is 0.5: name 1 to 86400"),
        ({"metric": 3}, "metric=3 is no text: give a regular expression"),
        ({"metric": b"(x)"}, "metric=b'(x)' is no text: "),
        ({"metric": "(x)", "metric_smaller": "no"}, "metric_smaller='no' is neither True nor False: "),
        ({"seconds": "3"}, "seconds='3' is no number: "),
        ({"seconds": True}, "seconds=True is no number: "),
        ({"seconds": 10**400}, "--seconds is inf: name 1 to 86400"),
        ({"seconds": float("nan")}, "--seconds is nan: name 1 to 86400"),
        ({"metric": "\udcff(x)"}, "--metric '\\udcff(x)' is not UTF-8, "),
        ({"metric": "([0-9]"}, "--metric '([0-9]' is no regular expression"),
    ],
)
def test_impossible_questions_are_refused(wrong: dict, said: str) -> None:
    with pytest.raises(NumapredictError) as error:
        predict("/bin/true", **wrong)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)
