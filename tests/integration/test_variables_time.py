"""`variables --time`: what variables cost in time, modelled on a described machine, and by runs."""

import subprocess
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.placement import Placement, ThreadSlot
from numapredict.collect.placing.page_plan import PagePlan, plan_of
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.program import program_as_typed
from numapredict.native.errors import UnrunnableProgramError
from numapredict.predictor.variables.profiling import baseline
from numapredict.predictor.variables.session import Question, ask
from numapredict.predictor.variables.timing import FURTHER_ROUNDS, ROUNDS, measured_costs
from tests.command import numapredict, refusal
from tests.integration.test_variables import ON, built, sampled
from tests.openmp import GCC

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="no gcc")]


@sampled
def test_misplaced_arrays_cost_time_where_no_cache_holds_them(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "lulesh.c", "-DNODES=(1l<<21)")
    answer = ask(Question((str(program), "60"), time=True, **ON))
    assert answer.severity == "modelled time"
    timed = [one for one in answer.variables if one.time is not None]
    assert {one.name for one in timed} == {"x", "y", "z"}
    assert answer.variables[: len(timed)] == tuple(timed)
    assert answer.time is not None
    for one in timed:
        assert one.time is not None
        assert 0.05 < one.time.share < answer.time.share  # 0.14 to 0.19 of each, 0.43 of all
        assert one.remedy.action == "initialise in parallel"
        worst = one.time.regions[0]
        assert worst.place is not None
        assert worst.place.frame.line in {27, 29, 31, 35, 37}  # those that read it
        assert worst.share > one.time.share


@sampled
def test_many_touches_from_elsewhere_are_not_worth_fixing_where_caches_hold_the_data(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "lulesh.c")
    assert len([one for one in ask(Question((str(program),), **ON)).variables if one.remedy.action != "nothing"]) == 3
    done = numapredict("-q", "variables", "--time", *(f"--{name}={value}" for name, value in ON.items()), str(program))
    assert done.returncode == 0, done
    assert done.stdout.count("not worth fixing: ") == 4  # each of the three by time, the others by touches
    assert "what would help" not in done.stdout


@sampled
def test_who_asked_for_time_is_not_told_to_ask(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(
        "#include <stdlib.h>\n"
        "int main(void) {\n"
        "  double *a = malloc(8 << 18);\n"
        "  for (int step = 0; step < 1000; step++)\n"
        '  _Pragma("omp parallel for") for (int i = 0; i < 1 << 18; i++) a[i] = step ? a[i] + 1 : 0;\n'
        "}\n"
    )
    subprocess.run([GCC, "-g", "-fopenmp", "app.c", "-o", "app"], cwd=tmp_path, check=True)
    done = numapredict(
        "-q", "variables", "--time", *(f"--{name}={value}" for name, value in ON.items()), "./app", cwd=tmp_path
    )
    assert "severity is by share of touches" in done.stdout  # its threads touch their blocks first
    assert "--time" not in done.stdout


def planned(folder: Path, program: Path, *words: str) -> tuple[Placement, PagePlan]:
    """Return a plan of a program's variables and where its two threads run here, on one node."""
    topology = host_topology()
    done = numapredict(
        "-q", "run", "--mapping", "1x1-contiguous-first-touch", "--profile", str(folder / "kept"), "--", str(program),
        *words,
    )  # fmt: skip
    assert done.returncode == 0, done
    pu, node = topology.cpu_nodes[0].cores[0].pus[0], topology.cpu_nodes[0].index
    placement = Placement(baseline(1, topology), topology, (ThreadSlot(node, pu),), (node,))
    return placement, plan_of(read_profile(folder / "kept"), placement)


def test_here_runs_in_turn_tell_the_time_of_each_region(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "lulesh.c")
    placement, plan = planned(tmp_path, program, "200")
    (cost,) = measured_costs(program_as_typed((str(program), "20")), placement, [plan], 0)
    assert cost is not None
    assert cost.rounds in {ROUNDS, ROUNDS + FURTHER_ROUNDS}  # further ones where a gain is not sure
    assert cost.lowest <= cost.share <= cost.highest < 1  # on one node nothing is gained but by chance
    named = [one.place.frame.line for one in cost.regions if one.place is not None]
    assert set(named) <= {20, 21, 27, 29, 31, 33, 35, 37}


def test_a_run_that_ends_otherwise_than_the_profiled_one_says_nothing(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "lulesh.c")
    placement, plan = planned(tmp_path, program, "200")
    with pytest.raises(UnrunnableProgramError, match="failed in a further run"):
        measured_costs(program_as_typed((str(program), "20")), placement, [plan], 26)


def test_what_cannot_be_timed_is_refused_in_one_line(tmp_path: Path) -> None:
    assert "--time runs the program again" in refusal(
        numapredict("variables", "--time", "--profile", "x", cwd=tmp_path)
    )
    program = built(tmp_path, GCC, "lulesh.c")
    if len(host_topology().cpu_nodes) == 1:
        assert "name a --machine" in refusal(numapredict("variables", "--time", str(program), "400", cwd=tmp_path))
