"""From a request to a model: whatever is asked for, the default is measured."""

from pathlib import Path

import pytest

from numapredict.collect.campaign.request import CampaignRequest
from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.mapping import AnyMapping, parse_label
from numapredict.collect.space import canonical, default_mapping, subset
from numapredict.native.errors import InvalidMappingError
from numapredict.predictor.learning.features import gains_of, observe
from numapredict.predictor.learning.learning import Wishes, campaign_for, learn_from, options_of
from numapredict.predictor.learning.model_choice import trained_gains_path
from numapredict.predictor.searching.gains_file import read_gains
from tests.planted import planted_dataset

MACHINE = "broadwell-2x10"


@pytest.mark.parametrize("space", ["thesis", "dashti", "diener", "wang", "denoyelle", "full"])
def test_the_default_is_measured_in_every_space(space: str, tmp_path: Path) -> None:
    campaign = campaign_for(CampaignRequest(machine=MACHINE, space=space), tmp_path, None)
    topology = campaign.machine.topology
    default = default_mapping(topology)
    assert campaign.mappings.count(default) == 1
    assert set(campaign.mappings) == {*subset(space, topology), default}


def test_another_default_is_measured_by_its_usual_name(tmp_path: Path) -> None:
    request = CampaignRequest(machine=MACHINE, labels=("4x1-contiguous-bind",))
    campaign = campaign_for(request, tmp_path, parse_label("10x1-contiguous-first-touch"))
    assert [mapping.label for mapping in campaign.mappings] == ["4x1-contiguous-bind", "10x1-contiguous-bind"]
    with pytest.raises(InvalidMappingError, match="40x2-contiguous-first-touch"):
        campaign_for(request, tmp_path, parse_label("40x2-contiguous-first-touch"))


def test_a_default_is_called_as_in_the_dataset() -> None:
    dataset = planted_dataset(4)
    assert dataset.topology is not None
    named = AnyMapping("2x1-contiguous-first-touch")
    usual = canonical(parse_label(named.label), dataset.topology)
    assert usual != named
    assert options_of(named, None, dataset).default == usual
    assert options_of(named, None).default == named


@pytest.mark.thorough
def test_training_keeps_what_programs_gained_beside_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
    dataset = planted_dataset(10)
    assert dataset.topology is not None
    write_dataset(dataset, tmp_path / "taken")
    gains = trained_gains_path(dataset.machine, dataset.topology)
    learn_from(str(tmp_path / "taken"), tmp_path / "model.json", Wishes())
    assert not gains.exists()  # a model elsewhere is not this machine's
    learned = learn_from(str(tmp_path / "taken"), None, Wishes())
    assert gains.parent == Path(learned.path).parent
    (kept,) = read_gains(gains)
    seen = observe(dataset)
    assert (kept.machine, kept.default, kept.topology) == (dataset.machine, learned.default.label, dataset.topology)
    assert kept.groups == seen.groups
    assert kept.gains == pytest.approx(gains_of(seen.time_s, seen.column(learned.default)), rel=1e-3, abs=1e-6)
