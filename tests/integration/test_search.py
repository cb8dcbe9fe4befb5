"""Searches on a described machine, and programs run as they are, without any placement."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.run_limit import RunLimit, region_time_when_ended
from numapredict.collect.measuring.stopping_rule import StoppingRule, fixed_repetitions
from numapredict.collect.placing.exit_code import exit_code_of
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from numapredict.native.library import codelets_program
from numapredict.predictor.advising.explanation import of_one_node
from numapredict.predictor.command_line.commands import commands
from numapredict.predictor.command_line.main import main
from tests.html_document import Document
from tests.openmp import CAN_TRACE, program_of
from tests.shapes import shape
from tests.unwatched import CODE, lead_here

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed"),
    pytest.mark.usefixtures("own_folders"),
]
MACHINE = "broadwell-2x10"
DESCRIBED = ("--machine", MACHINE)


def asked(*words: object) -> tuple[Any, str]:
    """Return the JSON answer on a described machine, and what was logged."""
    done = CliRunner().invoke(commands, ["predict", "--json", *map(str, words)])
    assert done.exit_code == 0, done.output
    return msgspec.json.decode(done.stdout), done.stderr


# ---- on a described machine ----


def test_a_search_on_a_described_machine_begins_with_its_default_and_says_what_a_further_run_adds(
    foreign: Path, tmp_path: Path
) -> None:
    answer, said = asked("--machine", MACHINE, "--runs", "3", foreign, "exit", 0)
    assert (answer["answer"], answer["modelled"], answer["method"]) == ("advised", True, "search")
    assert answer["baseline"] == answer["default"] == answer["runs"][0]["mapping"] == "20x2-contiguous-first-touch"
    assert answer["knows"] == f"136 programs on {MACHINE} (modelled)"
    best = max(answer["runs"], key=lambda run: run["speedup"])
    assert answer["mapping"] == best["mapping"]
    assert answer["speedup"] == pytest.approx(best["speedup"], rel=0.01)
    assert answer["next"]["mapping"] not in {run["mapping"] for run in answer["runs"]}
    assert answer["next"]["expected_speedup"] >= 1
    assert f"numapredict run --mapping {answer['mapping']} -- " in answer["command"]
    assert {one["tool"] for one in answer["alternatives"]} == {"env", "taskset", "numactl", "hwloc", "likwid", "slurm"}
    assert "run 1 of 3" in said
    assert [run["mapping"] for run in answer["regions"]] == [answer["baseline"], answer["mapping"]]
    for run, times in zip(answer["regions"], (answer["runs"][0], best), strict=True):
        whole_s = sum(region["time_s"] for region in run["times"]["regions"])
        assert whole_s == pytest.approx(times["region_time_s"], rel=1e-3)
        assert {region["place"]["module"] for region in run["times"]["regions"]} == {str(foreign)}
    page = tmp_path / "page.html"
    done = CliRunner().invoke(commands, ["report", "-", "-o", str(page)], input=msgspec.json.encode(answer))
    assert done.exit_code == 0, done.output
    document = Document(page.read_text(encoding="utf-8"))
    assert document.texts["pre"] == [answer["command"], *(one["command"] for one in answer["alternatives"])]
    assert (
        f"{answer['speedup']:.2f}x for the whole run, {answer['region_speedup']:.2f}x for its"
        in document.texts["body"][0]
    )
    assert len(document.table("The runs in their order")) == 1 + len(answer["runs"])
    assert "Run again, in turn" not in document.texts["body"][0]  # it would be computed again
    assert f"{answer['mapping']} on {MACHINE}; filled squares are cores" in page.read_text(encoding="utf-8")
    emitted = CliRunner().invoke(
        commands, ["predict", "--runs", "3", "--machine", MACHINE, "--emit", "numactl", str(foreign), "exit", "0"]
    )
    assert emitted.stdout == f"{answer['alternative']['command']}\n"


def test_a_described_machine_without_a_model_is_searched_by_what_other_machines_know(foreign: Path) -> None:
    done = CliRunner().invoke(
        commands, ["predict", "--runs", "2", "--machine", "opteron-4x4", str(foreign), "call", "1"]
    )
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(
        commands, ["predict", "--explain", "--machine", "opteron-4x4", str(foreign), "exit", "26"]
    )
    assert done.exit_code == 0, done.output
    assert "there is no model for opteron-4x4 yet" in done.stderr
    assert "(modelled)" in done.stdout
    assert "544 programs on " in done.stdout
    assert "ends with exit code 26" in " ".join(done.stdout.split())
    assert "as it is now" not in done.stdout


def test_only_mappings_with_the_programs_own_number_of_threads_are_run(foreign: Path) -> None:
    answer, said = asked("--machine", MACHINE, foreign, "call", 8)
    assert {parse_label(run["mapping"]).threads for run in answer["runs"][1:]} == {8}
    assert "only mappings of 8 are considered" in answer["own_threads"]
    assert "only mappings of 8 are considered" in said


def test_what_was_computed_is_best_of_the_traced_numbers_of_threads(foreign: Path) -> None:
    answer, said = asked("--machine", MACHINE, foreign, "exit", 0)
    traced = {parse_label(run["mapping"]).threads for run in answer["runs"]}
    assert said.count("tracing with") <= len(traced)
    machine, program = modelled_machine(MACHINE), program_of(foreign, "exit", 0)
    times = {
        mapping: machine.run(program, mapping).time_s
        for mapping in full_space(machine.topology)
        if mapping.threads in traced
    }
    assert answer["computed"] == len(times)
    best = min(times.values())
    chosen = parse_label(answer["mapping"])
    assert times[chosen] <= 1.02 * best or (answer["keep"] and times[chosen] <= 1.0145 * best)


def test_a_model_explains_and_its_clusters_name_a_mapping(foreign: Path) -> None:
    answer, said = asked("--machine", MACHINE, "--model", MACHINE, foreign, "exit", 0)
    assert f"using the shipped model {MACHINE}" in said
    assert answer["similar"]["centroid"] in answer["similar"]["members"]
    assert answer["similar"]["best"]


def test_by_the_thesis_s_method_the_cluster_chooses_and_its_choice_is_run(foreign: Path) -> None:
    answer, said = asked("--machine", MACHINE, "--method", "thesis", foreign, "exit", 0)
    assert (answer["method"], answer["next"], answer["computed"]) == ("thesis", None, 0)
    probes = [run["mapping"] for run in answer["runs"][1:3]]
    assert probes
    assert {"10x2-contiguous-balance", "20x2-contiguous-locality"} >= set(probes)
    assert answer["similar"]["best"] == answer["runs"][-1]["mapping"] or answer["similar"]["best"] in probes
    assert answer["keep"] or answer["mapping"] == answer["similar"]["best"]
    assert "the thesis's method on the dataset of the shipped model" in said
    words = CliRunner().invoke(
        commands, ["predict", "--explain", "--machine", MACHINE, "--method", "thesis", str(foreign), "exit", "0"]
    )
    assert "by the thesis's method" in " ".join(words.stdout.split())


def test_an_option_that_has_no_effect_is_refused(foreign: Path) -> None:
    done = CliRunner().invoke(commands, ["predict", "--fresh", "--machine", MACHINE, str(foreign)])
    assert getattr(done.exception, "exit_code", None) == 2
    assert str(done.exception).startswith("--fresh discards runs of this computer, and of a described machine none are")


def test_how_often_the_program_will_run_decides_how_many_numbers_of_threads_are_traced(foreign: Path) -> None:
    once, said = asked("--machine", MACHINE, "--for", 1, foreign, "exit", 0)
    assert once["expected_runs"] == 1
    best = max(once["runs"], key=lambda run: run["speedup"])
    assert once["mapping"] == best["mapping"]  # what was computed costs nothing, however often it runs
    assert {parse_label(run["mapping"]).threads for run in once["runs"]} == {20}
    often, said = asked("--machine", MACHINE, "--for", 10**9, "--runs", 5, foreign, "exit", 0)
    threads = {parse_label(run["mapping"]).threads for run in often["runs"]}
    assert 2 < len(threads) <= 5
    assert "run 2 of at most 5: " in said
    assert said.count("tracing with") == len(threads - {20})
    both, said = asked("--machine", MACHINE, "--for", 10**9, "--runs", 3, foreign, "exit", 0)
    assert {parse_label(run["mapping"]).threads for run in both["runs"]} <= threads
    assert "tracing with" not in said  # an answer by fewer or more runs finds the traces of the other


def test_options_that_contradict_each_other_are_refused(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (("--for", "0"), "0 is not in the range x>=1"),
        (("--for", "often"), "'often' is not a valid integer"),
        (("--fresh", *DESCRIBED), "--fresh discards runs of this computer, and of a described machine none are kept"),
        (("--no-cut", *DESCRIBED), "--no-cut is for runs of this computer"),
        (("--method", "thesis", "--runs", "3", *DESCRIBED), "--runs has no effect by --method thesis"),
        (("--method", "thesis", "--for", "9", *DESCRIBED), "--for has no effect by --method thesis"),
        (("--method", "thesis", "--no-cut"), "--no-cut has no effect by --method thesis"),
        (("--json", "--emit", "numactl", *DESCRIBED), "--emit and --json exclude each other"),
    ):
        assert main(["predict", *words, str(foreign)]) == 2
        assert said in capsys.readouterr().err


def test_options_of_earlier_days_change_nothing(foreign: Path) -> None:
    plain, _ = asked("--machine", MACHINE, foreign, "exit", 0)
    assert asked("--verify", "--search", "--machine", MACHINE, foreign, "exit", 0)[0] == plain


def test_damaged_knowledge_is_refused_in_one_line(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "known").write_bytes(b"\x80\x04damaged")
    monkeypatch.setattr("numapredict.predictor.searching.prior.shipped_file", lambda: tmp_path / "known")
    done = CliRunner().invoke(commands, ["predict", "--machine", MACHINE, str(foreign)])
    assert getattr(done.exception, "exit_code", None) == 2
    assert "\n" not in str(done.exception)
    assert str(tmp_path / "known") in str(done.exception)


# ---- as it is ----


def here(strict: bool = False) -> HardwareMachine:
    rule: StoppingRule = msgspec.structs.replace(fixed_repetitions(1), strict=strict)
    return HardwareMachine(shape([1]), repetitions=rule, warm_up=0)


def scripted(folder: Path, lines: str) -> Program:
    script = folder / "app"
    script.write_text(f"#!/bin/sh\necho run >> {folder}/log\n{lines}\n")
    script.chmod(0o755)
    return Program(name="app", command=(str(script),))


def test_a_program_as_it_is_keeps_its_variables_and_its_mask_and_its_regions_are_timed(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("OMP_PROC_BIND", "spread")
    program = scripted(tmp_path, f"taskset -p $$ > {tmp_path}/mask\nenv > {tmp_path}/env\n{foreign} clause 3")
    mask = os.sched_getaffinity(0)
    found = here().run_as_it_is(program)
    assert (found.mapping, found.status, len(found.repetitions)) == (AS_IT_IS, "ok", 1)
    assert found.region_time_s is not None
    assert 0 < found.region_time_s <= found.time_s
    assert teams_of(found) == (Team(3, 1.0),)
    assert (tmp_path / "log").read_text() == "run\n"
    variables = (tmp_path / "env").read_text().splitlines()
    assert {"OMP_NUM_THREADS=3", "OMP_PROC_BIND=spread"} <= set(variables)
    assert not any(line.startswith(("NUMAPLACE=", "OMP_PLACES=")) for line in variables)
    assert int((tmp_path / "mask").read_text().split()[-1], 16) == sum(1 << pu for pu in mask)


def test_an_exit_code_of_its_own_is_no_failure_and_is_known_to_later_runs(foreign: Path, tmp_path: Path) -> None:
    program, machine = scripted(tmp_path, f"{foreign} exit 0\nexit 26"), here()
    found = machine.run_as_it_is(program)
    assert (found.status, exit_code_of(found)) == ("ok", 26)
    assert machine.run(program, parse_label("1x1-contiguous-first-touch")).status == "ok"
    assert (tmp_path / "log").read_text() == "run\n" * 2  # no run of its own to learn the code
    assert here(strict=True).run_as_it_is(program).status == "crashed"


def test_without_parallel_regions_only_the_whole_run_has_a_time(tmp_path: Path) -> None:
    found = here().run_as_it_is(scripted(tmp_path, "true"))
    assert (found.status, found.region_time_s, teams_of(found)) == ("ok", None, ())
    assert found.time_s > 0
    assert here().run_as_it_is(scripted(tmp_path, "exit 26")).status == "crashed"


def long_regions(regions: int) -> str:
    """Return a command of a hundred regions or more a second."""
    return f"{codelets_program()} stream-triad --size tiny --iterations {regions}"


def test_of_a_run_that_is_ended_the_time_in_its_regions_is_known(tmp_path: Path) -> None:
    mapping = parse_label("1x1-contiguous-first-touch")
    found = here().run(scripted(tmp_path, f"sleep 3\n{long_regions(10**8)}"), mapping, RunLimit(4.0))
    assert (found.status, found.repetitions) == ("timeout", ())
    seen_s = region_time_when_ended(found)
    assert seen_s is not None
    assert 0 < seen_s < 3  # the three seconds before them do not count
    assert region_time_when_ended(here().run(scripted(tmp_path, long_regions(1)), mapping, RunLimit(30.0))) is None


def test_a_run_is_ended_with_all_its_processes_once_its_time_is_up(tmp_path: Path) -> None:
    program = scripted(tmp_path, f"(sleep 600; echo >> {tmp_path}/late) &\necho $! > {tmp_path}/child\nsleep 600")
    found = here().run(program, parse_label("1x1-contiguous-first-touch"), RunLimit(0.5))
    assert (found.status, found.repetitions) == ("timeout", ())
    child = int((tmp_path / "child").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


# ---- one node ----


def test_on_one_node_numbers_of_threads_compete(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:1 core:4 pu:1")
    answer, said = asked("--runs", 4, "--no-cut", "--fresh", foreign, "exit", 0)
    assert "this computer: 1 NUMA node with 4 cores" in said
    assert "numapredict train" not in said
    ran = [parse_label(run["mapping"]) for run in answer["runs"][1:]]
    assert len(ran) == len({mapping.threads for mapping in ran}) > 0
    assert {mapping.page_policy for mapping in ran} == {"bind"}
    (why,) = answer["explanation"]["findings"]
    assert why["text"] == "all memory is equally near: how many threads there are is all that can be chosen"
    both = of_one_node(shape([8], pus=2, l3_cores=4)).text
    assert "how many threads there are, whether several share a core and over how many L3 caches" in both


QUOTAS = Path("/sys/fs/cgroup/cpu")


@pytest.mark.skipif(not os.access(QUOTAS, os.W_OK), reason="no control group for processors can be made")
def test_no_more_threads_are_advised_than_a_quota_has_time_for(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead_here(monkeypatch)
    group = QUOTAS / f"numapredict-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text("110000")
        words = [
            sys.executable,
            "-c",
            CODE,
            "predict",
            "--json",
            "--fresh",
            "--runs",
            "4",
            "--no-cut",
            str(foreign),
            "exit",
            "0",
        ]
        into = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *words]
        environment = {"HWLOC_SYNTHETIC": "node:2 core:1 pu:1", "NUMAPREDICT_CACHE": str(tmp_path)}
        done = subprocess.run(into, capture_output=True, text=True, check=False, env=os.environ | environment)
    finally:
        group.rmdir()
    assert done.returncode == 0, done.stderr
    answer = msgspec.json.decode(done.stdout)
    assert "the quota here is 1.1 PUs' time: at most 1 thread can be advised" in done.stderr
    assert {parse_label(run["mapping"]).threads for run in answer["runs"][1:]} == {1}
