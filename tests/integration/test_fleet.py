"""Learning from a fleet: what a node then knows, and which machines helped."""

import dataclasses
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset, write_dataset
from numapredict.collect.data.dataset_store import add
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.evaluation.evaluate import evaluate_held_out
from numapredict.predictor.evaluation.fleet_session import fleet_in_words, learn_fleet
from numapredict.predictor.evaluation.machines_held_out import FleetMember, fleet_member, machines_held_out
from numapredict.predictor.evaluation.search_curve import ANSWERED, Sources
from numapredict.predictor.learning.learning import Wishes, options_of
from numapredict.predictor.learning.model_choice import trained_gains_path
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.gains_file import numbers_of
from numapredict.predictor.searching.prior import prior_of
from tests.command import numapredict, refusal
from tests.planted import planted_dataset


def called(name: str, dataset: Dataset) -> Dataset:
    """Return a dataset as if another machine of its shape had made it."""
    runs = tuple(msgspec.structs.replace(run, machine=name) for run in dataset.measurements)
    return msgspec.structs.replace(dataset, machine=name, measurements=runs)


def known(dataset: Dataset, sign: float = 1.0) -> FleetMember:
    """Return a machine as fleets compare them; a negative sign makes what it knows the opposite of what is true."""
    default = default_of(dataset, options_of(None, None, dataset))
    member = fleet_member(dataset, default)
    numbers = numbers_of(sign * member.gains.gains)
    return dataclasses.replace(member, gains=msgspec.structs.replace(member.gains, numbers=numbers))


def test_a_machine_that_reacts_alike_adds_more_than_one_that_misleads() -> None:
    dataset = called("asked", planted_dataset(15, seed=1))
    machines = [
        known(dataset),
        known(called("alike", planted_dataset(15, seed=2))),
        known(called("misleading", planted_dataset(15, seed=3)), -1.0),
    ]
    asked = machines_held_out(machines)[0]
    added = {each.machine: each.added for each in asked.helpers}
    assert added["alike"] is not None
    assert added["misleading"] is not None
    assert added["alike"] > max(added["misleading"], 0.02)
    evaluated = evaluate_held_out(
        dataset, options_of(None, None, dataset), sources=Sources((machines[1].gains, machines[2].gains), True)
    )
    point = next(each for each in evaluated.by_runs if each.runs == ANSWERED)
    assert asked.gain_captured == pytest.approx(point.gain_captured)
    assert machines_held_out(machines[:1]) == ()


def test_a_node_finds_what_its_own_kind_knows_and_another_node_takes_it_as_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
    dataset = planted_dataset(20)
    assert dataset.topology is not None
    write_dataset(dataset, tmp_path / "taken")
    add(tmp_path / "taken", str(tmp_path / "store"))
    learned = learn_fleet([str(tmp_path / "store")], None, Wishes(), held_out=True)
    assert "planted-4x8 is the only machine: there are no others to search by" in caplog.text
    assert [(each.machine, each.programs) for each in learned.machines] == [("planted-4x8", 20)]
    trained = trained_gains_path(dataset.machine, dataset.topology)
    assert Path(learned.path).parent == trained.parent
    here = prior_of(dataset.machine, dataset.topology, trained, lambda _: True, modelled=True)
    assert here.origin == "20 programs on planted-4x8 (modelled)"
    other = prior_of("another", dataset.topology, trained, lambda _: True, modelled=True)
    assert "planted-4x8" in other.origin
    assert other.origin.count(",") == 4  # beside those of the four machines that ship
    snc = msgspec.structs.replace(dataset.topology, caches=())
    shaped = prior_of(dataset.machine, snc, trained_gains_path(dataset.machine, snc), lambda _: True, modelled=True)
    assert shaped.origin == other.origin  # one processor in another shape is another machine


def test_the_command_learns_what_can_be_read_and_names_the_rest(tmp_path: Path) -> None:
    dataset = planted_dataset(4)
    write_dataset(called("one", dataset), tmp_path / "one")
    write_dataset(called("two", dataset), tmp_path / "two")
    data = {"NUMAPREDICT_DATA": str(tmp_path / "data")}
    store = str(tmp_path / "store")
    shared = numapredict("collect", "share", str(tmp_path / "one"), str(tmp_path / "two"), "--store", store, "--json")
    assert [each["added"] for each in json.loads(shared.stdout)["datasets"]] == [True, True]
    (tmp_path / "store" / "stray").touch()
    done = numapredict("train", "--fleet", store, "--held-out", "--json", **data)
    assert done.returncode == 0, done
    assert "stray: it is no folder of a dataset" in done.stderr
    found = json.loads(done.stdout)
    assert [each["machine"] for each in found["machines"]] == ["one", "two"]
    assert [[helper["machine"] for helper in each["helpers"]] for each in found["held_out"]] == [["two"], ["one"]]
    before = Path(found["path"]).read_bytes()
    again = numapredict("train", "--fleet", store, **data)
    assert "what searches know of 2 machines" in again.stdout
    assert Path(found["path"]).read_bytes() == before
    shutil.rmtree(store)
    said = refusal(numapredict("train", "--fleet", store, **data))
    assert "No such file or directory" in said
    assert "--held-out compares the machines of --fleet" in numapredict("train", "--held-out").stderr
    assert "--scheduler runs a campaign" in numapredict("train", "--fleet", store, "--scheduler", "tcp://a:1").stderr
    for words in (("--dataset", "lpdquad"), ("--machine", "lpdquad"), ("--dry-run",), ("--repetitions", "3")):
        assert "leave out all that says what to measure" in numapredict("train", "--fleet", store, *words).stderr


def test_a_store_of_foreign_mappings_alone_has_nothing_to_learn_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
    dataset = planted_dataset(4, counters=False)
    write_dataset(msgspec.structs.replace(dataset, topology=None), tmp_path / "store" / "foreign")
    with pytest.raises(InvalidInputError, match="there is nothing to learn from"):
        learn_fleet([str(tmp_path / "store")], None, Wishes(), held_out=False)
    assert not (tmp_path / "data").exists()


def test_the_words_name_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
    for name in ("one", "two"):
        write_dataset(called(name, planted_dataset(4)), tmp_path / "store" / name)
    said = fleet_in_words(learn_fleet([str(tmp_path / "store")], None, Wishes(), held_out=True))
    assert [line.split()[0] for line in said.splitlines()[:2]] == ["one", "two"]
    assert "of the gain captured" in said
