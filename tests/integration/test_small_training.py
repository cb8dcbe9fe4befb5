"""Trainings of a few runs, with real programs: on a described machine, and on this computer's clock."""

import json
from pathlib import Path

import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.campaign.machine_choice import this_computer
from numapredict.collect.space import default_mapping, full_space
from numapredict.predictor.learning.budget import Budget
from numapredict.predictor.learning.learning import LearnedGains, Wishes, learn_from_campaign
from numapredict.predictor.searching.gains_file import read_gains
from tests.command import numapredict
from tests.workloads import example_program

TRAIN = ("train", "--machine", "opteron-4x4", "--size", "tiny", "--init", "serial")
CODELETS = ("--codelet", "cg-dot", "--codelet", "histogram")


@pytest.mark.native
def test_few_runs_on_a_described_machine_are_what_the_next_search_begins_with(tmp_path: Path) -> None:
    data = {"NUMAPREDICT_DATA": str(tmp_path / "data")}
    dry = numapredict(*TRAIN, *CODELETS, "--budget", "6", "--dry-run", **data)
    assert dry.stdout.startswith("6 of 274 runs")
    assert "2 programs under 3 of 137 mappings, for searches; too few runs for a model" in dry.stdout
    first = numapredict(*TRAIN, *CODELETS, "--budget", "6", "--json", **data)
    assert first.returncode == 0, first.stderr
    more = numapredict(*TRAIN, *CODELETS, "--budget", "8", "--json", **data)
    assert "8 runs, 6 of them finished earlier" in more.stderr
    found = json.loads(more.stdout)
    assert (found["programs"], found["groups"], found["mappings"]) == (2, 2, 4)
    assert found["path"] == json.loads(first.stdout)["path"]
    (kept,) = read_gains(Path(found["path"]))
    assert kept.mappings[0] != kept.mappings[1]
    assert (kept.machine, kept.modelled, kept.default) == ("opteron-4x4", True, found["default"])
    program = example_program(tmp_path)
    asked = numapredict(
        "predict", "--machine", "opteron-4x4", "--runs", "2", "--cpu-seconds", "30", str(program), "64", "2", **data
    )
    assert asked.returncode == 0, asked.stderr
    assert "searching by what 546 programs on opteron-4x4, " in asked.stderr


@pytest.mark.native
def test_an_hour_is_enough_for_this_computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one NUMA node no command trains; the machine, its clock and the programs are real all the same."""
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
    machine = this_computer(1)
    here = machine.topology
    programs = codelet_programs(("cg-dot", "histogram", "stream-triad"), ("tiny",), ("serial",))
    mappings = tuple(dict.fromkeys((*full_space(here, smt=False), default_mapping(here))))
    campaign = Campaign(machine, tmp_path / "runs", programs, mappings, "numapredict train")
    runs = 2 * len(mappings) if len(mappings) < 3 else 6
    found = learn_from_campaign(campaign, None, Wishes(), Budget(runs=runs))
    assert isinstance(found, LearnedGains)
    assert found.programs == 2
    assert found.mappings == min(len(mappings), 3)
    measured = campaign.finish().measurements
    assert len(measured) == runs
    assert not any(each.modelled or each.status != "ok" for each in measured)
    (kept,) = read_gains(Path(found.path))
    assert kept.machine == machine.name
    assert kept.gains.shape == (2, found.mappings)
