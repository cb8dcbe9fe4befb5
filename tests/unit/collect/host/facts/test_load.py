"""The load of others and stolen time, from two texts of /proc/stat."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.host.facts.load import LOOK_S, Busyness, busyness, look
from tests.planted_files import plant

#                user nice system idle iowait irq softirq steal guest guest_nice
BEFORE = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 0 50 1000 10 1 2 0 0 0\ncpu1 100 0 50 1000 10 1 2 0 0 0\nintr 12 3\n"
AFTER = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 130 5 53 1050 14 3 3 5 0 0\ncpu1 100 0 50 1100 10 1 2 0 0 0\nintr 12 3\n"
STATUS = "Cpus_allowed_list:\t{}\n"


def test_a_pu_is_busy_but_for_idling_waiting_and_what_was_stolen() -> None:
    # PU 0: 30 + 5 + 3 + 2 + 1 of 100 ticks at work, 50 + 4 not, 5 stolen
    found = busyness(BEFORE, AFTER)
    assert found == {0: Busyness(pytest.approx(0.41), pytest.approx(0.05)), 1: Busyness(0.0, 0.0)}


def test_the_figure_for_waiting_may_fall() -> None:
    before, after = "cpu0 100 0 0 100 30 0 0 0\n", "cpu0 150 0 0 150 20 0 0 0\n"
    assert busyness(before, after) == {0: Busyness(0.5, 0.0)}


def seen(root: Path, allowed: str = "0-1", after: str = AFTER) -> list[tuple[str, bool]]:
    plant(root, {"proc/stat": BEFORE, "proc/loadavg": "0.72 1.35 2.46 5/113 26766\n"})
    plant(root, {"proc/self/status": STATUS.format(allowed)})
    waited = []

    def wait(time_s: float) -> None:
        waited.append(time_s)
        plant(root, {"proc/stat": after})

    found = look(root, wait)
    assert waited == [LOOK_S]
    return [(fact.value, fact.disturbs) for fact in found]


def test_others_at_work(tmp_path: Path) -> None:
    load, stolen = seen(tmp_path)
    tasks = "0.72 tasks over the last minute, 4 others runnable now"
    assert load == (f"0.4 of 2 PUs busy, PU 0 most (41%); {tasks}", True)
    assert stolen == ("2%", True)  # 5 of 200 ticks


def test_what_runs_on_pus_that_are_not_ours_does_not_disturb(tmp_path: Path) -> None:
    load, stolen = seen(tmp_path, allowed="1")
    assert load[0].startswith("0.0 of 1 PUs busy, PU 1 most (0%)")
    assert (load[1], stolen) == (False, ("0%", False))


def test_a_look_that_tells_nothing_says_so(tmp_path: Path) -> None:
    load, stolen = seen(tmp_path, after=BEFORE)
    assert load == ("0.72 tasks over the last minute, 4 others runnable now", False)
    assert stolen == ("unknown", False)
    assert [fact.value for fact in look(tmp_path / "nothing", lambda _: None)] == ["unknown", "unknown"]


@given(st.text(alphabet="cpu0123456789 \n-x", max_size=200), st.text(alphabet="cpu0123456789 \n-x", max_size=200))
def test_any_text_is_read_or_left(before: str, after: str) -> None:
    for each in busyness(before, after).values():
        assert 0 <= each.busy <= 1
        assert 0 <= each.stolen <= 1


def test_a_program_at_work_here_is_seen() -> None:
    worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        load, _ = look(Path("/"), time.sleep)
    finally:
        worker.kill()
        worker.wait()
    assert load.disturbs
