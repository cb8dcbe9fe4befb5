"""Close against spread threads: the run times are MCTOP's, and only their order counts."""

import csv
from pathlib import Path

import pytest

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.fidelity.placements import CODELETS, MEASURED, claim
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
    assert all(times.keys() == CODELETS.keys() for *_, times in MEASURED)
    assert len(codelet_programs(tuple(CODELETS.values()), ("tiny",), ("parallel",))) == len(CODELETS)


def test_only_the_order_counts() -> None:
    assert claim(TIMES, RATIOS).modelled == pytest.approx(1)
    assert claim(TIMES, {code: ratio**3 for code, ratio in RATIOS.items()}).met
    worst = claim(TIMES, {code: 1 / ratio for code, ratio in RATIOS.items()})
    assert worst.modelled == pytest.approx(-1)
    assert not worst.met
