"""`numapredict regions --plan` and `run --plan`: a plan is written, applied and checked; the program stays the same."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.host.host import host_topology
from numapredict.collect.placing.plan_file import Plan, PlannedRegion, builds_of, read_plan, write_plan
from numapredict.collect.space import default_mapping
from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.planning import Wish, planned
from numapredict.predictor.regions.regions_text import regions_in_words
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.command import numapredict, refusal
from tests.openmp import CLANG, GCC
from tests.region_plans import regions_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has one order only"),
]
STEPS = 30
PHASES = f"""
#include <stdio.h>
#define N (1 << 12)
static double a[N];
int main(void) {{
    double sum = 0;
    for (int step = 0; step < {STEPS}; step++) {{
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            a[i] += i % 7;
#pragma omp parallel for ordered
        for (int i = 0; i < N; i += 64)
#pragma omp ordered
            sum += a[i];
    }}
    printf("%f\\n", sum);
    return 3;
}}
"""


ASKS = PHASES.replace("double sum = 0;", "double sum = omp_get_max_threads();").replace(
    "#define", "#include <omp.h>\n#define"
)
LOCAL = ASKS.replace("int main", "static int own;\n#pragma omp threadprivate(own)\nint main").replace("%f", "%f %d")
LOCAL = LOCAL.replace(", sum", ", sum, own++")


def compiled(compiler: str | None, source: str, folder: Path) -> Path:
    (folder / "phases.c").write_text(source)
    subprocess.run([str(compiler), "-g", "-O1", "-fopenmp", "-o", folder / "phases", folder / "phases.c"], check=True)
    return folder / "phases"


@pytest.fixture(scope="module", params=[GCC, CLANG])
def phases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(request.param, PHASES, tmp_path_factory.mktemp("phases"))


def made(
    program: Path, folder: Path, gain: float, *, smaller_teams: bool = False, profile: Path | None = None
) -> tuple[ReplayedRegions, PlannedApplication | None, tuple[str, ...]]:
    """Plan the program as if its second region had gained so much from one thread."""
    topology = host_topology()
    cores = topology.core_count
    nodes = len(topology.cpu_nodes)
    baseline = f"{cores}x{nodes}-contiguous-{'first-touch' if nodes > 1 else 'bind'}"
    census = regions_of(["sh", "-c", f"{program}; true"], folder)
    base = Gain(baseline, 1.0, 1.0, 1.0, 9)
    one = (Gain("1x1-contiguous-bind", 1.0, 0.5, 0.5, 1), Gain("1x1-contiguous-bind", 1.0, gain, gain, 3))
    regions = tuple(
        ReplayedRegion("", each.path, each.offset, STEPS, 1.0, 0.5, cores, gains=(base, its))
        for each, its in zip(census, one, strict=True)
    )
    answer = ReplayedRegions((str(program),), topology.name, baseline, 3, None, 3.0, 1.0, 2.0, regions)
    keys = {(each.path, each.offset): each.key for each in census}
    plan, notes, _ = planned(answer, Wish(folder / "plan", profile, smaller_teams), str(program), keys, topology)
    return answer, plan, notes


def test_a_plan_is_applied_and_checked(phases: Path, tmp_path: Path) -> None:
    answer, plan, notes = made(phases, tmp_path, 4.0)
    assert plan is not None
    assert notes == ()
    assert [team.threads for team in plan.teams] == [1]
    assert plan.speedup > plan.one_speedup >= 1.0
    (team,) = read_plan(tmp_path / "plan").regions
    assert (team.offset, team.slots) == (answer.regions[1].offset, (0,))
    alone = subprocess.run([phases], capture_output=True, text=True, check=False)
    done = numapredict("run", "--plan", "plan", "--verify", "-o", "run.json", str(phases), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, alone.stdout)
    late = STEPS - 2
    assert f"planned with 1 thread: {late} of {late} instances had so many; {late} of {late} times" in done.stderr
    (seen,) = json.loads((tmp_path / "run.json").read_text())["placement"]["teams"]
    assert "phases.c:" in seen["region"]
    assert (seen["instances"], seen["applied"], seen["right"]) == (late, late, late)


def test_what_gains_nothing_is_no_plan(phases: Path, tmp_path: Path) -> None:
    _, plan, notes = made(phases, tmp_path, 1.01)
    assert plan is None
    assert notes == (f"no plan is worth it, and {tmp_path / 'plan'} was not written",)
    assert not (tmp_path / "plan").exists()


def test_a_profile_with_too_few_samples_is_said(phases: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    mapping = "1x1-contiguous-first-touch"
    numapredict("run", "--mapping", mapping, "--profile", "profile", "--", str(phases), cwd=tmp_path)
    said = (
        f"{profile} has too few samples of 2 of 2 regions to tell which arrays they use: the plan takes them to use "
        "all; a profile of a longer run tells more"
    )
    _, plan, notes = made(phases, tmp_path, 4.0, profile=profile)
    assert plan is not None
    assert notes == (said,)
    _, plan, notes = made(phases, tmp_path, 1.01, profile=profile)
    assert plan is None
    assert notes == (f"no plan is worth it, and {tmp_path / 'plan'} was not written", said)


@pytest.mark.parametrize(("compiler", "source"), [(GCC, ASKS), (CLANG, LOCAL), (GCC, LOCAL)])
def test_smaller_teams_may_be_asked_for_but_lose_no_thread_local_data(
    compiler: str, source: str, tmp_path: Path
) -> None:
    program = compiled(compiler, source, tmp_path)
    _, plan, (note,) = made(program, tmp_path, 4.0)
    assert plan is None
    assert ("--smaller-teams allows it" in note) == (compiler == CLANG or source == ASKS)
    _, plan, _ = made(program, tmp_path, 4.0, smaller_teams=True)
    assert (plan is None) == (compiler == GCC and source == LOCAL)


def test_the_command_writes_a_plan_or_says_why_not(phases: Path, tmp_path: Path) -> None:
    alone = subprocess.run([phases], capture_output=True, text=True, check=False)
    done = numapredict("regions", "--plan", "plan", "-o", "answer.json", str(phases), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, alone.stdout)
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (tmp_path / "plan").exists() == (answer["plan"] is not None)
    assert ("run --plan plan --verify" in done.stderr) != ("no plan is worth it" in done.stderr)
    if answer["plan"] is not None:  # by this computer's clock, which may be busy
        assert numapredict("run", "--plan", "plan", str(phases), cwd=tmp_path).stdout == alone.stdout


def test_mistakes_are_one_line_and_start_nothing(phases: Path, tmp_path: Path) -> None:
    for words, expected in (
        (("--smaller-teams",), "name the file, too"),
        (("--profile", "p"), "name the file, too"),
        (("--plan", "plan", "--profile", "/nowhere"), "cannot be read"),
        (("--plan", "/proc/plan"), "cannot be written"),
    ):
        done = numapredict("regions", *words, str(phases), cwd=tmp_path)
        assert done.stdout == ""
        assert expected in refusal(done, done.returncode)
        assert done.returncode in {1, 2}


def test_the_profile_of_another_build_is_refused_and_that_of_this_one_needs_no_advice(tmp_path: Path) -> None:
    program = compiled(GCC, PHASES, tmp_path)
    profiled = numapredict("run", "--profile", "kept", str(program), cwd=tmp_path)
    assert profiled.returncode == 3
    assert "no mapping was advised" in profiled.stderr
    words = ("regions", "--plan", "plan", "--profile", "kept", str(program))
    assert numapredict(*words, cwd=tmp_path).returncode == 3
    compiled(GCC, PHASES.replace("% 7", "% 5"), tmp_path)
    line = refusal(numapredict(*words, cwd=tmp_path))
    assert f"kept is a profile of another build of {program}: make it again" in line


def test_a_damaged_plan_is_refused(phases: Path, tmp_path: Path) -> None:
    made(phases, tmp_path, 4.0)
    plan = (tmp_path / "plan").read_text()
    assert plan.endswith("\nend\n")
    (tmp_path / "plan").write_text(plan.removesuffix("end\n") + "range 1 00 0 0 4\nrun 0 5 0\nend\n")
    line = refusal(numapredict("run", "--plan", "plan", str(phases), cwd=tmp_path))
    assert "'run 0 5 0' belongs in no plan" in line


def test_the_plan_is_told_with_its_command(phases: Path, tmp_path: Path) -> None:
    answer, plan, _ = made(phases, tmp_path, 4.0)
    text = "\n".join(regions_in_words(msgspec.structs.replace(answer, plan=plan)))
    assert f"numapredict run --plan {tmp_path / 'plan'} --verify -- {phases}" in text
    assert "1 thread as under 1x1-contiguous-bind, 4.00x" in text


def test_a_plan_that_does_not_fit_gets_one_line_and_starts_nothing(tmp_path: Path) -> None:
    here = host_topology()
    label = default_mapping(here).label
    plan = Plan(
        here.fingerprint, here.name, label, regions=(PlannedRegion(1, "/bin/ls", 0, (0,)),), modules=(("/bin/ls", "0"),)
    )
    other = replace(plan, modules=builds_of(["/bin/ls"]))
    for written, words, expected in (
        (plan, (), "a plan for another build of /bin/ls: make it again"),
        (replace(plan, fingerprint="0", machine="far away"), (), "a plan for far away, and this computer is another"),
        (other, ("--mapping", "1x1-contiguous-bind"), f"a plan for mapping {label}, and 1x1-contiguous-bind has"),
        (replace(other, regions=()), ("--mapping", "1x1-contiguous-bind"), "ends in -first-touch"),
    ):
        write_plan(written, tmp_path / "plan")
        done = numapredict("run", "--plan", "plan", *words, "ls", cwd=tmp_path)
        assert done.stdout == ""
        assert expected in refusal(done)
