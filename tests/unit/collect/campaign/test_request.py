"""What a campaign takes when nothing is named, and what it takes by name."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.codelets import codelets
from numapredict.collect.campaign.request import CampaignRequest, prepare, run_campaign
from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.native.errors import FailedRunsError, UnrunnableProgramError, UsageError
from tests.planted import planted_dataset

pytestmark = pytest.mark.native


def groups(request: CampaignRequest) -> set[str]:
    return {program.group for program in prepare(request, Path("nowhere")).programs}


def test_a_campaign_takes_all_codelets_unless_some_are_named() -> None:
    assert groups(CampaignRequest(machine="sandybridge-4x8")) == {codelet.name for codelet in codelets()}
    named = ("nested-stream", "task-recursion")
    assert groups(CampaignRequest(machine="sandybridge-4x8", codelets=named)) == set(named)


def test_a_program_that_no_dataset_can_hold_is_refused() -> None:
    with pytest.raises(UnrunnableProgramError, match=r"^argument '\\xff' is not UTF-8; "):
        prepare(CampaignRequest(machine="sandybridge-4x8", commands=("ls \udcff",)), Path("nowhere"))


@pytest.mark.parametrize("several", [CampaignRequest(jobs=2), CampaignRequest(scheduler="tcp://127.0.0.1:8786")])
def test_by_the_clock_one_program_runs_at_a_time(several: CampaignRequest) -> None:
    with pytest.raises(UsageError, match="is for modelled machines"):
        prepare(several, Path("nowhere"))


def campaign_of(dataset: Dataset, folder: Path) -> Campaign:
    mappings = tuple(dict.fromkeys(m.mapping for m in dataset.measurements))
    return Campaign(RecordedMachine(dataset), folder, dataset.programs, mappings, "made by a test")


def test_a_campaign_of_which_every_run_failed_is_an_error_and_keeps_what_it_found(tmp_path: Path) -> None:
    dataset = planted_dataset(2)
    broken = msgspec.structs.replace(
        dataset,
        measurements=tuple(
            msgspec.structs.replace(m, status="crashed", message="killed by SIGSEGV", repetitions=())
            for m in dataset.measurements
        ),
    )
    with pytest.raises(FailedRunsError, match=r"all 46 runs failed, the first with: killed by SIGSEGV"):
        run_campaign(campaign_of(broken, tmp_path))
    assert len(read_dataset(tmp_path).measurements) == 46


def test_a_campaign_of_which_some_runs_failed_is_none(tmp_path: Path, said: list[str]) -> None:
    dataset = planted_dataset(2)
    first = msgspec.structs.replace(dataset.measurements[0], status="crashed", message="no", repetitions=())
    partly = msgspec.structs.replace(dataset, measurements=(first, *dataset.measurements[1:]))
    run_campaign(campaign_of(partly, tmp_path))
    assert [line for line in said if line.startswith("1 run failed")]


def test_no_smt_leaves_out_mappings_with_two_threads_on_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "numa:2 core:4 pu:2")

    def degrees(**options: object) -> set[int]:
        request = CampaignRequest(codelets=("stream-triad",), **options)  # type: ignore[arg-type]
        return {mapping.threads_per_core for mapping in prepare(request, Path("nowhere")).mappings}

    assert degrees() == {1, 2}
    assert degrees(no_smt=True) == degrees(space="thesis") == {1}
    assert degrees(labels=("16x2-contiguous-locality-smt2",), no_smt=True) == {2}  # a mapping by name is run
