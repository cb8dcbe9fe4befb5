"""Campaigns on this computer while something else goes on: a load beside them, and a second campaign."""

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.repetitions import disturbed_in_words
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.placement import resolve
from numapredict.collect.program import Program

pytestmark = pytest.mark.native
ONE = parse_label("1x1-contiguous-bind")


@pytest.fixture(autouse=True)
def unwatched() -> None:
    """Look for disturbances, as anyone's measurement does."""


# Uses a processor for as much time of its own as it is told, whoever else is there.
WORK = """
import sys, time
for begun in sys.argv[2:]:
    open(begun, "w").close()
while time.process_time() < float(sys.argv[1]):
    pass
"""

# Fails where another one is running.
ALONE = """#!/bin/sh
mkdir "$1/running" || { echo "another one is running" >&2; exit 9; }
echo "$2" >> "$1/log"
while [ ! -e "$1/go" ]; do sleep 0.01; done
sleep 0.05
rmdir "$1/running"
"""


class Load:
    """A busy loop on one PU, which is there when this has been made, until it is stopped."""

    def __init__(self, pu: int) -> None:
        code = f"import os; os.sched_setaffinity(0, {{{pu}}}); os.write(1, b'there')\nwhile True: pass"
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        if self.process.stdout is None or self.process.stdout.read(5) != b"there":
            raise AssertionError("the load did not begin")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def beside_a_load(tmp_path: Path) -> Dataset:
    """Return a campaign of one run, another program beside its first runs."""
    topology = host_topology()
    (tmp_path / "work.py").write_text(WORK)
    program = Program(name="work", command=(sys.executable, str(tmp_path / "work.py"), "0.3", str(tmp_path / "begun")))
    machine = HardwareMachine(topology, repetitions=StoppingRule(least=3, most=3, redo=20, patience_s=1.0), warm_up=0)
    load = Load(resolve(ONE, topology).slots[0].pu)

    def stop_later() -> None:
        while not (tmp_path / "begun").exists() and threading.main_thread().is_alive():
            time.sleep(0.01)
        time.sleep(2.5)  # beside some runs
        load.stop()

    stopper = threading.Thread(target=stop_later)
    stopper.start()
    try:
        campaign = Campaign(machine, tmp_path / "dataset", [program], [ONE], "a test")
        campaign.run()
        return campaign.finish()
    finally:
        (tmp_path / "begun").touch()
        stopper.join()


def test_disturbed_runs_are_found_and_redone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_LOCKS", str(tmp_path))
    for number in range(4):  # where all else is busy, too, the load may end before the runs
        folder = tmp_path / str(number)
        folder.mkdir()
        dataset = beside_a_load(folder)
        if "redone" in dict(dataset.measurements[0].provenance):
            break
    (measurement,) = dataset.measurements
    notes = dict(measurement.provenance)
    count, _, rest = notes["redone"].partition(" (")
    assert int(count) >= 1
    assert len(rest.split(" s): ")[0].split(", ")) == int(count)
    assert "other programs used" in notes["redone"]
    assert len(measurement.repetitions) == 3
    assert "disturbed runs were redone" in disturbed_in_words(dataset.measurements)[0]


def test_what_stays_disturbed_is_kept_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_LOCKS", str(tmp_path))  # or another test's placed run has the load's PU
    topology = host_topology()
    (tmp_path / "work.py").write_text(WORK)
    program = Program(name="work", command=(sys.executable, str(tmp_path / "work.py"), "0.2"))
    machine = HardwareMachine(topology, repetitions=StoppingRule(least=2, most=2, redo=1, patience_s=0.1), warm_up=0)
    load = Load(resolve(ONE, topology).slots[0].pu)
    try:
        measurement = machine.run(program, ONE)
    finally:
        load.stop()
    notes = dict(measurement.provenance)
    assert len(measurement.repetitions) == 2
    assert notes["redone"].startswith("1 (")
    assert notes["disturbed"].startswith("2 of 2: other programs used")
    assert "runs stayed disturbed" in disturbed_in_words([measurement])[1]


def test_two_campaigns_at_once_take_turns(tmp_path: Path) -> None:
    script = tmp_path / "alone"
    script.write_text(ALONE)
    script.chmod(0o755)
    (tmp_path / "log").touch()
    code = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"
    started = []
    for name in "ab":
        command = [sys.executable, "-c", code, "collect", "campaign", "--into", str(tmp_path / name)]
        for number in range(4):
            command += ["--program", f"{script} {tmp_path} {name}{number}"]
        command += ["--mapping", ONE.label, "--repetitions", "2"]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ}))
        if name == "a":
            while not (tmp_path / "log").read_text():
                time.sleep(0.01)
    # The first run goes on when the second campaign waits for it, or has ended without.
    stderr = started[1].stderr
    assert stderr is not None
    second = list(itertools.takewhile(lambda line: "waiting for it to finish" not in line, stderr))
    waited = started[1].poll() is None
    (tmp_path / "go").touch()
    reported = [process.communicate(timeout=240)[1] for process in started]
    reported.append("".join(second))
    assert waited
    assert [process.returncode for process in started] == [0, 0], reported
    assert not any("another one is running" in text for text in reported)
    names = [line[0] for line in (tmp_path / "log").read_text().splitlines()]
    changes = sum(1 for before, after in itertools.pairwise(names) if before != after)
    assert changes >= 3, names  # in turns, not one after the other
