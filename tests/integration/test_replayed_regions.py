"""`numapredict regions` on programs in foreign shapes: they behave as without it, and each region has an answer."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from numapredict.predictor.searching.gains_file import read_gains
from tests.command import numapredict, refusal
from tests.golden.schemas.__main__ import file_of
from tests.openmp import CLANG, GCC, GFORTRAN, GXX
from tests.small_folders import inside
from tests.warm_start import COLD

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and GXX and CLANG and GFORTRAN), reason="no gcc, g++, gfortran or clang"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has one order only"),
]
SOURCES = Path(__file__).parent / "capturing"

# The words of a run, and what its regions may say instead of being replayed.
SHAPES: dict[str, set[str]] = {
    "work": set(),
    "threadprivate": set(),
    "tasks": set(),
    "shared": set(),
    "nested": set(),
    "settings": set(),
    "growing": set(),
    "filling": set(),
    "reduction": set(),
    "signals": set(),
    "threads": set(),
    "late": set(),
    "work code": set(),
    "work killed": set(),
    "output": set(),
    "work leaving": {"the region ended the program"},  # if the instance is replayed that ends it
}


@pytest.fixture(scope="module", params=[GCC, CLANG])
def shapes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("shapes") / "shapes"
    options = ("-g", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror")
    subprocess.run([request.param, *options, "-o", program, SOURCES / "shapes.c"], check=True)
    return program


def plain(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def asked(folder: Path, *command: str, **environment: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Return the run of the command and its answer, which is as the schema says."""
    done = numapredict("regions", "-o", "answer.json", *command, cwd=folder, **environment)
    answer = json.loads((folder / "answer.json").read_text())
    jsonschema.Draft202012Validator(json.loads(file_of("regions").read_text())).validate(answer)
    return done, answer


def of_a_busy_computer(problem: str) -> bool:
    """Return whether a class may not have been replayed because others interrupted its instances, or replays."""
    said = (
        "an instance's time",
        "others hold most",
        "less than 5 us",
        "--seconds",
        "did not come again",
        "took too long",
    )
    return any(words in problem for words in said)


@pytest.mark.parametrize("words", SHAPES)
def test_a_program_ends_as_without_it_and_its_regions_are_answered(words: str, shapes: Path, tmp_path: Path) -> None:
    command = [str(shapes), *words.split()]
    alone = plain(command)
    done, answer = asked(tmp_path, *command, KMP_INIT_AT_FORK="FALSE")  # as scikit-learn sets it
    assert done.stdout == alone.stdout
    assert done.returncode == alone.returncode
    assert answer["exit_code"] == (alone.returncode if alone.returncode >= 0 else 128 - alone.returncode)
    captured = [region for region in answer["regions"] if region["gains"]]
    problems = {one["problem"] for region in answer["regions"] for one in region["classes"] if not one["gains"]}
    assert {each for each in problems if not of_a_busy_computer(each)} <= SHAPES[words]
    assert answer["replay_s"] == pytest.approx(sum(region["replay_s"] for region in answer["regions"]))  # each one once
    for whole in captured:
        assert len(whole["gains"]) > 1
        base = whole["gains"][0]
        assert base["emptied_s"] >= base["warm_s"] > 0
        assert base["time_s"] >= base["warm_s"]
        assert base["time_s"] <= base["emptied_s"] or whole["undone"] > 0
        assert base["time_s"] > base["warm_s"] or not whole["emptied"] or base["emptied_s"] == base["warm_s"]
        counted = [one for one in whole["classes"] if one["gains"]]
        assert whole["replayed"] == pytest.approx(sum(one["share"] for one in counted))
        if len(answer["regions"]) == 1:
            gains = {gain["mapping"]: gain["speedup"] for gain in whole["gains"][1:]}
            assert {one["mapping"]: pytest.approx(one["speedup"]) for one in answer["one_mapping"]} == gains
    if words == "late":
        assert max(region["count"] for region in answer["regions"]) == 12  # its other region runs once


@pytest.mark.parametrize(("word", "said"), [("crash", "it ended by SIGSEGV"), ("quit", "the region ended the program")])
def test_a_mapping_under_which_a_region_fails_is_said_so(word: str, said: str, shapes: Path, tmp_path: Path) -> None:
    done, answer = asked(tmp_path, str(shapes), word)
    assert done.returncode == 0
    assert done.stdout.count("at the end") == 1  # what the program does at its end, no replay does
    assert "it calls" not in " ".join(answer["notes"])
    (region,) = answer["regions"]
    problems = {gain["problem"] for gain in region["gains"] if gain["mapping"].startswith("1x1")}
    assert problems == {said}, answer
    assert region["gains"][0]["speedup"] == 1.0


def test_a_region_whose_replays_cannot_begin_has_no_time(shapes: Path, tmp_path: Path) -> None:
    done, answer = asked(tmp_path, str(shapes), "sealed")
    assert done.returncode == 0
    (region,) = answer["regions"]
    assert region["gains"] == []
    problems = {one["problem"] for one in region["classes"]}
    assert "the region ended the program" in problems
    assert not [each for each in problems if "an instance's time" in each]


def test_replays_that_never_end_leave_time_for_others(shapes: Path, tmp_path: Path) -> None:
    for _ in range(4):  # a fork may wait that long for a busy computer
        done, answer = asked(tmp_path, str(shapes), "counting", KMP_INIT_AT_FORK="FALSE")
        assert done.returncode == 0
        (region,) = answer["regions"]
        problems = {one["problem"] for one in region["classes"]}
        used_up = "were used up" in " ".join(answer["notes"])
        if not used_up and "it took too long" not in problems:
            break
    assert not used_up
    assert "it took too long" not in problems


def has_one_of_each_length(classes: list[dict[str, Any]]) -> bool:
    """Say whether an instance of the class with most time was replayed, and it is one of the long ones."""
    counted = [one for one in classes if one["gains"]]
    return bool(counted) and counted[0]["instance"] % 8 == 5 and counted[0]["share"] > 0.4


def test_an_instance_stands_only_for_those_as_long(shapes: Path, tmp_path: Path) -> None:
    for _ in range(6):  # a busy computer may interrupt all tries at one length, or an instance
        done, answer = asked(tmp_path, str(shapes), "levels")
        (region,) = answer["regions"]
        if has_one_of_each_length(region["classes"]):
            break
    counted = [one for one in region["classes"] if one["gains"]]
    assert has_one_of_each_length(region["classes"]), answer
    for one in counted:
        assert 0.5 <= one["gains"][0]["time_s"] / one["mean_s"] <= 2
    rest = 1 - sum(one["share"] for one in counted)
    weighted = rest + sum(one["share"] / one["gains"][1]["speedup"] for one in counted)
    assert region["gains"][1]["speedup"] == pytest.approx(1 / weighted)
    assert "differ" in done.stderr


# By program, how often each region begins, and for how many sizes of its instances one is replayed, at least.
UNLIKE = {"vcycle": {65: 2, 30: 2}, "mesh": {36: 3}, "search": {28: 2}, "wavefronts": {186: 3}}


@pytest.mark.parametrize("word", UNLIKE)
def test_regions_with_instances_of_many_sizes_have_several_classes(word: str, tmp_path: Path) -> None:
    program = tmp_path / "unlike"
    options = ("-g", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror")
    subprocess.run([GCC, *options, "-o", program, SOURCES / "unlike.c"], check=True)
    for _ in range(6):  # beside other programs instances are interrupted
        _, answer = asked(tmp_path, str(program), word)
        regions = {region["count"]: region for region in answer["regions"]}
        counted = {count: [one for one in region["classes"] if one["gains"]] for count, region in regions.items()}
        if all(len(counted[count]) >= least for count, least in UNLIKE[word].items()):
            break
    assert "it calls omp_get_max_threads" in " ".join(answer["notes"])
    for count, least in UNLIKE[word].items():
        assert len(counted[count]) >= least, answer
        instances = [one["instance"] for one in counted[count]]
        assert len(set(instances)) == len(instances)
        assert all(0.5 <= one["gains"][0]["time_s"] / one["mean_s"] <= 2 for one in counted[count])
        assert sum(one["count"] for one in regions[count]["classes"]) <= count


def running(program: Path) -> list[int]:
    """Return the processes that run a program."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == str(program):
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


def is_asleep(process: int) -> bool:
    """Return whether a process has come to the word `forever`, and says so by its name."""
    try:
        return Path(f"/proc/{process}/comm").read_text() == "forever\n"
    except OSError:
        return False


def test_no_replay_outlives_a_killed_program(shapes: Path) -> None:
    with subprocess.Popen([*COLD, "regions", str(shapes), "slow"], stderr=subprocess.DEVNULL) as asking:
        while len(running(shapes)) < 2:
            assert asking.poll() is None
            time.sleep(0.01)
        os.kill(running(shapes)[0], signal.SIGKILL)
        assert asking.wait(60) == -signal.SIGKILL
    for _ in range(600):
        if not running(shapes):
            return
        time.sleep(0.01)
    pytest.fail(f"still there: {running(shapes)}")


def test_replays_leave_no_file_behind(shapes: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    replaying = [*COLD, "regions", "-o", str(answer), str(shapes), "work"]
    script = 'before=$(ls -A /dev/shm); "$@" || exit; after=$(ls -A /dev/shm); echo "$before$after"'
    alone = plain([str(shapes), "work"])
    for _ in range(6):  # a busy computer may interrupt all instances
        done = subprocess.run(
            inside(Path("/dev/shm"), "small", "sh", "-c", script, "sh", *replaying),  # noqa: S108 - LLVM's runtime's
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == alone.stdout.split()
        if json.loads(answer.read_text())["regions"][0]["gains"]:
            return
    pytest.fail(answer.read_text())


def test_what_regions_gained_can_be_kept_for_searches(shapes: Path, tmp_path: Path) -> None:
    data = {"NUMAPREDICT_DATA": str(tmp_path / "data")}
    for _ in range(6):  # on a busy computer nothing may be replayed, and nothing is kept
        done = numapredict("regions", "--keep", str(shapes), "work", cwd=tmp_path, **data)
        assert done.returncode == 0
        if any((tmp_path / "data").rglob("*.regions")):
            break
    (file,) = (tmp_path / "data").rglob("*.regions")
    assert f"kept what 1 of its regions gained, for searches on this computer: {file}" in done.stderr
    (kept,) = read_gains(file)
    assert kept.groups == ("shapes",)
    assert kept.gains[0, kept.mappings.index(kept.default)] == 0
    again = numapredict("regions", "--keep", "/bin/true", cwd=tmp_path, NUMAPREDICT_DATA=str(tmp_path / "data"))
    assert "nothing to keep" in again.stderr


def test_the_caller_s_number_of_threads_is_the_baseline_s(shapes: Path, tmp_path: Path) -> None:
    done = numapredict("regions", "-o", "answer.json", str(shapes), "work", cwd=tmp_path, OMP_NUM_THREADS="1")
    assert done.returncode == 0
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer["baseline"].startswith("1x1")
    assert [region["team"] for region in answer["regions"]] == [1]


def test_time_for_replays_can_be_limited(shapes: Path, tmp_path: Path) -> None:
    done = numapredict("regions", "--seconds", "0.000001", "-o", "answer.json", str(shapes), "work", cwd=tmp_path)
    assert done.returncode == 0
    assert "used up: --seconds allows more" in done.stderr
    assert not json.loads((tmp_path / "answer.json").read_text())["regions"][0]["gains"]


def test_cplusplus_and_fortran_regions_are_replayed(tmp_path: Path) -> None:
    for compiler, source in ((GXX, "exceptions.cpp"), (GFORTRAN, "sweep.f90")):
        program = tmp_path / Path(source).stem
        subprocess.run([compiler, "-g", "-O2", "-fopenmp", "-o", program, SOURCES / source], check=True)
        alone = plain([str(program)])
        for _ in range(6):  # a busy computer may interrupt all instances
            done, answer = asked(tmp_path, str(program))
            assert (done.stdout, done.returncode) == (alone.stdout, 0), source
            replayed = [region for region in answer["regions"] if region["gains"]]
            if replayed:
                break
        assert any(not region["gains"][0]["problem"] for region in replayed), answer


def test_the_answer_is_json_on_standard_output_and_the_program_s_output_is_not(shapes: Path, tmp_path: Path) -> None:
    done = numapredict("regions", "--json", str(shapes), "output", "code", cwd=tmp_path)
    answer = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads(file_of("regions").read_text())).validate(answer)
    assert (done.returncode, answer["exit_code"]) == (26, 26)
    assert done.stderr.count("step 7\n") == 1  # what the first run and replays write goes nowhere
    assert answer["plain_s"] > 0


def test_an_interrupted_first_run_says_what_is_known(shapes: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    words = [*COLD, "regions", "-o", str(answer), str(shapes), "work", "forever"]
    asking = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with asking:
        while not [each for each in running(shapes) if is_asleep(each)]:  # it waits after its regions
            assert asking.poll() is None
            time.sleep(0.01)
        asking.send_signal(signal.SIGINT)
        printed, said = asking.communicate(timeout=60)
    assert asking.returncode == -signal.SIGINT
    assert printed == ""
    known = json.loads(answer.read_text())
    (region,) = known["regions"]
    assert (region["count"], region["gains"], known["plain_s"]) == (12, [], 0)
    assert "the first run was interrupted" in region["problem"]
    assert "the first run was interrupted" in said
    assert " in 12 instances): not replayed" in said
    assert "the program itself took" not in said
    assert running(shapes) == []


def test_a_program_without_regions_says_so(tmp_path: Path) -> None:
    done, answer = asked(tmp_path, "/bin/echo", "hello")
    assert done.stdout == "hello\n"
    assert "no OpenMP parallel region began" in done.stderr
    assert answer["regions"] == []


def test_a_quiet_command_prints_its_answer_and_nothing_else(shapes: Path, tmp_path: Path) -> None:
    done = numapredict("-q", "regions", str(shapes), "work", cwd=tmp_path)
    assert "of the time in regions was replayed" in done.stderr
    assert "shapes.c:" in done.stderr
    none = numapredict("-q", "regions", "/bin/true", cwd=tmp_path)
    assert (none.stdout, none.stderr) == ("", "regions: no OpenMP parallel region began\n")
    as_json = numapredict("-q", "regions", "--json", "/bin/true", cwd=tmp_path)
    assert (json.loads(as_json.stdout)["regions"], as_json.stderr) == ([], "")


def test_bad_input_gets_one_line(tmp_path: Path, shapes: Path) -> None:
    assert "no such file" in refusal(numapredict("regions", "./absent", cwd=tmp_path))
    one = ("-o", "x", "--plan", "./x")
    assert "one file, x" in refusal(numapredict("regions", *one, str(shapes), cwd=tmp_path))
    for seconds in ("0", "nan", "inf"):
        assert "--seconds" in refusal(numapredict("regions", "--seconds", seconds, str(shapes), cwd=tmp_path))
    assert "JSON file" in refusal(numapredict("regions", "-o", "no/such/folder/file", str(shapes), cwd=tmp_path), 1)
    other = numapredict("regions", str(shapes), cwd=tmp_path, HWLOC_SYNTHETIC="node:2 core:2 pu:1")
    assert "HWLOC_*" in refusal(other)
    static = tmp_path / "static"
    subprocess.run([GCC, "-static", "-fopenmp", "-o", static, SOURCES / "shapes.c"], check=True)
    assert "statically linked" in refusal(numapredict("regions", str(static), cwd=tmp_path))
