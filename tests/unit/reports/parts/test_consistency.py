"""Predictions that have the right fields and cannot be true."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import to_label
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.advising.advice import advise
from numapredict.predictor.command_line.main import main
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model_choice import named_model
from numapredict.reports.parts.answer_file import read_answer

BAD_REGIONS = {
    "mapping": "32x4-contiguous-first-touch",
    "times": {"regions": [], "wall_s": -1, "complete": True},
}


@pytest.fixture(scope="module")
def reported() -> bytes:
    """What `predict --json` prints for a described machine, of a program with another mapping than the default."""
    dataset, chosen = open_dataset("sandybridge-4x8"), named_model("sandybridge-4x8")
    program = next(program for program in dataset.programs if program.name == "stream-copy.medium.serial")
    return msgspec.json.encode(advise(program, RecordedMachine(dataset), chosen), enc_hook=to_label)


def changed(reported: bytes, path: tuple[str | int, ...], value: object) -> bytes:
    """Return a prediction in which one field is another."""
    record: Any = json.loads(reported)
    at = record
    for step in path[:-1]:
        at = at[step]
    assert at[path[-1]] != value
    at[path[-1]] = value
    return json.dumps(record).encode()


def test_a_true_prediction_is_read(reported: bytes) -> None:
    advice = read_answer(reported, "p.json")
    assert advice.mapping != advice.default
    assert msgspec.json.encode(advice, enc_hook=to_label) == reported


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("mapping",), "99x9-contiguous-locality", "mapping: .*(machine sandybridge-4x8)"),
        (
            ("mapping",),
            "32x4-contiguous-interleave",
            "command: it does not run the program under 32x4-contiguous-inter",
        ),
        (("default",), "33x4-contiguous-first-touch", "default: .*"),
        (("default",), "32x4", "default: .* is not a mapping's label"),
        (("regions",), [BAD_REGIONS], "regions of run 1, wall_s: -1 cannot have been read"),
        (("machine",), "lpd48core", r"(mapping|default): .*\(machine lpd48core\)"),
        (("probes", 1, "mapping"), "32x8-contiguous-mix", "probe 2, mapping: "),
        (("probes",), [], "probes: 0 of them, where a prediction rests on two"),
        (("expected_speedup", "median"), -1, "expected_speedup: -1 between"),
        (("expected_speedup", "low"), 1e6, "expected_speedup: .* between 1e\\+06 and"),
        (("expected_speedup", "low"), 0, "expected_speedup: "),
        (("expected_speedup", "high"), 0.01, "expected_speedup: "),
        (("alternatives", 0, "expected_speedup"), {"median": 1, "low": 2, "high": 3}, "expected_speedup of env's"),
        (("confidence",), 7, "confidence: 7 is not within 0 to 1"),
        (("confidence",), -0.1, "confidence: -0.1"),
        (("region_share",), 1.5, "region_share: 1.5"),
        (("trace_share",), -1, "trace_share: -1"),
        (("ambiguity",), 2, "ambiguity: 2"),
        (("probes", 0, "time_s"), 0, "probe 1, time_s: 0 cannot"),
        (("probes", 1, "time_s"), -2, "probe 2, time_s: -2 cannot"),
        (("probes", 0, "features", "local_share"), 9, "probe 1, features.local_share: 9"),
        (("probes", 0, "features", "local_bandwidth_GBps"), -1, "probe 1, features.local_bandwidth_GBps: -1"),
        (
            ("command",),
            "numapredict run --mapping 32x4-contiguous-mix@2 -- ./app",
            "command: it does not run .* the answer",
        ),
        (("command",), "rm -r ~", "command: it does not run"),
        (("cluster", "centroid"), "nobody", "cluster: "),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(
    reported: bytes, path: tuple[str | int, ...], value: object, says: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"^p.json: {says}") as caught:
        read_answer(changed(reported, path, value), "p.json")
    assert str(caught.value).count("\n") == 0
    assert "predict --json" in str(caught.value)


def test_of_a_machine_that_is_not_described_the_labels_size_is_not_judged(reported: bytes) -> None:
    assert read_answer(changed(reported, ("machine",), "a computer of ours"), "p.json").machine == "a computer of ours"
    assert read_answer(changed(reported, ("modelled",), False), "p.json").machine == "sandybridge-4x8"


def test_the_command_says_it_in_one_line(reported: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(changed(reported, ("confidence",), 7))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()
