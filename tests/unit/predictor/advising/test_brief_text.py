"""The answer in brief: mapping, gain and command, what is modelled called so, and every doubt."""

import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.brief_text import advice_in_brief
from tests.advised import advised_on
from tests.planted import planted_dataset
from tests.searches import LOCAL, Computer, answered, times


@pytest.fixture(scope="module")
def advice() -> Advice:
    dataset = planted_dataset(15)
    stream = next(program for program in dataset.programs if program.name.startswith("stream"))
    found = advised_on(dataset, stream)
    assert not found.keep
    return msgspec.structs.replace(found, modelled=True)


def brief(found: Advice, **changes: object) -> str:
    """Return the answer with some fields changed, in one line."""
    return " ".join(advice_in_brief(msgspec.structs.replace(found, **changes)).split())


def test_three_things_are_said(advice: Advice) -> None:
    text = advice_in_brief(advice)
    assert len(text.splitlines()) <= 13
    flat = " ".join(text.split())
    assert f"({advice.mapping})" in flat
    gain = f"modelled gain {advice.speedup:.2f}x for the whole run, over {advice.baseline}; within 2% of the best of "
    assert gain in flat
    assert f"\n  {advice.command}\n" in text
    assert "cluster" not in flat
    assert "run 1" not in flat


def test_what_was_computed_from_traces_is_counted(advice: Advice) -> None:
    threads = sorted({run.mapping.threads for run in advice.runs})  # type: ignore[attr-defined]
    listed = " or ".join([", ".join(map(str, threads[:-1])), str(threads[-1])]) if threads[1:] else str(threads[0])
    said = f"within 2% of the best of {advice.computed} mappings of {listed} threads, all computed from their traces"
    assert advice.computed > 10
    assert said in brief(advice)
    assert "computed" not in brief(advice, computed=0)


def test_only_on_a_described_machine_it_is_modelled_and_elsewhere(advice: Advice) -> None:
    modelled = brief(advice)
    assert "(modelled)" in modelled
    assert "to apply it on such a machine" in modelled
    assert "measured" not in modelled
    here = brief(advice, modelled=False)
    assert "modelled" not in here
    assert "on such a machine" not in here
    assert "measured gain" in here


def test_doubts_stay(advice: Advice) -> None:
    flat = brief(advice, warnings=("it ends with exit code 26", "and more"), own_threads="it sets its own")
    assert "note it sets its own it ends with exit code 26 and more" in flat


def test_a_search_says_what_it_measured_and_what_one_more_run_would_add() -> None:
    found = answered(Computer(times(8.0, local=4.0)), runs=2)
    flat = brief(found)
    assert f"({LOCAL})" in flat
    assert (
        "measured gain 2.00x for the whole run, over the program as it is now (2.00x to 2.00x in 3 further runs" in flat
    )
    assert "a further run is expected to add " in flat
    assert "--runs 3 makes it" in flat
    assert f"to apply it {found.command} " in flat
    assert "modelled gain 2.00x" in brief(found, modelled=True)
    assert "a further run no mapping is left to try" in brief(found, next=None)


def test_a_search_that_keeps_the_program_says_so() -> None:
    flat = brief(answered(Computer(times(8.0))))
    assert "best mapping keep what you have: no mapping that ran was significantly faster" in flat
    assert "gain " not in flat.partition("a further run")[0]
    assert parse_label("32x4-contiguous-locality").label not in flat.partition("a further run")[0]
