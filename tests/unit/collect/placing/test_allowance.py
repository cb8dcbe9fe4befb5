import os
import subprocess
import sys

import pytest

from numapredict.collect.placing.allowance import LONGEST, TimeAllowance, allowance_of, processor_time_s
from numapredict.collect.placing.process import Ending, run_process

BUSY = "while :; do :; done"
# 0.3 s of processor time in the tenfold by the clock.
NOW_AND_THEN = """
import time
for n in range(30):
    until = time.process_time() + 0.01
    while time.process_time() < until:
        pass
    time.sleep(0.09)
"""
# 0.3 s of its own, 0.3 s of a child that has ended, and what a child has taken that still runs.
FAMILY = """
import os, subprocess, sys, time
from numapredict.collect.placing.allowance import processor_time_s
burn = "import time\\nwhile time.process_time() < 0.3: pass\\n"
exec(burn)
subprocess.run([sys.executable, "-c", burn], check=True)
child = subprocess.Popen([sys.executable, "-c", burn + "print(time.process_time(), flush=True); input()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
living = float(child.stdout.readline())
print(processor_time_s(os.getpid()), sum(os.times()[:4]), living)
child.communicate("\\n")
"""


def run(command: list[str], allowed: TimeAllowance) -> tuple[Ending, float]:
    """Return how a command ended, and the processor time that it and its children took."""
    before = os.times()
    ending = run_process(command, dict(os.environ), None, allowed)
    after = os.times()
    taken_s = after.children_user + after.children_system - before.children_user - before.children_system
    return ending, taken_s


def test_a_busy_process_is_stopped_when_its_processor_time_is_spent() -> None:
    ending, taken_s = run(["sh", "-c", BUSY], TimeAllowance(600.0, 0.3))
    assert ending.timed_out
    assert taken_s >= 0.3


def test_what_children_take_counts() -> None:
    for script in (f"({BUSY}) & wait", f"({BUSY}) & ({BUSY}) & wait"):
        assert run(["sh", "-c", script], TimeAllowance(600.0, 0.3))[0].timed_out


def test_time_by_the_clock_is_not_counted_while_a_process_does_something() -> None:
    ending, taken_s = run([sys.executable, "-c", NOW_AND_THEN], TimeAllowance(600.0, 2.0))
    assert (ending.timed_out, ending.exit_code) == (False, 0)
    assert ending.time_s > 2.0 > taken_s


def test_what_sleeps_as_long_is_stopped() -> None:
    assert run(["sleep", "1000"], TimeAllowance(600.0, 0.4))[0].timed_out


def test_the_clock_is_the_last_bound() -> None:
    assert run(["sh", "-c", BUSY], TimeAllowance(0.2, 600.0))[0].timed_out
    assert run_process(["sleep", "1000"], dict(os.environ), None, 0.1).timed_out


def test_an_allowance_is_for_each_thread() -> None:
    assert allowance_of(20.0) == TimeAllowance(20.0 * LONGEST, 20.0)
    assert allowance_of(20.0, 2) == TimeAllowance(20.0 * LONGEST, 40.0)


def test_the_time_of_a_process_and_its_children_is_what_the_system_says() -> None:
    """In a process of its own: whatever else these tests have started would count, too."""
    done = subprocess.run([sys.executable, "-c", FAMILY], capture_output=True, text=True, check=True)
    found, reported, living = map(float, done.stdout.split())
    assert found == pytest.approx(reported + living, abs=0.1)
    assert reported > 0.5
    assert living > 0.1
    assert processor_time_s(2**30) == 0
