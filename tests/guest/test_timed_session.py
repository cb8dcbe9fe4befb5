"""The session in a timed guest, as far as it needs none: its table, the gain, and that its training is accepted."""

import json

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.predictor.command_line.main import main as numapredict
from tests.benchmarks.timed_session import gain, rows
from tests.guest.timed_session import Said, training

DOCTOR = "a 2x2\n\n! NUMA balancing        on: the kernel moves pages\n! stolen time  5%: why\n  PUs  all 4\n"
VERIFIED = {
    "default": "4x2-contiguous-first-touch",
    "mapping": "4x2-contiguous-locality",
    "default_s": [1.0, 1.2, 1.1],
    "chosen_s": [0.5, 0.6, 0.7],
    "speedup": 1.83,
    "low": 1.57,
    "high": 2.0,
    "won": True,
    "reason": "",
}
ADVICE = {"default": VERIFIED["default"], "expected_speedup": {"median": 1.5}, "verification": VERIFIED}


def verified(advice: object) -> Said:
    return Said(("predict", "--verify", "--json", "/f/app"), 0, 60.0, json.dumps(advice), "verifying, round 5 of 5\n")


def test_the_table_says_what_each_command_answered() -> None:
    session = (
        Said(("topology",), 0, 11.9, "a: 2 NUMA nodes with 2 cores each\n\nnode  cores\n", ""),
        Said(("doctor",), 0, 22.0, DOCTOR, ""),
        Said(("/f/app", "serial"), 2, 18.0, "", "this computer\nnumapredict: there is no model\n"),
        Said(("/f/app", "serial"), 0, 18.0, "./app on a\n\n  expected gain     1.50x over it\n", "probe 1\n"),
        Said(("run", "--mapping", "4x2-contiguous-locality", "--json", "run.json"), 0, 5.0, "0.1\n", "all held\n"),
        verified(ADVICE),
    )
    assert [" ".join(row.split()) for row in rows(session)][1:] == [
        "topology 0 11.9 a: 2 NUMA nodes with 2 cores each",
        "doctor 0 22.0 ! NUMA balancing; ! stolen time",
        "app 2 18.0 numapredict: there is no model",
        "app 0 18.0 expected gain 1.50x over it",
        "run 4x2-contiguous-locality 0 5.0 all held",
        "predict --verify 0 60.0 verifying, round 5 of 5",
    ]


@pytest.mark.parametrize(
    ("session", "words"),
    [
        ([verified(ADVICE)], "1.100 s, advised 4x2-contiguous-locality 0.600 s; measured gain 1.83x (1.57x to 2.00x)"),
        ([verified(ADVICE)], "promised 1.50x; the advice is kept"),
        ([verified(ADVICE | {"verification": VERIFIED | {"won": False}})], "the default is kept"),
        (
            [verified(ADVICE | {"verification": VERIFIED | {"speedup": None, "reason": "it ended"}})],
            "verified: it ended",
        ),
        ([verified(ADVICE | {"verification": None})], "the default, 4x2-contiguous-first-touch, is the advice"),
        ([], "no advice was verified"),
    ],
)
def test_the_gain_by_the_clock_stands_beside_the_promise(session: list[Said], words: str) -> None:
    assert words in gain(session)


@pytest.mark.parametrize("machine", ["node:2 core:2 pu:1", "node:4 core:4 pu:1"])
def test_the_budget_is_enough_for_the_training(
    machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", machine)
    words = training(["true a", "true b", "true c", "true d"], host_topology())
    assert numapredict([*words, "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("13 of 16 runs")
