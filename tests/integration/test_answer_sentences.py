"""What an answer says agrees with its own runs, and what it says would follow does follow."""

import re

import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import AnyMapping, parse_label, to_label
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.brief_text import advice_in_brief
from numapredict.predictor.advising.confirmation import LEAST_ADVISED
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.reports.parts.advice_consistency import check_advice
from tests.advised import answer_on
from tests.planted import planted_dataset
from tests.searches import DEFAULT, HALF, LOCAL, ONE, SPREAD, Computer, answered, times

SECONDS = st.one_of(st.floats(1.0, 100.0), st.sampled_from((8.0, 8.01, 7.99, 7.9, 4.0)))
TIMES = st.fixed_dictionaries(dict.fromkeys((AS_IT_IS, DEFAULT, LOCAL, SPREAD, HALF, ONE), SECONDS))


def one_line(text: str) -> str:
    return " ".join(text.split())


def titled(text: str, title: str) -> str:
    """Return the text behind a title, in one line; empty for none."""
    found = re.search(rf"^  {re.escape(title):18}(.*(?:\n {{20}}.*)*)", text, re.MULTILINE)
    return one_line(found[1]) if found else ""


def whole(**others: float) -> dict[AnyMapping, float]:
    return times(8.0, **others)


@hypothesis.given(TIMES, st.integers(2, 5))
@hypothesis.example(whole(local=7.95), 3)  # the fastest, by under 1%
@hypothesis.example(whole(local=7.0), 2)  # a third run is worth it
@hypothesis.example(whole(local=10.0, spread=7.0), 2)
@hypothesis.example(whole(), 5)  # none is left
def test_of_any_times_the_sentences_are_those_of_the_runs(whole_s: dict[AnyMapping, float], runs: int) -> None:
    computer = Computer(whole_s)
    found = answered(computer, runs)
    check_advice(found, None)
    brief, whole = advice_in_brief(found), advice_in_words(found)
    done = {run.mapping: run for run in found.runs if run.outcome == "done"}
    fastest = min(done, key=lambda mapping: whole_s[mapping])
    gain = whole_s[AS_IT_IS] / whole_s[fastest]
    assert found.keep == (gain < 2**LEAST_ADVISED)
    for text in (brief, whole):
        best = titled(text, "best mapping")
        assert ("keep what you have" in best) == found.keep
        if found.keep:
            assert "significantly faster" in best
            assert [to_label(fastest)] == re.findall(r"\S+(?= was the fastest)", best) or fastest == AS_IT_IS
        else:
            assert to_label(fastest) in one_line(text)
            measured = titled(text, "measured gain") or titled(text, "measured speedup")
            assert measured.startswith(f"{gain:.2f}x for the whole run")
    for number, run in enumerate(found.runs, 1):
        said = titled(whole, f"run {number}")
        assert said.startswith("as it is now: " if number == 1 else f"{run.mapping}: ")
        if run.outcome == "done" and number > 1:
            assert said.split(" a further run")[0].split(" no mapping")[0].endswith(f", {run.speedup:.2f}x")
    assert not titled(whole, f"run {len(found.runs) + 1}")
    follows(computer, found, brief)


def follows(computer: Computer, found: Advice, brief: str) -> None:
    """Check that the options that are said to make a further run make it."""
    said = titled(brief, "a further run")
    if more := re.search(r"--runs (\d+) makes it", said):
        assert int(more[1]) == len(found.runs) + 1, "no run more than it takes"
        again = answered(Computer(computer.whole_s), int(more[1]))
        assert [run.mapping for run in again.runs][: len(found.runs) + 1] == [
            *(run.mapping for run in found.runs),
            found.next.mapping if found.next else None,
        ]
    elif often := re.search(r"--for (\d+) makes it", said):
        again = answered(Computer(computer.whole_s), len(found.runs) + 1, expected_runs=int(often[1]))
        assert len(again.runs) > 1
    else:
        assert said in ("no mapping is left to try", "is expected to add nothing")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(10)


@pytest.mark.parametrize("runs", [2, 4])
@pytest.mark.parametrize("number", range(10))
def test_on_a_described_machine_too(dataset: Dataset, number: int, runs: int) -> None:
    program, machine = dataset.programs[number], RecordedMachine(dataset)
    found = answer_on(dataset, program, options=SearchOptions(runs=runs))
    assert isinstance(found, Advice)
    check_advice(found, dataset.topology)
    text = advice_in_words(found)
    made = [run for run in found.runs if not run.computed]
    for at, run in enumerate(made, 1):
        assert titled(text, f"run {at}").startswith(f"{run.mapping}: ")
    assert not titled(text, f"run {len(made) + 1}")
    assert len(re.findall("^  computed", text, re.MULTILINE)) == len(found.runs) - len(made)
    more = re.search(r"--runs (\d+) makes it", one_line(text))
    assert more is None or int(more[1]) == len(made) + 1
    times_s = {each.mapping: each.time_s for each in dataset.measurements if each.program == program.name}
    if claim := re.search(r"within 2% of the best of (\d+) mappings? of ([\d, or]+) threads", one_line(text)):
        threads = {int(each) for each in re.findall(r"\d+", claim[2])}
        among = [time_s for mapping, time_s in times_s.items() if parse_label(to_label(mapping)).threads in threads]
        assert len(among) == int(claim[1])
        assert machine.run(program, parse_label(to_label(found.mapping))).time_s <= 1.02 * min(among)
    else:
        assert found.keep


def test_what_was_computed_is_no_run_of_those_that_may_be_made() -> None:
    found = answered(Computer(whole(local=7.0)), 2)
    assert "--runs 3 makes it" in one_line(advice_in_brief(found))
    computed = (found.runs[0], msgspec.structs.replace(found.runs[1], computed=True))
    assert "--runs 2 makes it" in one_line(advice_in_brief(msgspec.structs.replace(found, runs=computed)))
