"""An answer from Python: the figures are those of the record, and what it says is what the command says."""

import msgspec
import pytest

from numapredict.collect.mapping import to_label
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.brief_text import advice_in_brief
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.api.answer import Answer
from tests.advised import advised_on
from tests.html_document import Document
from tests.planted import planted_dataset
from tests.searches import LOCAL, Computer, answered, times

UNKNOWN = Unknown(
    program="./app", machine="m", modelled=True, reason="little was seen", to_try=("more time",),
    trace_share=0.1,
)  # fmt: skip


@pytest.fixture(scope="module")
def advice() -> Advice:
    dataset = planted_dataset(15)
    stream = next(program for program in dataset.programs if program.name.startswith("stream"))
    return msgspec.structs.replace(advised_on(dataset, stream), modelled=False)


def test_what_was_advised(advice: Advice) -> None:
    found = Answer(advice)
    assert (found.mapping, found.speedup, found.interval) == (advice.mapping, advice.speedup, (advice.low, advice.high))
    assert (found.program, found.machine, found.modelled) == (advice.program, advice.machine, False)
    assert (found.command, found.warnings) == (advice.command, advice.warnings)
    assert found.region_speedup == advice.region_speedup
    assert str(found) == advice_in_brief(advice)
    assert "--explain" not in found.explain()
    assert "run 1" in found.explain()


def test_the_dictionary_is_what_json_prints(advice: Advice) -> None:
    found = Answer(advice).to_dict()
    assert msgspec.json.decode(msgspec.json.encode(advice, enc_hook=to_label)) == found
    assert (found["answer"], found["mapping"]) == ("advised", advice.mapping.label)


def test_what_is_modelled_is_called_so(advice: Advice) -> None:
    assert "modelled" not in repr(Answer(advice))
    assert repr(Answer(msgspec.structs.replace(advice, modelled=True))).endswith("x (modelled)>")
    assert repr(Answer(answered(Computer(times(8.0))))).endswith("keep what you have, 1.00x>")


def test_only_what_ran_here_is_measured(advice: Advice) -> None:
    assert Answer(advice).measured
    assert not Answer(msgspec.structs.replace(advice, modelled=True)).measured


def test_a_printed_answer_is_read_again(advice: Advice) -> None:
    for record in (advice, answered(Computer(times(8.0, local=4.0)), runs=2), UNKNOWN):
        assert Answer.from_json(msgspec.json.encode(record, enc_hook=to_label)).record == record
    for text in ("[]", "{}", "none", b"\xff"):
        with pytest.raises(ValueError, match="this is no answer of numapredict --json"):
            Answer.from_json(text)


def test_no_answer_says_what_to_try() -> None:
    found = Answer(UNKNOWN)
    assert (found.mapping, found.speedup, found.interval, found.command, found.region_speedup) == (None,) * 5
    assert not found.measured
    assert "more time" in str(found)
    assert "more time" in found._repr_html_()


def test_what_was_searched() -> None:
    record = answered(Computer(times(8.0, local=4.0)), runs=2)
    found = Answer(record)
    assert (found.mapping, found.speedup, found.interval, found.measured) == (LOCAL, 2.0, (2.0, 2.0), True)
    assert not Answer(msgspec.structs.replace(record, modelled=True)).measured
    assert "a further run" in str(found)
    assert "chosen by" in found.explain()


def test_a_program_that_should_stay_as_it_is_has_no_mapping() -> None:
    found = Answer(answered(Computer(times(8.0))))
    assert (found.mapping, found.speedup) == (None, 1.0)
    assert "keep what you have" in found._repr_html_()


def test_a_notebook_shows_mapping_gain_and_command(advice: Advice) -> None:
    doubtful = msgspec.structs.replace(advice, warnings=("it ends with <26>", "and more"))
    found = Document(Answer(doubtful)._repr_html_())
    assert found.texts["th"] == ["best mapping", "measured gain", "a further run", "note", "", "to apply it"]
    mapping, gain, _, note, more, command = found.texts["td"]
    assert f"({advice.mapping})" in mapping
    assert f"{advice.speedup:.2f}x" in gain
    assert (note, more, command) == ("it ends with <26>", "and more", advice.command)
    modelled = Document(Answer(msgspec.structs.replace(advice, modelled=True))._repr_html_())
    assert modelled.texts["th"][-1] == "to apply it on such a machine"


def test_its_tables_are_frames(advice: Advice) -> None:
    found = Answer(advice)
    runs, choices = found.runs(), found.choices()
    assert list(runs["mapping"]) == [to_label(run.mapping) for run in advice.runs]
    assert list(runs["time_s"]) == [run.time_s for run in advice.runs]
    assert list(choices["words"]) == [choice.words for choice in advice.explanation.choices]
    assert list(choices["speedup"]) == [choice.speedup for choice in advice.explanation.choices]
    assert len(choices) > 2
    assert found.regions().empty
    assert Answer(UNKNOWN).runs().empty
    assert Answer(UNKNOWN).choices().empty
    assert list(Answer(UNKNOWN).choices().columns) == list(choices.columns)
    assert "name" in found.regions().columns
