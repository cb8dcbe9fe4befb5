"""A program that is counted or traced is told of as many processors as threads are asked for."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.mapping import Mapping, from_label, parse_label
from numapredict.collect.modelled.modelled_machine import traced_teams
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.native.library import marks_library
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.own_threads import own_team
from numapredict.predictor.command_line.commands import commands
from tests.openmp import CAN_TRACE, CLANG, GCC, build, program_of, traced

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]
WAYS = ["omp_get_num_procs", "omp_get_num_procs_", "online", "configured", "get_nprocs", "get_nprocs_conf"]
COUNTED = {"NUMAPREDICT_CENSUS": "census", "OMP_NUM_THREADS": "5,2"}


@pytest.fixture(scope="module", params=["gcc", "clang"])
def processors(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = GCC if request.param == "gcc" else CLANG
    if not compiler:
        pytest.skip(f"{request.param} is not installed")
    return build("processors.c", tmp_path_factory.mktemp("processors"), compiler)


def reported(command: list[str], folder: Path, **environment: str) -> list[int]:
    """Return the numbers that a command prints under the preload library."""
    variables = {**os.environ, "LD_PRELOAD": str(marks_library()), **environment}
    done = subprocess.run(command, env=variables, cwd=folder, check=True, capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]


def test_it_gets_the_requested_number_of_threads(processors: Path, tmp_path: Path) -> None:
    program, page = [str(processors)], os.sysconf("SC_PAGESIZE")
    true = reported(program, tmp_path, LD_PRELOAD="")
    assert reported(program, tmp_path) == true
    assert reported(program, tmp_path, OMP_NUM_THREADS="5") == true  # it is not counted
    assert reported(program, tmp_path, OMP_NUM_THREADS="5", NUMAPREDICT_REGIONS="regions") == true  # as it is
    assert reported(program, tmp_path, **COUNTED) == [5] * len(WAYS) + [page]
    assert reported(program, tmp_path, NUMAPREDICT_TRACE="7", OMP_NUM_THREADS="5") == [7] * len(WAYS) + [page]


def test_an_openmp_runtime_gets_the_true_number_of_processors(tmp_path: Path) -> None:
    """What a runtime takes for the processors decides how its threads wait, and how large a mask it asks for."""
    source = tmp_path / "asks.c"
    source.write_text("#include <unistd.h>\nlong asks(void) { return sysconf(_SC_NPROCESSORS_CONF) + 0; }\n")
    reported_to = {}
    for name in ("libother.so", "libgomp-1f.so.1", "libomp.so.5", "libiomp5.so"):
        subprocess.run([GCC, "-shared", "-fPIC", "-o", tmp_path / name, source], check=True)
        ask = f"import ctypes; print(ctypes.CDLL({str(tmp_path / name)!r}).asks())"
        (reported_to[name],) = reported([sys.executable, "-c", ask], tmp_path, **COUNTED | {"OMP_NUM_THREADS": "4321"})
    assert reported_to.pop("libother.so") == 4321
    assert set(reported_to.values()) == {os.sysconf("SC_NPROCESSORS_CONF")}


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_a_team_of_all_processors_is_as_large_as_the_mapping(processors: Path, way: int) -> None:
    found = traced(program_of(processors, way), 8)
    assert traced_teams(found.census, found.trace, 8) == (Team(8, 1.0),)
    assert [region.team for region in found.census.regions] == [2]


def test_all_mappings_compete_for_it(
    processors: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path_factory.mktemp("cache")))
    machine = modelled_machine("sandybridge-4x8")
    measured = machine.run(program_of(processors, 0), parse_label("16x2-contiguous-first-touch"))
    assert teams_of(measured) == (Team(16, 1.0),)
    assert own_team(measured) is None
    done = CliRunner().invoke(commands, ["predict", "--machine", "sandybridge-4x8", "--json", str(processors), "0"])
    answer = msgspec.json.decode(done.stdout, type=Advice, dec_hook=from_label)
    assert not answer.own_threads
    assert len({run.mapping.threads for run in answer.runs if isinstance(run.mapping, Mapping)}) > 1
