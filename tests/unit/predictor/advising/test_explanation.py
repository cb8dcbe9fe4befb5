"""Explanations: exact findings of hand-made readings, and on a shipped dataset no number that is not in the record."""

import re

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, from_label, parse_label, to_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.evidence import Evidence
from numapredict.predictor.advising.explanation import Explanation, choices_of, close_to, explain
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model_choice import choose_model
from tests.advised import answer_on
from tests.unit.predictor.advising.test_verdicts import SAMPLED, STREAM

DEFAULT = parse_label("32x4-contiguous-first-touch")
ADVISED = parse_label("32x4-scatter-locality")
SPEEDUPS = {
    parse_label(label): speedup
    for label, speedup in (
        (ADVISED.label, 4.0),
        ("32x4-contiguous-mix", 3.95),
        ("16x4-scatter-locality", 3.99),
        ("32x4-scatter-balance@2", 3.97),
        ("32x4-scatter-dataset", 3.5),
        ("16x4-contiguous-locality", 3.0),
        (DEFAULT.label, 1.0),
    )
}


def explained(evidence: Evidence | None) -> Explanation:
    return explain(evidence, DEFAULT)


def rules(explanation: Explanation) -> list[tuple[str, str]]:
    """Return what is found of the program."""
    return [(finding.topic, finding.rule) for finding in explanation.findings]


def test_a_stream_that_one_thread_initialised() -> None:
    found = explained(STREAM)
    assert (found.pages, found.binds) == ("one node", "one node's bandwidth")
    assert rules(found) == [
        ("default", "one node"),
        ("binds", "one node's bandwidth"),
        ("tip", "parallel first touch"),
    ]
    where, waits, tip = found.findings
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


@pytest.mark.parametrize("tried", ["8x1-contiguous-bind", "16x4-contiguous-locality", "16x2-contiguous-locality"])
def test_one_node_alone_is_named_only_where_none_was_tried(tried: str) -> None:
    shared = msgspec.structs.replace(
        STREAM, default_local_share=0.3, other_local_share=0.4, home_share=0.3, speedup=1.0
    )
    named = ("change", "one node alone") in rules(explain(shared, DEFAULT, [AS_IT_IS, parse_label(tried)]))
    assert named == (parse_label(tried).thread_nodes > 1)


def test_no_more_is_said_than_is_known() -> None:
    nothing = explained(Evidence(nodes=4, other="32x4-contiguous-mix", speedup=3.0))
    assert (nothing.pages, nothing.binds) == ("unknown", "unknown")
    assert nothing.findings[0].text == (
        "where the default has the pages and what limits it is not known from these readings"
    )
    assert rules(nothing)[1:] == [("change", "counters")]
    other = explained(None)
    assert rules(other) == [("binds", "unknown")]
    assert "the default did not run, or nothing to compare it with" in other.findings[0].text


def test_choices_are_the_policies_of_the_team_and_the_best_mapping_of_each_number_of_threads() -> None:
    shown = [(part, words, str(mapping)) for part, words, mapping in choices_of(ADVISED, list(SPEEDUPS.items()))]
    assert shown == [
        ("pages", "by locality", "32x4-scatter-locality"),
        ("pages", "balanced", "32x4-scatter-balance@2"),
        ("pages", "by dataset", "32x4-scatter-dataset"),
        ("threads", "16 threads", "16x4-scatter-locality"),
        ("threads", "32 threads", "32x4-scatter-locality"),
    ]
    assert choices_of(ADVISED, [(ADVISED, 4.0), (parse_label("32x4-contiguous-mix"), 5.0)]) == ()


def test_close_mappings_have_as_many_threads_and_take_at_most_two_percent_longer() -> None:
    assert [(each.mapping.label, each.speedup, each.differs) for each in close_to(ADVISED, SPEEDUPS)] == [
        ("32x4-scatter-balance@2", 3.97, "pages by balance on 2 nodes"),
        ("32x4-contiguous-mix", 3.95, "threads contiguous, pages by mix"),
    ]
    many = {parse_label(f"32x4-contiguous-balance@{nodes}"): 4.0 for nodes in (1, 2, 3, 4) if nodes > 1}
    assert len(close_to(ADVISED, {**SPEEDUPS, **many})) == 3


def test_threads_a_core_are_told_apart() -> None:
    others = {parse_label(label): 3.96 for label in ("32x4-scatter-locality-smt2", "32x4-contiguous-mix-smt2")}
    assert [each.differs for each in close_to(ADVISED, {ADVISED: 4.0, **others})] == [
        "2 threads on each core",
        "threads contiguous, 2 threads on each core, pages by mix",
    ]


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
    found = [answer_on(dataset, program, chosen.model, machine=recorded) for program in dataset.programs]
    return [advice for advice in found if isinstance(advice, Advice)]


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
        lines = advice_in_words(advice).splitlines()
        assert all(len(line) <= 100 for line in lines[2 : -2 if advice.alternative is None else -5]), advice.program
        assert any(line.startswith("  why   ") for line in lines)
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


def test_on_a_described_machine_choices_are_computed_and_elsewhere_expected(
    dataset: Dataset, answers: list[Advice]
) -> None:
    chosen = choose_model(dataset.machine, None, "sandybridge-4x8")  # type: ignore[arg-type]
    assert chosen is not None
    number = next(n for n, advice in enumerate(answers) if not advice.keep)
    computed = answers[number].explanation
    traced = {run.mapping.threads for run in answers[number].runs if isinstance(run.mapping, Mapping)}
    for choice in computed.choices:
        assert isinstance(choice.mapping, Mapping)
        assert choice.ran == (choice.mapping.threads in traced)
        assert (choice.low == choice.speedup == choice.high) == choice.ran
    alone = answer_on(dataset, dataset.programs[number], chosen.model, traced=False)
    assert isinstance(alone, Advice)
    ran = {run.mapping for run in alone.runs}
    for choice in alone.explanation.choices:
        assert choice.ran == (choice.mapping in ran)
        assert choice.low <= choice.speedup <= choice.high
    assert not all(choice.ran for choice in alone.explanation.choices)
    assert alone.explanation.close == ()
    assert "expected, " in advice_in_words(alone)
