"""Close against spread threads: the run times are MCTOP's, and only their order counts."""

import csv
from pathlib import Path

import pytest

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.fidelity.placements import LIMIT, MEASURED, WAIT, WORK, claim, waiting
from numapredict.collect.modelled.description import load_description

RUNTIMES = Path(__file__).parents[5] / "shared" / "datasets" / "mctop" / "runtimes.csv"
TIMES = MEASURED[0][3]
RATIOS = {code: spread / close for code, (close, spread) in TIMES.items()}


@pytest.mark.shared
def test_the_run_times_are_those_of_the_data_set() -> None:
    if not RUNTIMES.is_file():
        pytest.skip("the foreign measurements (datasets/mctop/runtimes.csv beside the repository) are not here")
    known = {
        (row["machine"], row["code"], row["policy"], int(row["threads"]), float(row["time_ms"]))
        for row in csv.DictReader(RUNTIMES.read_text().splitlines())
        if row["suspect"] == "0"
    }
    for name, threads, _, times in MEASURED:
        for code, (close, spread) in times.items():
            assert (name, code, "MIN_LAT_CORES", threads, close) in known
            assert (name, code, "BW_ROUND_ROBIN_CORES", threads, spread) in known


def test_close_threads_fill_their_nodes() -> None:
    for name, threads, close, _ in MEASURED:
        nodes = load_description(name).nodes
        assert threads == sum(node.cores for node in nodes[:close])
        assert close < len(nodes)


def test_each_program_has_a_codelet() -> None:
    assert all(times.keys() == WORK.keys() == LIMIT.keys() for *_, times in MEASURED)
    for codelets in (WORK, LIMIT):
        named = set(codelets.values())
        assert {each.command[1] for each in codelet_programs(tuple(named), ("medium",), ("parallel",))} == named


@pytest.mark.shared
def test_the_programs_that_wait_are_those_that_more_cores_make_slower() -> None:
    if not RUNTIMES.is_file():
        pytest.skip("the foreign measurements (datasets/mctop/runtimes.csv beside the repository) are not here")
    times = {
        (row["code"], row["input"], int(row["threads"])): float(row["time_ms"])
        for row in csv.DictReader(RUNTIMES.read_text().splitlines())
        if (row["machine"], row["policy"]) == ("lpdxeon2680", "MIN_LAT_CORES")
    }
    close = {code: near for code, (near, _) in TIMES.items()}
    of_two_nodes = {
        code: times[code, given, 20] / each
        for (code, given, threads), each in times.items()
        if threads == 10 and close.get(code) == each
    }
    rounded = {code: round(ratio, 2) for code, ratio in of_two_nodes.items()}
    assert rounded == {"kmeans": 1.24, "mean": 1.52, "hist": 0.60, "wc": 0.54, "matrix_mult": 0.51}
    assert {code for code, ratio in of_two_nodes.items() if ratio > 1} == set(WAIT)
    assert {code for code, codelet in LIMIT.items() if codelet == "locked-merge"} == set(WAIT)


def test_only_the_order_counts() -> None:
    assert claim("work", TIMES, RATIOS).modelled == pytest.approx(1)
    assert claim("work", TIMES, {code: ratio**3 for code, ratio in RATIOS.items()}).met
    worst = claim("work", TIMES, {code: 1 / ratio for code, ratio in RATIOS.items()})
    assert worst.modelled == pytest.approx(-1)
    assert not worst.met


def test_programs_that_wait_are_compared_by_their_mean() -> None:
    assert waiting({"kmeans": (1.0, 1.0), "mean": (1.0, 4.0)}, 2.4).met
    assert not waiting({"kmeans": (1.0, 1.0), "mean": (1.0, 4.0)}, 2.6).met
    assert not waiting(TIMES, 1.0).met
