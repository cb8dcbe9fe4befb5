"""The errors are few, in one place, each raised somewhere, and each reaches a process above unchanged."""

import ast
import pickle

from numapredict.native import errors
from numapredict.native.errors import CounterError, FailedRunsError, NumapredictError, UnwritableError
from tests.guide import ROOT, python_sources

CLASSES = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def test_every_class_is_here_and_made_somewhere() -> None:
    trees = {source: ast.parse(source.read_text()) for source in python_sources()}
    derived = {
        source.relative_to(ROOT).as_posix()
        for source, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name) and base.id in CLASSES
    }
    made = {
        node.func.id
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert derived == {"native/errors.py"}
    assert made & {*CLASSES} == {*CLASSES} - {"NumapredictError"}


def test_what_failed_on_the_way_ends_with_1_and_what_cannot_be_with_2() -> None:
    failed = {kind for kind in CLASSES.values() if issubclass(kind, NumapredictError) and kind.exit_code == 1}
    assert failed == {FailedRunsError, UnwritableError}
    assert {kind.exit_code for kind in CLASSES.values() if kind not in failed} == {2}


def test_counters_that_refuse_say_what_helps_in_one_line() -> None:
    refused = CounterError("no access", ("run a", "run b"))
    assert str(refused) == "no access; run a; run b"
    assert (refused.reason, refused.remedies) == ("no access", ("run a", "run b"))
    assert CounterError("it broke").remedies == ()


def test_a_worker_s_error_says_the_same_in_the_campaign() -> None:
    for kind in CLASSES.values():
        assert str(pickle.loads(pickle.dumps(kind("one line: what to do")))) == "one line: what to do"  # noqa: S301 - our own
