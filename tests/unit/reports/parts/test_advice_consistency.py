"""Answers of searches that have the right fields and cannot be true."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.figure import Figure
from numapredict.collect.mapping import to_label
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.command_line.main import main
from numapredict.reports.parts.answer_file import read_answer
from tests.searches import DEFAULT, HALF, LOCAL, ONE, SPREAD, Computer, Described, Noisy, Printing, answered, times


def encoded(found: Advice) -> Any:  # noqa: ANN401 # any JSON
    return json.loads(msgspec.json.encode(found, enc_hook=to_label))


FIRST = {AS_IT_IS: [8.0, 8.0, 8.8, 8.4]}
WON = encoded(answered(Noisy(times(8.0, spread=6.0), {LOCAL: [3.0, 4.0, 4.0, 4.0], **FIRST})))
KEPT = encoded(answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.9, 8.0]})))
FAILED = encoded(answered(Noisy(times(8.0), {LOCAL: [4.0, -1.0]})))
NEVER = encoded(answered(Computer(times(8.0, local=6.0)), expected_runs=1))
MODELLED = encoded(answered(Described(times(8.0, local=4.0, spread=4.05)), baseline=DEFAULT))
FEWER = encoded(answered(Described(times(8.0, half=8.0, local=4.0)), baseline=HALF))  # OMP_NUM_THREADS=16
REGIONS = encoded(answered(Computer(times(8.0, local=6.0), {AS_IT_IS: 4.0, LOCAL: 2.0, SPREAD: 6.0, ONE: 6.0})))
METRIC = encoded(
    answered(
        Printing(times(8.0), {AS_IT_IS: [10.0], LOCAL: [12.0], SPREAD: [9.0]}), figure=Figure(metric="rate ([0-9]+)")
    )
)
ANSWERS = {
    "won": WON,
    "kept": KEPT,
    "failed": FAILED,
    "never": NEVER,
    "modelled": MODELLED,
    "fewer": FEWER,
    "regions": REGIONS,
    "metric": METRIC,
}


def changed(answer: str, *changes: tuple[tuple[str | int, ...], object]) -> bytes:
    """Return an answer in which some fields are others."""
    record: Any = json.loads(json.dumps(ANSWERS[answer]))
    for path, value in changes:
        at = record
        for step in path[:-1]:
            at = at[step]
        assert at[path[-1]] != value
        at[path[-1]] = value
    return json.dumps(record).encode()


BAD_REGIONS = {"mapping": "as-it-is", "times": {"regions": [], "wall_s": -1, "complete": True}}


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_a_true_answer_is_read(answer: str) -> None:
    found = read_answer(json.dumps(ANSWERS[answer]).encode(), "p.json")
    assert isinstance(found, Advice)
    assert encoded(found) == ANSWERS[answer]


def test_the_answers_are_of_all_kinds() -> None:
    assert (WON["keep"], KEPT["keep"], FAILED["confirmation"]["speedup"]) == (False, True, None)
    assert (NEVER["keep"], NEVER["confirmation"], MODELLED["baseline"]) == (True, None, DEFAULT.label)
    assert {run["outcome"] for run in WON["runs"]} == {"done", "ended"}


@pytest.mark.parametrize(
    ("answer", "path", "value", "says"),
    [
        ("won", ("runs",), [], "runs: none"),
        ("won", ("regions",), [BAD_REGIONS], "regions of run 1, wall_s: -1 cannot have been read"),
        ("won", ("runs",), "three", r"Expected `array`, got `str` - at `\$.runs`"),
        ("won", ("runs", 1, "mapping"), 5, r"Expected `str`, got `int` - at `\$.runs\[1\].mapping`"),
        ("won", ("runs", 1, "outcome"), "lost", "Invalid enum value 'lost'"),
        ("won", ("next", "chance"), None, "Expected `float`, got `null`"),
        ("won", ("baseline",), LOCAL.label, "baseline: 32x4-contiguous-locality where it is as-it-is"),
        ("modelled", ("baseline",), "as-it-is", "baseline: as-it-is where it is a mapping of the machine"),
        ("won", ("runs", 1, "computed"), True, "run 2, computed: true of a run on a computer"),
        ("won", ("runs", 1, "region_speedup"), 2.0, "run 2, region_speedup: 2.0 contradicts the times in regions"),
        ("regions", ("runs", 1, "region_speedup"), 2.5, "run 2, region_speedup: 2.5 contradicts .*, 4.0 s and 2.0 s"),
        ("won", ("disturbed",), "other programs used 1 of 2 PUs", "keep: False where the confirming runs were not won"),
        ("won", ("runs", 0, "mapping"), SPREAD.label, "run 1: 32x4-contiguous-interleave, done, where the first"),
        ("won", ("runs", 0, "outcome"), "failed", "run 1: as-it-is, failed, where"),
        ("won", ("runs", 2, "mapping"), LOCAL.label, "run 3: 32x4-contiguous-locality had run before"),
        ("won", ("runs", 1, "time_s"), None, "run 2, time_s: None of a run that done"),
        ("won", ("runs", 1, "time_s"), 0, "run 2, time_s: 0 cannot"),
        ("won", ("runs", 1, "time_s"), -3, "run 2, time_s: -3 cannot"),
        ("won", ("runs", 2, "outcome"), "failed", "run 3, time_s: 3.1 of a run that failed"),
        ("won", ("runs", 2, "speedup"), 2, "run 3, speedup: 2 of a run that ended"),
        ("won", ("runs", 1, "speedup"), 2.7, "run 2, speedup: 2.7 contradicts the times, 8 s of the baseline and 3 s"),
        ("won", ("runs", 1, "speedup"), None, "run 2, speedup: None contradicts"),
        ("metric", ("figure", "metric"), "(", r"figure: --metric '\(' is no regular expression"),
        ("metric", ("figure", "metric"), "x", "figure: --metric 'x' has no group"),
        ("metric", ("figure", "seconds"), -1, "figure: --seconds is -1: name 1 to 86400"),
        ("won", ("figure", "smaller"), True, "figure: --metric-smaller says which metric is better"),
        ("metric", ("runs", 1, "speedup"), 2.7, "run 2, speedup: 2.7 contradicts the figures, 10 of .* and 12"),
        ("metric", ("runs", 1, "figure"), None, "run 2, figure: None of a run that done"),
        ("metric", ("confirmation", "mapping_figures"), [12.0, 12.0, 11.0], "confirmation, speedup: .* contradicts"),
        ("metric", ("confirmation", "baseline_figures"), [0.0], "confirmation, baseline_figures: 0 cannot"),
        ("won", ("runs", 1, "figure"), 5.0, "run 2, figure: 5.0 of a run that done"),
        ("won", ("runs", 1, "mapping"), "32x4", "run 2, mapping: '32x4' is not a mapping's label"),
        ("modelled", ("runs", 1, "mapping"), "99x4-contiguous-mix", r"run 2, mapping: .*\(machine sandybridge-4x8\)"),
        ("modelled", ("next", "mapping"), "32x8-contiguous-mix", r"next, mapping: .*\(machine sandybridge-4x8\)"),
        ("won", ("default",), "rm -r", "default: 'rm -r' is not a mapping's label"),
        ("won", ("mapping",), "x", "mapping: 'x' is not a mapping's label"),
        ("won", ("mapping",), SPREAD.label, "mapping: 32x4-contiguous-interleave, where the fastest .*locality"),
        ("won", ("mapping",), "8x1-contiguous-locality", "mapping: 8x1-contiguous-locality, where the fastest"),
        ("won", ("mapping",), "as-it-is", "keep: False where the mapping is as-it-is"),
        ("won", ("keep",), True, "keep: True where the mapping is 32x4-contiguous-locality"),
        ("kept", ("mapping",), LOCAL.label, "keep: True where the mapping is"),
        ("won", ("confirmation",), None, "keep: False where the confirming runs were not won"),
        ("won", ("confirmation", "won"), False, "keep: False where the confirming runs were not won"),
        ("kept", ("confirmation", "won"), True, "keep: True where the confirming runs were won"),
        ("won", ("speedup",), 9, r"speedup: \(9.0, .*\) where the confirming runs say"),
        ("won", ("low",), 1, "speedup: .* where the confirming runs say"),
        ("kept", ("high",), 2, r"speedup: \(1.0, 1.0, 2.0\) where the confirming runs say \(1.0, 1.0, 1.0\)"),
        ("won", ("speedup_over_default",), 2, "speedup_over_default: 2.0 where the runs say None"),
        ("modelled", ("speedup_over_default",), None, "speedup_over_default: None where the runs say 2.5"),
        ("won", ("confirmation", "mapping"), SPREAD.label, "confirmation, mapping: .* is not the fastest mapping"),
        ("won", ("confirmation", "baseline_s", 1), -1, "confirmation, baseline_s: -1 cannot"),
        ("won", ("confirmation", "mapping_s"), [4.0, 4.0], "confirmation: 3 runs of one and 2 of another"),
        ("won", ("confirmation", "mapping_s", 0), 5.0, "confirmation, speedup: .* contradicts the times"),
        ("kept", ("confirmation", "low"), None, "confirmation: neither a speedup nor"),
        ("kept", ("confirmation", "low"), 0.1, "confirmation, low: 0.1 contradicts the times"),
        ("kept", ("confirmation", "high"), 3, "confirmation, high: 3.0 contradicts the times"),
        ("failed", ("confirmation", "reason"), "", "confirmation: neither a speedup nor the reason"),
        ("won", ("next", "mapping"), SPREAD.label, "next, mapping: 32x4-contiguous-interleave has run"),
        ("won", ("next", "speedup", "low"), 9, "next, speedup: .* is no interval of speedups"),
        ("won", ("next", "expected_speedup"), 0.5, "next, expected_speedup: 0.5, where"),
        ("won", ("next", "chance"), 1.5, "next, chance: 1.5 is not within 0 to 1"),
        ("won", ("next", "cost_s"), 0, "next, cost_s: 0 s with"),
        ("won", ("next", "confirming_s"), -1, "next, cost_s: .* s with -1 s to confirm"),
        ("won", ("next", "confirming_s"), 1e9, r"next, cost_s: .* s with 1e\+09 s to confirm"),
        ("won", ("next", "saving_s"), -1, "next, saving_s: -1 s is no saving"),
        ("won", ("next", "worth_from_runs"), 99999, "next, worth_from_runs: 99999 where cost and saving give"),
        ("won", ("next", "worth_from_runs"), None, "next, worth_from_runs: None where"),
        ("kept", ("command",), "rm -r ~", "command: not the program as it is now"),
        ("kept", ("alternatives",), WON["alternatives"], "command: not the program as it is now"),
        ("won", ("command",), "rm -r ~", "command: it does not run the program under 32x4-contiguous-locality"),
        ("modelled", ("alternatives", 0, "speedup"), 9, "speedup of env's command: it is not that"),
        ("modelled", ("alternatives", 0, "exact"), True, "env's command: exact, but of"),
        ("won", ("alternative",), None, "alternative: it is not numactl's"),
        ("won", ("region_share",), 1.5, "region_share: 1.5 is not within 0 to 1"),
        ("won", ("runs", 1, "local_share"), 1.5, "run 2, local_share: 1.5 is no share"),
        ("won", ("region_speedup",), -1.0, "region_speedup: -1 cannot be"),
        ("won", ("trace_share",), 1.5, "trace_share: 1.5 is not within 0 to 1"),
        ("won", ("kept_runs",), 4, "kept_runs: 4 of 3"),
        ("won", ("kept_runs",), -1, "kept_runs: -1 of 3"),
        ("won", ("kept_runs",), 1, "kept_since: '' with 1 kept runs"),
        ("won", ("kept_since",), "2026-01-02T03:04:05+00:00", "kept_since: '2026.*' with 0 kept runs"),
        ("never", ("expected_runs",), 0, "expected_runs: 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_its_field(
    answer: str, path: tuple[str | int, ...], value: object, says: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"^p.json: {says}") as caught:
        read_answer(changed(answer, (path, value)), "p.json")
    assert str(caught.value).count("\n") == 0
    assert "predict --json" in str(caught.value)


def test_a_gain_that_is_none_was_not_won() -> None:
    slow = {"baseline_s": [1.0], "mapping_s": [2.0], "speedup": 0.5, "low": 0.5, "high": 0.5}
    data = changed(
        "won",
        (("confirmation",), {**WON["confirmation"], **slow}),
        *(((field,), 0.5) for field in ("speedup", "low", "high")),
    )
    with pytest.raises(InvalidInputError, match=r"^p.json: confirmation, won: by 0.5 of the baseline's speed"):
        read_answer(data, "p.json")


def test_times_too_far_apart_to_be_divided_are_refused() -> None:
    data = changed("won", (("confirmation", "baseline_s", 0), 1e308), (("confirmation", "mapping_s", 0), 1e-308))
    with pytest.raises(InvalidInputError, match=r"^p.json: confirmation: times that differ by inf cannot"):
        read_answer(data, "p.json")


def test_the_command_says_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(changed("won", (("runs",), [])))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()
