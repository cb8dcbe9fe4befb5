"""What a campaign takes when nothing is named, and what it takes by name."""

from pathlib import Path

import pytest

from numapredict.collect.codelets import codelets
from numapredict.collect.request import CampaignRequest, prepare

pytestmark = pytest.mark.native


def groups(request: CampaignRequest) -> set[str]:
    return {program.group for program in prepare(request, Path("nowhere")).programs}


def test_a_campaign_takes_all_codelets_unless_some_are_named() -> None:
    assert groups(CampaignRequest(machine="sandybridge-4x8")) == {codelet.name for codelet in codelets()}
    named = ("nested-stream", "task-recursion")
    assert groups(CampaignRequest(machine="sandybridge-4x8", codelets=named)) == set(named)
