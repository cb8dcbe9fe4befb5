import pytest

from numapredict.predictor.variables.first_touch import Manner
from numapredict.predictor.variables.pattern import Kind, Pattern
from numapredict.predictor.variables.remedy import remedy_of

SERIAL: Manner = "one thread"
BLOCKS: Manner = "equal blocks"
TURNS: Manner = "in turn"


@pytest.mark.parametrize(
    ("kind", "first", "action"),
    [
        ("blocked", SERIAL, "initialise in parallel"),
        ("strided", SERIAL, "initialise in parallel"),
        ("blocked", TURNS, "initialise alike"),
        ("strided", BLOCKS, "initialise alike"),
        ("shared", SERIAL, "interleave"),
        ("irregular", BLOCKS, "interleave"),
        ("one thread", SERIAL, "initialise by its thread"),
        ("unknown", SERIAL, "unknown"),
    ],
)
def test_what_helps_follows_from_the_pattern_and_the_first_touch(kind: Kind, first: Manner, action: str) -> None:
    thread = 3 if kind == "one thread" else None
    pattern = Pattern(kind, 4, thread=thread, turns=100, period_pages=8.0)
    assert remedy_of(pattern, first, 0.2, "static,1", None).action == action
    assert remedy_of(pattern, first, 0.049, "static,1", None).action == "nothing"


def test_sentences_name_threads_and_schedules() -> None:
    blocked = Pattern("blocked", 4)
    assert "in blocks of 4 threads" in remedy_of(blocked, SERIAL, 0.5, "", None).text
    assert remedy_of(blocked, "supposed", 0.5, "", None).text.startswith(
        "if thread 0 alone initialises it, initialise it"
    )
    assert "schedule(static,1)" in remedy_of(blocked, TURNS, 0.5, "static,1", None).text
    assert "thread 3" in remedy_of(Pattern("one thread", 1, thread=3), SERIAL, 0.5, "", None).text
    assert (
        "each of its allocations" in remedy_of(Pattern("blocked", 4, each_allocation=True), SERIAL, 0.5, "", None).text
    )


def test_no_loop_places_the_pages_of_a_file() -> None:
    for kind, policy in (("shared", "interleave"), ("blocked", "locality")):
        remedy = remedy_of(Pattern(kind, 4), SERIAL, 0.5, "", True, is_file=True)
        assert remedy.text.endswith(f"under a mapping with {policy}")
    assert remedy_of(Pattern("shared", 4), SERIAL, 0.01, "", True, is_file=True).action == "nothing"


def test_a_copy_on_each_node_is_advised_where_nothing_writes() -> None:
    shared = Pattern("shared", 4)
    said = {known: remedy_of(shared, SERIAL, 0.5, "", known) for known in (True, False, None)}
    assert {one.action for one in said.values()} == {"interleave"}
    assert said[True].text.startswith("regions only read it: give each node a copy")
    assert "copy" not in said[False].text
    assert "if it is only read, a copy" in said[None].text
