"""The applications' program: its own checks, results that no thread count changes, and that they are no codelets."""

import json
import os
import re
import subprocess

import pytest

from numapredict.collect.campaign.codelets import applications, codelet_programs, codelets
from numapredict.collect.placing.executable import executable_of
from numapredict.native.errors import UsageError
from numapredict.native.library import applications_program

pytestmark = pytest.mark.native

NAMES = ("short-regions", "barrier-pipeline", "serial-part", "locked-merge")
TEAMS = ((1, "serial"), (2, "parallel"), (3, "serial"), (7, "parallel"), (16, "serial"))


def ran(*arguments: str, threads: int = 2) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
    command = [str(applications_program()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def checksum(*arguments: str, threads: int = 2) -> str:
    finished = ran(*arguments, "--check", threads=threads)
    assert finished.returncode == 0, finished.stderr
    found = re.search(rf"threads={threads} iterations=\d+ seconds=[\d.]+ checksum=(\S+)\n", finished.stdout)
    assert found, finished.stdout
    return found[1]


def test_the_list_names_all_with_their_sizes() -> None:
    listed = json.loads(ran("--list", "--json").stdout)
    assert [each["name"] for each in listed] == list(NAMES) == [each.name for each in applications()]
    for each in listed:
        assert re.fullmatch(r"[A-Z].{30,120}\.", each["summary"])
        sizes = list(each["sizes"].values())
        assert sizes == sorted(set(sizes))
        assert sizes[1] < 20_000_000
        assert sizes[3] < 420_000_000


@pytest.mark.parametrize("size", ["tiny", "small"])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_right_and_the_same_with_any_number_of_threads(name: str, size: str) -> None:
    assert len({checksum(name, "--size", size, "--init", init, threads=threads) for threads, init in TEAMS}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_results_are_right_under_every_schedule_and_other_data(name: str) -> None:
    asked = (name, "--size", "tiny", "--iterations", "2")
    one, same = (checksum(*asked, "--seed", "7", "--schedule", schedule) for schedule in ("dynamic", "guided"))
    assert one == same != checksum(*asked, "--seed", "2")


def test_they_have_their_own_name_in_messages() -> None:
    finished = ran("stream-triad")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr == "numapredict-applications: unknown application 'stream-triad'; see --list\n"


def test_they_run_where_they_are_named_and_are_no_codelets() -> None:
    named = codelet_programs(("short-regions", "stream-triad"), initialisations=("serial",))
    assert [program.group for program in named] == ["application:short-regions", "stream-triad"]
    assert executable_of(named[0]) == str(applications_program())
    assert {each.name for each in codelets()}.isdisjoint(NAMES)
    assert not any(program.group.startswith("application:") for program in codelet_programs())
    with pytest.raises(UsageError, match=r"unknown codelet 'no-such': the codelets are stream-copy, .*locked-merge"):
        codelet_programs(("no-such",))
