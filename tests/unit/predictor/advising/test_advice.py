import os
import shlex

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import AnyMapping, Mapping, applicable, from_label, parse_label, to_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.emission import emit, expresses
from numapredict.collect.placing.tools.tools import TOOLS
from numapredict.collect.program import Program
from numapredict.native.errors import NoModelError
from numapredict.predictor.advising import advice as advising
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.advice_text import DIRECT, advice_in_words, mapping_in_words
from numapredict.predictor.learning.model import ExpectedSpeedup, Member
from numapredict.predictor.learning.model_choice import ChosenModel
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset
from tests.shapes import shape


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def chosen(dataset: Dataset) -> ChosenModel:
    return ChosenModel(train(dataset, TrainingOptions(n_clusters=5, feature_kinds=("ratio",))), "a test's model")


@pytest.fixture(scope="module")
def advice(dataset: Dataset, chosen: ChosenModel) -> Advice:
    return advise(dataset.programs[0], RecordedMachine(dataset), chosen)


def test_the_advice_carries_both_probes_and_the_cluster(dataset: Dataset, chosen: ChosenModel, advice: Advice) -> None:
    times = {(m.program, m.mapping): m for m in dataset.measurements}
    assert [probe.mapping for probe in advice.probes] == [probe.mapping for probe in chosen.model.probes]
    for probe in advice.probes:
        measured = times[dataset.programs[0].name, probe.mapping]
        assert probe.time_s == probe.features["time_s"] == measured.time_s
        assert measured.counters is not None
        assert probe.features["local_bandwidth_GBps"] == measured.counters.local_bandwidth_GBps
    assert dataset.programs[0].name in advice.cluster.members
    assert advice.cluster.centroid in advice.cluster.members
    assert advice.default == chosen.model.default
    assert (
        msgspec.json.decode(msgspec.json.encode(advice, enc_hook=to_label), type=Advice, dec_hook=from_label) == advice
    )


def test_words_say_what_the_record_says(advice: Advice) -> None:
    text = advice_in_words(advice)
    assert advice.mapping.label in text
    assert advice.mapping == advice.default
    assert "none: it runs under this mapping already" in text
    assert all(probe.mapping.label in text for probe in advice.probes)
    assert all(
        len(line) <= 100 or line.startswith(("  numapredict run", "  OMP_", "  env ")) for line in text.splitlines()
    )
    careful = msgspec.structs.replace(advice, warnings=("the first doubt", "the second doubt"))
    assert "warnings          - the first doubt\n" in advice_in_words(careful)
    assert advice_in_words(careful).endswith("- the second doubt")


def test_a_gain_is_said_with_how_sure_it_is(dataset: Dataset, chosen: ChosenModel) -> None:
    stream = next(program for program in dataset.programs if program.name.startswith("stream"))
    by_cluster = advise(stream, RecordedMachine(dataset), chosen)
    text = advice_in_words(by_cluster)
    assert f"{by_cluster.expected_speedup.median:.2f}x over {by_cluster.default}" in text
    assert "among similar programs" in text
    assert by_cluster.confidence is None
    expecting = ChosenModel(train(dataset, TrainingOptions(method="expectation", feature_kinds=("ratio",))), "a test's")
    expected = advise(stream, RecordedMachine(dataset), expecting)
    assert expected.confidence is not None
    assert expected.confidence > 0.9
    assert "90% interval; probability that it beats the default: " in advice_in_words(expected)
    assert expected.mapping in {probe.mapping for probe in expected.probes}
    assert DIRECT[True] in " ".join(advice_in_words(expected).split())
    assert DIRECT[True] not in " ".join(text.split())
    speed = expected.expected_speedup
    assert 1 < speed.low < speed.median < speed.high


def test_doubts_are_said(dataset: Dataset, chosen: ChosenModel) -> None:
    probes = {probe.mapping for probe in chosen.model.probes}
    doubtful = (
        ("region_time_seen", "0.4"),
        ("census", "stopped by its time budget"),
        ("teams", "{threads}:0.900 3:0.100"),
    )
    measurements = tuple(
        msgspec.structs.replace(
            m, provenance=tuple((name, text.format(threads=m.mapping.threads)) for name, text in doubtful)
        )
        if m.mapping in probes
        else m
        for m in dataset.measurements
    )
    recorded = RecordedMachine(msgspec.structs.replace(dataset, measurements=measurements))
    advice = advise(dataset.programs[0], recorded, chosen)
    seen, cut, threads = advice.warnings[:3]
    assert "saw 40% of the region time" in seen
    assert "stopped by its time budget" in cut
    assert "3 in 10% of the region time" in threads
    assert not advice.whole_program


def test_the_command_applies_the_advised_mapping(dataset: Dataset, advice: Advice) -> None:
    assert advice.command == f"numapredict run --mapping {advice.mapping} -- {shlex.join(dataset.programs[0].command)}"
    assert f"  to apply it on such a machine\n  {advice.command}\n" in advice_in_words(advice)


def test_the_alternative_is_what_numactl_can_do(dataset: Dataset, chosen: ChosenModel) -> None:
    recorded = RecordedMachine(dataset)
    exact = []
    for program in dataset.programs:
        advice = advise(program, recorded, chosen)
        alternative = advice.alternative
        expressible = {"first-touch", "interleave", "bind", "remote"}
        exact.append(applicable(advice.mapping).page_policy in expressible)
        assert alternative.exact == exact[-1]
        assert applicable(alternative.mapping).page_policy in expressible
        assert alternative.command in advice_in_words(advice)
        assert alternative.expected_speedup is not None
        if exact[-1]:
            assert (alternative.mapping, alternative.expected_speedup) == (advice.mapping, advice.expected_speedup)
            assert "to the same effect" in advice_in_words(advice)
        else:
            assert alternative.mapping != advice.mapping
            if alternative.mapping == advice.default:
                assert "alone: the default, bound; no other of their mappings clearly gains" in advice_in_words(advice)
            else:
                words = " ".join(advice_in_words(advice).split())
                assert f"approximately: {alternative.mapping} (" in words
    assert True in exact
    assert False in exact


def test_every_tool_has_the_best_that_it_can_apply(dataset: Dataset, chosen: ChosenModel) -> None:
    recorded = RecordedMachine(dataset)
    for program in dataset.programs:
        advice = advise(program, recorded, chosen)
        assert [alternative.tool for alternative in advice.alternatives] == list(TOOLS)
        assert advice.alternative in advice.alternatives
        for alternative in advice.alternatives:
            placement = resolve(applicable(alternative.mapping), recorded.topology)
            assert expresses(alternative.tool, placement)
            assert alternative.exact == (alternative.mapping == advice.mapping)
            assert alternative.command == emit(alternative.tool, placement, program, os.environ).text


def test_an_alternative_of_no_known_speedup_claims_none(advice: Advice) -> None:
    unknown = msgspec.structs.replace(advice.alternative, exact=False, expected_speedup=None, note="a note")
    text = advice_in_words(msgspec.structs.replace(advice, alternative=unknown))
    assert f"approximately: {unknown.mapping}\n" in text
    assert "\n  (a note)\n\n  similar programs" in text


def test_the_regions_share_says_what_the_whole_run_gains(advice: Advice) -> None:
    twice = msgspec.structs.replace(advice.expected_speedup, median=2.0)
    half = msgspec.structs.replace(advice, region_share=0.5, expected_speedup=twice, clock="regions")
    words = " ".join(advice_in_words(half).split())
    assert "the regions take 50% of its run time under the probes: about 1.33x for the whole run" in words
    nearly = advice_in_words(msgspec.structs.replace(half, region_share=0.95))
    assert "whole run" not in nearly
    kept = msgspec.structs.replace(half, mapping=half.default, expected_speedup=ExpectedSpeedup(1.0, 1.0, 1.0))
    assert "whole run" not in advice_in_words(kept)


def test_the_cluster_says_what_the_mapping_gave_its_members(dataset: Dataset, chosen: ChosenModel) -> None:
    given = {
        (cluster.id, each.mapping): each.expected_speedup
        for cluster in chosen.model.clusters
        for each in cluster.ranked
    }
    reported = 0
    for program in dataset.programs:
        advice = advise(program, RecordedMachine(dataset), chosen)
        if advice.mapping == advice.default:
            assert advice.cluster.speedup is None
            assert "they gain" not in advice_in_words(advice)
            continue
        speed = given[advice.cluster.id, advice.mapping]
        assert advice.cluster.speedup == speed
        words = " ".join(advice_in_words(advice).split())
        assert f"they gain {speed.median:.2f}x ({speed.low:.2f}x to {speed.high:.2f}x):" in words
        reported += 1
    assert reported


def test_variants_of_a_code_are_described_by_what_all_of_them_do() -> None:
    default = parse_label("32x4-contiguous-first-touch")
    variants = {"medium.serial": "medium, serial", "large.parallel": "large, parallel"}
    members = [
        Member(f"jacobi.{variant}", "jacobi", f"Sweeps a stencil ({words} initialisation)", default, 1.0, ())
        for variant, words in variants.items()
    ]
    described = advising._group_in_words("jacobi", members)
    assert described == "jacobi (medium.serial, large.parallel): Sweeps a stencil"


def test_a_program_beyond_the_library_is_reported(dataset: Dataset, chosen: ChosenModel) -> None:
    placed_by = "OMP_* and numactl, for the preload library cannot place it: it is statically linked"
    notes = (("placement", placed_by), ("numactl", "--physcpubind=0"))
    measurements = tuple(msgspec.structs.replace(m, provenance=notes) for m in dataset.measurements)
    recorded = RecordedMachine(msgspec.structs.replace(dataset, measurements=measurements))
    assert any("statically linked" in warning for warning in advise(dataset.programs[0], recorded, chosen).warnings)


def test_a_model_of_another_shape_is_refused(dataset: Dataset, chosen: ChosenModel) -> None:
    other = msgspec.structs.replace(dataset, topology=shape((4, 4), name="small"), measurements=())
    with pytest.raises(NoModelError, match="the model is for"):
        advise(dataset.programs[0], RecordedMachine(other), chosen)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("8x1-contiguous-bind", "8 threads on 1 node; all pages there"),
        (
            "32x4-scatter-interleave",
            "32 threads on 4 nodes, round-robin across the nodes; pages round-robin over 4 nodes by address",
        ),
        (
            "1x1-contiguous-balance@2",
            "1 thread on 1 node; pages so that 2 nodes get equally many accesses",
        ),
    ],
)
def test_mappings_in_words(label: str, words: str) -> None:
    assert mapping_in_words(parse_label(label)) == words


@pytest.fixture(scope="module")
def expecting(dataset: Dataset) -> ChosenModel:
    return ChosenModel(train(dataset, TrainingOptions(method="expectation", feature_kinds=("ratio",))), "a test's")


def stream_of(dataset: Dataset) -> Program:
    return next(program for program in dataset.programs if program.name.startswith("stream"))


def test_verified_advice_says_what_both_runs_took(dataset: Dataset, expecting: ChosenModel, said: list[str]) -> None:
    program = stream_of(dataset)
    plain = advise(program, RecordedMachine(dataset), expecting)
    advice = advise(program, RecordedMachine(dataset), expecting, verifier=RecordedMachine(dataset))
    assert advice.mapping == plain.mapping != advice.default
    found = advice.verification
    assert found is not None
    assert found.won
    times = {m.mapping: m.time_s for m in dataset.measurements if m.program == program.name}
    assert found.speedup == pytest.approx(times[advice.default] / times[advice.mapping])
    assert f"verified: {found.speedup:.2f}x when both were run" in advice_in_words(advice)
    assert sum(text.startswith("verifying") for text in said) == 2  # modelled: one round


class SlowerLater(RecordedMachine):
    """A machine on which a mapping is a hundred times slower from its second run on."""

    def __init__(self, dataset: Dataset, failing: AnyMapping) -> None:
        super().__init__(dataset)
        self.failing, self.runs = failing, 0

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        found = super().run(program, mapping)
        self.runs += mapping == self.failing
        if mapping != self.failing or self.runs < 2:
            return found
        slow = msgspec.structs.replace(found.repetitions[0], time_s=100 * found.time_s)
        return msgspec.structs.replace(found, repetitions=(slow,))


def test_advice_that_does_not_win_is_taken_back(dataset: Dataset, expecting: ChosenModel) -> None:
    program = stream_of(dataset)
    advised = advise(program, RecordedMachine(dataset), expecting).mapping
    assert advised in {probe.mapping for probe in expecting.model.probes}  # its second run is the one that verifies
    moody = SlowerLater(dataset, advised)
    advice = advise(program, moody, expecting, verifier=moody)
    assert advice.mapping == advice.default
    assert advice.expected_speedup.median == 1.0
    assert f"--mapping {advice.default} --" in advice.command
    assert advice.alternative.mapping == advice.default
    assert advice.verification is not None
    assert not advice.verification.won
    assert f"{advised} was advised, but ran at" in advice_in_words(advice)


def test_the_default_needs_no_verification(dataset: Dataset, chosen: ChosenModel, advice: Advice) -> None:
    assert advice.mapping == advice.default
    recorded = RecordedMachine(dataset)
    assert advise(dataset.programs[0], recorded, chosen, verifier=recorded).verification is None
