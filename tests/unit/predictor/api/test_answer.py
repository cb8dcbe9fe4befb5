"""Answers as objects: what they say of an advice, a search and no answer, and how they show in a notebook."""

import json

import msgspec
import pytest

from numapredict import Answer
from numapredict.collect.mapping import to_label
from numapredict.predictor.advising.unknown import Unknown
from tests.searches import LOCAL, Computer, answered, times

FOUND = answered(Computer(times(8.0, local=4.0)), runs=2)
KEPT = answered(Computer(times(8.0)))


def test_a_search_that_won() -> None:
    answer = Answer(FOUND)
    assert (answer.mapping, answer.speedup, answer.interval) == (LOCAL, 2.0, (2.0, 2.0))
    assert (answer.measured, answer.modelled, answer.command) == (True, False, FOUND.command)
    assert repr(answer) == f"<Answer {FOUND.program!r}: {LOCAL}, 2.00x>"
    assert "2.00x (2.00x to 2.00x), measured" in answer._repr_html_()
    assert "modelled" in Answer(msgspec.structs.replace(FOUND, modelled=True))._repr_html_()


def test_a_search_that_keeps_the_program() -> None:
    answer = Answer(KEPT)
    assert (answer.mapping, answer.speedup) == (None, 1.0)
    assert "keep what you have" in answer._repr_html_()
    assert "keep what you have" in repr(answer)


def test_it_comes_back_from_json() -> None:
    text = msgspec.json.encode(FOUND, enc_hook=to_label)
    assert Answer.from_json(text).to_dict() == json.loads(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"answer": "searched"}', "nan", '{"answer": 3}'])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="this is no answer of numapredict --json"):
        Answer.from_json(text)


def test_names_cannot_write_into_a_notebook() -> None:
    wild = msgspec.structs.replace(FOUND, program="<script>alert(1)</script>\x1b[31m", command="a && b < c")
    html = Answer(wild)._repr_html_()
    assert "<script>" not in html
    assert "\x1b" not in html
    assert "a &amp;&amp; b &lt; c" in html


def test_no_answer_says_why() -> None:
    unknown = Unknown(
        program="./app", machine="m", modelled=False, model="m", reason="no regions", to_try=("<b>",), trace_share=None
    )
    answer = Answer(unknown)
    assert (answer.mapping, answer.speedup, answer.interval, answer.command) == (None, None, None, None)
    assert (answer.measured, answer.modelled) == (False, False)
    assert "unknown: no regions" in str(answer)
    assert "unknown: no regions" in answer._repr_html_()
    assert "&lt;b&gt;" in answer._repr_html_()
    assert Answer.from_json(json.dumps(answer.to_dict())).record == unknown
