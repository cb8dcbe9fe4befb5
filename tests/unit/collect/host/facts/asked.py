"""A fact of planted files, and what holds of every one."""

from collections.abc import Callable
from pathlib import Path

from numapredict.collect.host.facts.fact import Fact
from tests.planted_files import plant


def asked(ask: Callable[[Path], Fact], root: Path, files: dict[str, str]) -> Fact:
    plant(root, files)
    return ask(root)


def assert_fact(fact: Fact, value: str, disturbs: bool) -> None:
    """Check a fact's value, and that it has a remedy and a reason just where it disturbs."""
    assert (fact.value, fact.disturbs) == (value, disturbs)
    assert bool(fact.remedy) == disturbs
    assert not disturbs or fact.why
