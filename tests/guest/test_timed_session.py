"""The session in a timed guest, as far as it needs none: its table, the gain, and that its training is accepted."""

import json

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.predictor.command_line.main import main as numapredict
from tests.benchmarks.timed_session import gain, rows
from tests.guest.timed_session import Said, training

DOCTOR = "a 2x2\n\n! NUMA balancing        on: the kernel moves pages\n! stolen time  5%: why\n  PUs  all 4\n"
CONFIRMED = {
    "mapping": "4x2-contiguous-locality",
    "baseline_s": [1.0, 1.2, 1.1],
    "mapping_s": [0.5, 0.6, 0.7],
    "speedup": 1.83,
    "low": 1.57,
    "high": 2.0,
    "won": True,
    "reason": "",
}


def answered(confirmation: object) -> Said:
    words = ("predict", "--json", "/f/app")
    return Said(words, 0, 60.0, json.dumps({"confirmation": confirmation}), "verifying, round 3 of 3\n")


def test_the_table_says_what_each_command_answered() -> None:
    session = (
        Said(("topology",), 0, 11.9, "a: 2 NUMA nodes with 2 cores each\n\nnode  cores\n", ""),
        Said(("doctor",), 0, 22.0, DOCTOR, ""),
        Said(("/f/app", "serial"), 2, 18.0, "", "this computer\nnumapredict: there is no model\n"),
        Said(("/f/app", "serial"), 0, 18.0, "./app on a\n\n  measured gain     1.50x over it\n", "run 1\n"),
        Said(("run", "--mapping", "4x2-contiguous-locality", "--json", "run.json"), 0, 5.0, "0.1\n", "all held\n"),
        answered(CONFIRMED),
    )
    assert [" ".join(row.split()) for row in rows(session)][1:] == [
        "topology 0 11.9 a: 2 NUMA nodes with 2 cores each",
        "doctor 0 22.0 ! NUMA balancing; ! stolen time",
        "app 2 18.0 numapredict: there is no model",
        "app 0 18.0 measured gain 1.50x over it",
        "run 4x2-contiguous-locality 0 5.0 all held",
        "predict --json 0 60.0 verifying, round 3 of 3",
    ]


@pytest.mark.parametrize(
    ("session", "words"),
    [
        ([answered(CONFIRMED)], "now 1.100 s, under 4x2-contiguous-locality 0.600 s; measured gain 1.83x (1.57x to"),
        ([answered(CONFIRMED)], "2.00x); advised"),
        ([answered(CONFIRMED | {"won": False})], "2.00x); not advised"),
        ([answered(CONFIRMED | {"speedup": None, "reason": "it ended"})], "could not be confirmed: it ended"),
        ([answered(None)], "keep what you have"),
        ([], "there was no answer"),
    ],
)
def test_the_gain_is_by_the_guest_s_clock(session: list[Said], words: str) -> None:
    assert words in gain(session)


@pytest.mark.parametrize("machine", ["node:2 core:2 pu:1", "node:4 core:4 pu:1"])
def test_the_budget_is_enough_for_the_training(
    machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", machine)
    words = training(["true a", "true b", "true c", "true d"], host_topology())
    assert numapredict([*words, "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("13 of 16 runs")
