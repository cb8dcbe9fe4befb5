"""What the timed benchmarks work out by themselves: settings of the kernel, what a guest said, what bytes cost."""

import subprocess

import msgspec
import pytest

from numapredict.predictor.variables.time_cost import RunSaving, TimeCost
from tests.benchmarks.timed_balancing import DEFAULTS, SETTINGS, Run, longer_periods, run_of, script, slower_scan, ways
from tests.benchmarks.timed_fixes import Fixed, verdict
from tests.benchmarks.timed_moves import copied_us, move_figure, other_figures
from tests.guest.timed.configuration import Timing, timed_machine
from tests.judged import judged_answer

SMALL = timed_machine("guest-2x2")


@pytest.mark.parametrize("factor", [1.0, 10.0, 1000.0, 2000.0])
def test_a_slower_scan_is_the_kernels_over_the_factor(factor: float) -> None:
    settings = slower_scan(factor)
    rate = settings["scan_size_mb"] / settings["scan_period_min_ms"]
    assert rate == pytest.approx(DEFAULTS["scan_size_mb"] / DEFAULTS["scan_period_min_ms"] / factor, rel=0.01)
    assert settings["scan_size_mb"] >= 1  # the kernel takes no less
    assert settings["scan_period_min_ms"] <= settings["scan_period_max_ms"]


def test_longer_periods_scan_as_much_in_each() -> None:
    settings = longer_periods(1000)
    assert settings["scan_size_mb"] == DEFAULTS["scan_size_mb"]
    assert settings["scan_delay_ms"] == 1_000_000


def test_every_way_starts_from_settings_of_its_own() -> None:
    chosen = list(ways(Timing(SMALL)))
    words = script(chosen, ("./app", "serial"), 2)
    subprocess.run(["sh", "-n"], input=words, check=True, text=True)
    lines = words.splitlines()
    assert sum(line.endswith("./app serial") for line in lines) == 2 * len(chosen)
    for setting in DEFAULTS:
        assert sum(line.endswith(f"{SETTINGS}/{setting}") for line in lines) >= 2 * len(chosen)


def test_a_run_has_its_iterations_and_its_pages() -> None:
    assert run_of("one way", ("0.5", "0.25", "pages 0:3 1:5")) == Run("one way", (0.5, 0.25), {0: 3, 1: 5})
    assert run_of("another", ("0.5",)) == Run("another", (0.5,), {})


def test_a_page_costs_its_bytes_and_once_more_its_writing() -> None:
    assert copied_us(SMALL) == pytest.approx((4.096 / 12 + 4.096 / 2.4, 4.096 / 12 + 2 * 4.096 / 2.4))


def test_moves_are_told_a_small_page_of_the_described_machine() -> None:
    regions = [
        (f"region {name}", (value,)) for name, value in (("bare", "5000"), ("library", "6000"), ("clock", "9000"))
    ]
    runs = [(way, ("9", time, time)) for way, time in (("plain", "0.1"), ("probe", "0.2"))]
    said = [("call 64 small", ("128e6", "256e6")), ("touch 1 huge", ("1024e6",)), ("call 4 huge", ())]
    timing = Timing(SMALL, 1000)
    assert [move_figure(*part, timing) for part in (*regions, *runs, said[-1])] == [None] * 6
    moved = [figure for part in said[:-1] if (figure := move_figure(*part, timing))]
    found = {figure.name: figure.values for figure in (*moved, *other_figures([*regions, *runs], timing))}
    assert found["move_pages(2), 64 pages of 4 KB: 4 KB"] == pytest.approx((2.0, 4.0))
    assert found["next touch, 1 page of 2 MB: 4 KB"] == pytest.approx((2.0,))
    assert len(found) == 2 + 3 + 2
    assert found["with the clock it adds"] == pytest.approx((4.0,))
    assert found["a probe over the plain run, iteration"] == pytest.approx((2.0,))


def test_a_fix_is_judged_by_what_was_said_before_and_nothing_is_to_be_promised_where_nothing_is_to_fix() -> None:
    answer = judged_answer()  # of which one variable is worth fixing
    said = TimeCost(share=0.5, lowest=0.4, highest=0.6, rounds=3, run=RunSaving(4.0, 0.5, 0.4, 0.6))
    answer = msgspec.structs.replace(answer, time=said)
    runs = {"wrong": [4.0, 4.0], "right": [2.0, 2.0]}
    good, little = Fixed("rows", answer, runs), Fixed("file", answer, runs | {"right": [3.0, 3.0]})
    silent = Fixed("array", msgspec.structs.replace(answer, variables=answer.variables[1:]), runs)
    promised, right = (Fixed("right", one.answer, {"wrong": [], "right": []}) for one in (good, silent))
    assert [one.is_as_said for one in (good, little, silent, promised, right)] == [True, False, False, False, True]
    assert good.row[1:] == ("50.0% (40.0% to 60.0%)", "75%, 100%", "4.000 s, 2.000 s", "50.0%", "yes")
    assert verdict([good, little, right]) == (
        "1 of 2 fixes saved what was said, within its range; of 1 programs with nothing to fix none was promised a gain"
    )
