"""What a campaign takes when nothing is named, and what it takes by name."""

from pathlib import Path

import pytest

from numapredict.collect.codelets import MISJUDGED, codelets
from numapredict.collect.request import CampaignRequest, prepare

pytestmark = pytest.mark.native


def groups(request: CampaignRequest) -> set[str]:
    return {program.group for program in prepare(request, Path("nowhere")).programs}


def test_a_modelled_campaign_leaves_out_what_the_tracer_misjudges() -> None:
    every = {codelet.name for codelet in codelets()}
    assert set(MISJUDGED) < every
    assert groups(CampaignRequest(machine="sandybridge-4x8")) == every - set(MISJUDGED)


def test_by_name_a_misjudged_codelet_is_taken() -> None:
    request = CampaignRequest(machine="sandybridge-4x8", codelets=MISJUDGED)
    assert groups(request) == set(MISJUDGED)
