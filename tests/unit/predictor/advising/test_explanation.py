"""Explanations: exact findings of hand-made readings, and on a shipped dataset no number that is not in the record."""

import re

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, from_label, mapping_named, parse_label, to_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.description import load_description
from numapredict.collect.program import Program
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.advice_text import advice_in_words, explanation_lines
from numapredict.predictor.advising.evidence import Evidence
from numapredict.predictor.advising.explanation import Close, Explanation, close_to, explain
from numapredict.predictor.advising.predict import Prediction
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model import Cluster, ExpectedSpeedup, Member, RankedMapping
from numapredict.predictor.learning.model_choice import ChosenModel, choose_model
from tests.unit.predictor.advising.test_verdicts import SAMPLED, STREAM

DEFAULT = parse_label("32x4-contiguous-first-touch")
CLUSTER = Cluster(id=0, members=(Member("p", "p", "", DEFAULT, 1.0, (0.0,)),), centroid="p", centre=(0.0,), ranked=())


def ranked(*found: tuple[str, float, float]) -> tuple[RankedMapping, ...]:
    """Return mappings of expected speedups: label, median, and low; the high end says nothing here."""
    return tuple(RankedMapping(parse_label(label), ExpectedSpeedup(median, low, 9.0)) for label, median, low in found)


RANKED = ranked(
    ("32x4-scatter-locality", 4.0, 3.6),
    ("32x4-contiguous-mix", 3.7, 2.0),
    ("16x4-scatter-locality", 3.9, 2.0),
    ("32x4-scatter-balance@2", 3.6, 2.0),
    ("32x4-scatter-dataset", 3.5, 2.0),
    (DEFAULT.label, 1.0, 1.0),
)


def prediction(chosen: RankedMapping, others: tuple[RankedMapping, ...] = RANKED) -> Prediction:
    return Prediction(
        mapping=chosen.mapping,
        cluster=CLUSTER,
        expected_speedup=chosen.expected_speedup,
        ranked=others,
        confidence=0.99,
        features=(0.0,),
        distance=0.0,
        ambiguity=0.0,
        familiar=True,
        reads="bandwidth",
    )


def explained(evidence: Evidence | None, chosen: RankedMapping = RANKED[0], *, expects: bool = True) -> Explanation:
    return explain(evidence, prediction(chosen), DEFAULT, expects=expects)


def rules(explanation: Explanation) -> list[tuple[str, str]]:
    """Return what is found of the program; what is said of the choice follows from the ranking, not from readings."""
    return [(finding.topic, finding.rule) for finding in explanation.findings if finding.topic != "choice"]


def test_a_stream_that_one_thread_initialised() -> None:
    found = explained(STREAM)
    assert (found.pages, found.binds) == ("one node", "one node's bandwidth")
    assert rules(found) == [
        ("default", "one node"),
        ("binds", "one node's bandwidth"),
        ("tip", "parallel first touch"),
    ]
    where, waits, choice, tip = found.findings
    assert choice.text.startswith("pages by locality 4.00x")
    assert where.text == (
        "the default has the pages on one node: its cores make 100% of the local accesses, and 25% of all accesses "
        "are local"
    )
    assert where.evidence == {"home_share": 1.0, "default_local_share": 0.25}
    assert waits.text == "it is limited by that node's memory bandwidth: with pages on all nodes it is 4.00x as fast"
    assert waits.evidence == {"speedup": 4.0}
    assert tip.text.startswith("initialise the arrays in a parallel loop")


def test_the_same_without_counters() -> None:
    found = explained(SAMPLED)
    assert rules(found) == [
        ("default", "one node by shares"),
        ("binds", "one node's bandwidth"),
        ("tip", "parallel first touch"),
        ("change", "counters"),
    ]
    assert found.findings[0].text == (
        "the default seems to have the pages on one node: 25% of the accesses seen are local, 99% under "
        "32x4-scatter-locality"
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"speedup": 1.3}, [("default", "one node"), ("binds", "one node's memory"), ("tip", "parallel first touch")]),
        ({"speedup": 1.2}, [("default", "one node"), ("binds", "unknown")]),
        (
            {"default_local_share": 0.97, "home_share": 0.3, "speedup": 1.0, "default_local_GBps": 110.0},
            [("default", "own nodes"), ("binds", "all nodes' bandwidth")],
        ),
        (
            {"default_local_share": 0.97, "home_share": 0.3, "speedup": 2.0, "default_local_GBps": 50.0},
            [("binds", "unknown")],
        ),
        (
            {"default_local_share": 0.3, "other_local_share": 0.4, "home_share": 0.3, "speedup": 1.0},
            [("default", "shared"), ("binds", "unknown"), ("change", "one node alone")],
        ),
        (
            {"default_traffic_GBps": 0.2, "other_traffic_GBps": 0.3, "speedup": 1.0, "home_share": 0.5},
            [("default", "unclear"), ("binds", "not memory"), ("change", "input")],
        ),
    ],
)
def test_what_is_found(changes: dict[str, float], expected: list[tuple[str, str]]) -> None:
    assert rules(explained(msgspec.structs.replace(STREAM, **changes))) == expected


def test_no_more_is_said_than_is_known() -> None:
    nothing = explained(Evidence(nodes=4, other="32x4-contiguous-mix", speedup=3.0))
    assert (nothing.pages, nothing.binds) == ("unknown", "unknown")
    assert nothing.findings[0].text == (
        "where the default has the pages and what limits it is not known from these readings"
    )
    assert rules(nothing)[1:] == [("change", "counters")]
    other = explained(None)
    assert rules(other) == [("binds", "unknown")]
    assert "not one of this model's probes" in other.findings[0].text


def test_a_gain_that_may_be_none_is_reported() -> None:
    doubtful = ranked(("32x4-scatter-locality", 1.2, 0.9))[0]
    last = explained(STREAM, doubtful).findings[-1]
    assert (last.topic, last.rule, last.evidence) == ("change", "uncertain", {"low": 0.9, "high": 9.0})
    assert "(0.90x to 9.00x): --verify" in last.text
    assert "uncertain" not in {rule for _, rule in rules(explained(STREAM, RANKED[-1]))}  # the default's gain is none
    assert "uncertain" not in {rule for _, rule in rules(explained(STREAM, doubtful, expects=False))}


def within(low: float) -> ExpectedSpeedup:
    return ExpectedSpeedup(4.0, low, 9.0)


def test_choices_are_the_policies_of_the_team_and_the_best_mapping_of_each_number_of_threads() -> None:
    found = explained(STREAM)
    shown = [(choice.part, choice.words, str(choice.mapping)) for choice in found.choices]
    assert shown == [
        ("pages", "by locality", "32x4-scatter-locality"),
        ("pages", "balanced", "32x4-scatter-balance@2"),
        ("pages", "by dataset", "32x4-scatter-dataset"),
        ("threads", "16 threads", "16x4-scatter-locality"),
        ("threads", "32 threads", "32x4-scatter-locality"),
    ]
    assert found.choices[0].expected_speedup == RANKED[0].expected_speedup
    assert explained(STREAM, expects=False).choices == (), "the speedups of a cluster's members are not the program's"
    one = ranked(("32x4-scatter-locality", 4.0, 3.6), ("32x4-contiguous-mix", 3.7, 2.0))
    assert explain(STREAM, prediction(one[0], one), DEFAULT, expects=True).choices == ()


def test_close_mappings_have_as_many_threads_and_lie_within_the_interval() -> None:
    advised = parse_label("32x4-scatter-locality")
    assert [(each.mapping.label, each.differs) for each in close_to(advised, within(3.6), RANKED)] == [
        ("32x4-contiguous-mix", "threads contiguous, pages by mix"),
        ("32x4-scatter-balance@2", "pages by balance on 2 nodes"),
    ]
    assert len(close_to(advised, within(0.5), RANKED)) == 3
    assert explained(STREAM).close == close_to(advised, within(3.6), RANKED)
    assert explained(STREAM, expects=False).close == ()
    below = close_to(advised, ExpectedSpeedup(3.0, 0.5, 9.0), RANKED)
    assert all(each.expected_speedup.median <= 3.0 for each in below)  # what cannot be applied is none of them


def test_close_mappings_give_way_where_there_is_too_much_to_say() -> None:
    found = explained(STREAM)
    close = tuple(
        Close(mapping_named(f"32x4-scatter-{name}"), ExpectedSpeedup(2.0, 1.0, 3.0), "x" * 300) for name in "abc"
    )
    lines = explanation_lines(msgspec.structs.replace(found, close=close))
    assert len(lines) <= 14
    assert "32x4-scatter-a" in "".join(lines)
    assert "32x4-scatter-c" not in "".join(lines)
    titles = ["why", "by choice", "nearly as good", "in the source"]
    assert [line[2:20].strip() for line in lines if line[2] != " "] == titles


def test_what_is_nearly_as_good_is_reported_with_its_interval() -> None:
    close = (Close(parse_label("32x4-contiguous-balance"), ExpectedSpeedup(1.05, 0.8, 1.4), "pages by balance"),)
    lines = explanation_lines(msgspec.structs.replace(explained(STREAM), close=close))
    assert "  nearly as good    32x4-contiguous-balance (1.05x, 0.80x to 1.40x: pages by balance)" in lines


def test_each_part_of_the_choice_is_compared_with_its_alternatives() -> None:
    policies = ranked(
        ("32x4-scatter-locality", 4.0, 3.6),
        ("32x4-scatter-first-touch", 1.1, 0.9),
        ("32x4-scatter-balance@2", 5.0, 2.0),  # other page nodes, too
        ("32x4-scatter-mix", 4.5, 2.0),
        ("32x4-contiguous-locality", 3.0, 2.0),
        ("16x4-scatter-locality", 3.9, 2.0),
        (DEFAULT.label, 1.0, 1.0),
    )
    found = explain(STREAM, prediction(policies[0], policies), DEFAULT, expects=True)
    choices = [finding for finding in found.findings if finding.topic == "choice"]
    assert [(finding.rule, finding.text) for finding in choices] == [
        ("pages", "pages by locality 4.00x, by mix 4.50x, first touch 1.10x"),
        ("threads", "threads scatter 4.00x, contiguous 3.00x"),
    ]
    assert choices[1].evidence == {"32x4-scatter-locality": 4.0, "32x4-contiguous-locality": 3.0}
    kept = explain(STREAM, prediction(policies[-1], policies), DEFAULT, expects=True)
    assert not any(finding.topic == "choice" for finding in kept.findings)
    lines = explanation_lines(found)
    assert any(line.startswith("  by choice         pages by locality 4.00x, by mix 4.50x") for line in lines)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return open_dataset("sandybridge-4x8")


@pytest.fixture(scope="module")
def answers(dataset: Dataset) -> list[Advice]:
    assert dataset.topology is not None
    chosen = choose_model(dataset.machine, dataset.topology, "sandybridge-4x8")
    assert chosen is not None
    recorded = RecordedMachine(dataset)
    recorded.controllers_GBps = load_description("sandybridge-4x8").controller_read_GBps
    return [advise(program, recorded, chosen) for program in dataset.programs]


def test_every_number_that_is_said_is_in_the_record(answers: list[Advice]) -> None:
    for advice in answers:
        for finding in advice.explanation.findings:
            values = finding.evidence.values()
            known = {f"{form}" for v in values for form in (f"{v:.0%}", f"{v:.2f}x", f"{v:.1f}", f"{v:.2f}")}
            words = re.sub(r"\d+x\d+-\S+", "", finding.text)
            said = set(re.findall(r"\d[\d.]*[%x]?", words))
            assert said <= known, (advice.program, finding)


def test_each_binding_is_met_and_words_stay_short(answers: list[Advice]) -> None:
    assert {advice.explanation.binds for advice in answers} == {
        "one node's bandwidth",
        "one node's memory",
        "all nodes' bandwidth",
        "not memory",
        "unknown",
    }
    for advice in answers:
        lines = explanation_lines(advice.explanation)
        assert 1 <= len(lines) <= 14, advice.program
        assert all(len(line) <= 100 for line in lines)
        assert "\n".join(lines) in advice_in_words(advice)
        assert (
            msgspec.json.decode(msgspec.json.encode(advice, enc_hook=to_label), type=Advice, dec_hook=from_label)
            == advice
        )


def test_codelets_of_known_nature(dataset: Dataset, answers: list[Advice]) -> None:
    reported = {
        program.name: (advice.explanation.pages, advice.explanation.binds)
        for program, advice in zip(dataset.programs, answers, strict=True)
    }
    assert reported["stream-add.medium.serial"] == ("one node", "one node's bandwidth")
    assert reported["stream-add.medium.parallel"] == ("own nodes", "all nodes' bandwidth")
    assert reported["ep-pairs.medium.parallel"][1] == "not memory"
    assert reported["pointer-chase.medium.parallel"] == ("own nodes", "unknown")
    assert reported["shared-table.medium.parallel"] == ("unknown", "unknown")


def test_times_that_verification_contradicts_explain_nothing(dataset: Dataset) -> None:
    class Steady(RecordedMachine):
        """A machine on which the advised mapping does not win."""

        def run(self, program: Program, mapping: Mapping) -> Measurement:
            found = super().run(program, mapping)
            same = tuple(msgspec.structs.replace(r, time_s=1.0, region_time_s=1.0) for r in found.repetitions)
            return msgspec.structs.replace(found, repetitions=same)

    assert dataset.topology is not None
    chosen = choose_model(dataset.machine, dataset.topology, "sandybridge-4x8")
    assert isinstance(chosen, ChosenModel)
    program = next(p for p in dataset.programs if p.name == "stream-add.medium.serial")
    advice = advise(program, RecordedMachine(dataset), chosen, verifier=Steady(dataset))
    assert advice.mapping == advice.default
    assert advice.explanation.pages == "one node"  # the counters still say so
    assert advice.explanation.binds == "unknown"
    assert advice.explanation.close == ()


def test_threads_a_core_are_compared_and_told_apart() -> None:
    policies = ranked(
        ("32x4-scatter-locality", 4.0, 3.6),
        ("32x4-scatter-locality-smt2", 3.8, 2.0),
        ("32x4-contiguous-mix-smt2", 3.7, 2.0),
        (DEFAULT.label, 1.0, 1.0),
    )
    found = explain(STREAM, prediction(policies[0], policies), DEFAULT, expects=True)
    assert [finding.text for finding in found.findings if finding.topic == "choice"] == [
        "threads scatter 4.00x, 2 on each core 3.80x"
    ]
    assert [each.differs for each in found.close] == [
        "2 threads on each core",
        "threads contiguous, 2 threads on each core, pages by mix",
    ]
