"""The regions of `numapredict regions -o` as programs of a campaign."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.campaign.listed_regions import region_programs, without_repeats
from numapredict.collect.campaign.request import CampaignRequest, prepare
from numapredict.collect.capturing.region_machine import RegionMachine
from numapredict.collect.data.dataset import same_command
from numapredict.native.errors import NumapredictError

MODULE = "/bin/sh"  # a file that was there before these tests


def region(name: str, share: float, offset: int = 16) -> dict[str, Any]:
    return {"name": name, "module": MODULE, "offset": offset, "count": 9, "share": share, "time_s": 1.0}


def listed(folder: Path, *regions: dict[str, Any], command: tuple[str, ...] = ("./app", "a b")) -> Path:
    path = folder / "app.json"
    path.write_text(json.dumps({"command": command, "regions": regions, "directory": str(folder)}))
    return path


def test_regions_with_most_time_come_first_and_small_ones_not_at_all(tmp_path: Path) -> None:
    path = listed(tmp_path, region("a", 0.2), region("b", 0.7, 32), region("c", 0.04, 48))
    first, second = region_programs(path)
    assert (first.name, first.region, first.command) == ("app a b:b", (MODULE, 32), ("./app", "a b"))
    assert second.name == "app a b:a"
    assert first.group == second.group == "regions:app"
    assert first.identity != second.identity
    assert not same_command(first, second)
    assert first.summary == "region b of ./app 'a b': 70% of its time in regions"


def test_regions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    found = region_programs(listed(tmp_path, region("a", 0.5), region("a", 0.4, 32)))
    assert [program.name for program in found] == ["app a b:a+0x10", "app a b:a+0x20"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("{", "is no list of regions"),
        ('{"command": ["app"]}', "is no list of regions"),
        ('{"command": [], "regions": []}', "names no program"),
        ('{"command": ["./app"], "regions": []}', "has no region with 5% of the time"),
        ('{"command": ["mpirun", "-n", "2", "./app"], "regions": []}', "mpirun starts the ranks of a job"),
    ],
)
def test_what_is_no_list_is_refused_in_a_line(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(NumapredictError, match=said) as refused:
        region_programs(path)
    assert "\n" not in str(refused.value)
    assert "app.json" in str(refused.value)


def test_a_program_that_was_built_later_is_listed_again_first(tmp_path: Path) -> None:
    path = listed(tmp_path, {**region("a", 0.5), "module": str(tmp_path / "app")})
    with pytest.raises(NumapredictError, match="which cannot be read: No such file"):
        region_programs(path)
    (tmp_path / "app").touch()
    os.utime(tmp_path / "app", (path.stat().st_mtime + 10,) * 2)
    with pytest.raises(NumapredictError, match=r"was built after .* was written: list its regions again"):
        region_programs(path)
    os.utime(tmp_path / "app", (path.stat().st_mtime - 10,) * 2)
    assert region_programs(path)[0].directory == str(tmp_path)


@pytest.mark.parametrize("wrong", [{"offset": -5}, {"module": ""}])
def test_regions_that_cannot_be_are_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(NumapredictError, match="is no list of regions"):
        region_programs(listed(tmp_path, {**region("a", 0.5), **wrong}))


def test_of_programs_each_counts_once_and_folders_tell_names_apart(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    one, two = (region_programs(listed(folder, region("a", 0.5))) for folder in folders)
    found = without_repeats([*one, *two, *one])
    assert [program.name for program in found] == [f"{folder}/app a b:a" for folder in folders]
    assert [program.name for program in without_repeats([*one, *one])] == ["app a b:a"]


def test_a_campaign_of_regions_has_no_codelets_and_no_modelled_machine(tmp_path: Path) -> None:
    path = listed(tmp_path, region("a", 0.5))
    campaign = prepare(CampaignRequest(region_files=(path,), repetitions=2), tmp_path / "data")
    assert [program.name for program in campaign.programs] == ["app a b:a"]
    assert isinstance(campaign.machine, RegionMachine)
    both = prepare(
        CampaignRequest(region_files=(path,), codelets=("stream-triad",), sizes=("small",)), tmp_path / "data"
    )
    assert len(both.programs) > 1
    with pytest.raises(NumapredictError, match="leave out --machine"):
        prepare(CampaignRequest(region_files=(path,), machine="lpdquad"), tmp_path / "data")
