"""The answer in brief: mapping, gain and command, what is modelled called so, and every doubt."""

import msgspec
import pytest

from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import parse_label
from numapredict.predictor.advising.advice import TWO_CLUSTERS, Advice, advise
from numapredict.predictor.advising.brief_text import advice_in_brief, searched_in_brief
from numapredict.predictor.advising.searched import Searched
from numapredict.predictor.advising.verification import Verification
from numapredict.predictor.learning.model_choice import ChosenModel
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset
from tests.searches import LOCAL, Computer, answered, times


@pytest.fixture(scope="module")
def advice() -> Advice:
    dataset = planted_dataset(15)
    model = train(dataset, TrainingOptions(method="expectation", feature_kinds=("ratio",)))
    stream = next(program for program in dataset.programs if program.name.startswith("stream"))
    found = advise(stream, RecordedMachine(dataset), ChosenModel(model, "a test's"))
    assert isinstance(found, Advice)
    assert found.mapping != found.default
    return msgspec.structs.replace(found, warnings=())


def brief(found: Advice | Searched, **changes: object) -> str:
    """Return the answer with some fields changed, in one line."""
    changed = msgspec.structs.replace(found, **changes)
    return " ".join((advice_in_brief if isinstance(changed, Advice) else searched_in_brief)(changed).split())


def test_three_things_are_said(advice: Advice) -> None:
    text = advice_in_brief(msgspec.structs.replace(advice, clock="process"))
    assert len(text.splitlines()) <= 12
    flat = " ".join(text.split())
    speed = advice.expected_speedup
    assert f"({advice.mapping})" in flat
    assert f"{speed.median:.2f}x (90% interval {speed.low:.2f}x to {speed.high:.2f}x) for the whole run, over" in flat
    assert f"\n  {advice.command}\n" in text
    assert "cluster" not in flat
    assert "probe 1" not in flat


def test_the_whole_run_leads_where_it_differs_from_the_regions(advice: Advice) -> None:
    regions = msgspec.structs.replace(advice.expected_speedup, low=1.8, median=2.0, high=2.2)
    flat = brief(advice, clock="regions", region_share=0.5, expected_speedup=regions)
    whole, part = flat.index("about 1.33x for the whole run"), flat.index("2.00x (90% interval 1.80x to 2.20x)")
    assert whole < part < flat.index("for its parallel regions")
    assert "whole run" not in brief(advice, clock="regions", region_share=0.97)


def test_only_on_a_described_machine_it_is_modelled_and_elsewhere(advice: Advice) -> None:
    modelled = brief(advice, modelled=True)
    assert "(modelled)" in modelled
    assert "to apply it on such a machine" in modelled
    assert "measured" not in modelled
    here = brief(advice, modelled=False)
    assert "modelled" not in here
    assert "on such a machine" not in here
    assert "measured gain" in here
    assert "measured directly by the probes, not predicted" in here


def test_what_was_verified_is_measured_and_what_lost_is_no_gain(advice: Advice) -> None:
    run = Verification(
        mapping=advice.mapping, default=advice.default, default_s=(2.0, 2.0), chosen_s=(1.0, 1.0), speedup=2.0, low=1.9,
        high=2.1, won=True, reason="",
    )  # fmt: skip
    assert "verified: 2.00x when both were run (1.90x to 2.10x in 2 rounds)" in brief(advice, verification=run)
    assert "measured gain" in brief(advice, verification=run, modelled=False, probes=())
    lost = msgspec.structs.replace(run, won=False, speedup=0.9, low=0.8, high=1.0)
    assert " gain none: " in brief(advice, verification=lost, mapping=advice.default)
    assert " gain none: it runs under this mapping already" in brief(advice, mapping=advice.default)


def test_doubts_stay_but_for_that_of_resemblance(advice: Advice) -> None:
    flat = brief(advice, warnings=(TWO_CLUSTERS, "it ends with exit code 26"))
    assert "note it ends with exit code 26" in flat
    assert TWO_CLUSTERS not in flat
    assert TWO_CLUSTERS in brief(advice, warnings=(TWO_CLUSTERS,), confidence=None)  # where the cluster chose


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
