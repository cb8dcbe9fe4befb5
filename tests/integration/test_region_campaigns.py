"""A campaign whose programs are an application's regions: replayed, or by whole runs where that cannot be."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import Dataset, read_dataset
from tests.command import numapredict, refusal
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and CLANG), reason="no gcc or clang"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has one order only"),
]

# The second region tells a file how far it has come: that has effects outside, so it cannot be replayed.
APPLICATION = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#define N (1l << 19)
static double a[N];
int main(void) {
    double sum = 0;
    const int file = open("/dev/null", O_WRONLY);
    for (int step = 0; step < 60; step++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            for (int k = 0; k < 5; k++)
                a[i] += 1 / (1 + a[i] * a[i]);
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < N; i++) {
            for (int k = 0; k < 5; k++)
                sum += 1 / (1 + (a[i] + k) * (a[i] + k));
            if (i == 0 && write(file, "x", 1) != 1)
                sum = 0;
        }
    }
    printf("%f\\n", sum);
    return 26;
}
"""


REPLAYED, BY_WHOLE_RUNS = "replays in forks of the program", "whole runs, by the region clock"


@pytest.fixture(scope="module", params=[GCC, CLANG])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the application, the list of its regions and the dataset of a campaign of them."""
    found = tmp_path_factory.mktemp("application")
    built(APPLICATION, found, request.param)
    for _ in range(8):  # on a busy computer no instance may be like the others, or one is many times as long
        shutil.rmtree(found / "data", ignore_errors=True)
        (found / "app.json").unlink(missing_ok=True)
        assert numapredict("regions", "-o", "app.json", "./app", cwd=found).returncode == 26
        done = campaign(found)
        assert done.returncode == 0, done.stderr
        said = (found / "data" / "journal.jsonl").read_text()
        listed = json.loads((found / "app.json").read_text())
        if (
            BY_WHOLE_RUNS not in said
            and all(each["gains"] for each in listed["regions"])
            and all(is_about(*times) for times in listed_and_measured(found))
        ):
            break
    return found


def is_about(listed_s: float, measured_s: float) -> bool:
    """Say whether two times of one region in two runs may be of one unit and one kind, on a busy computer too."""
    return listed_s > 0 and 1 / 4 < measured_s / listed_s < 4


def listed_and_measured(folder: Path) -> list[tuple[float, float]]:
    """Return each region's time under the baseline in seconds: as listed, and as the campaign has it."""
    listed = json.loads((folder / "app.json").read_text())
    dataset = read_dataset(folder / "data")
    regions = {program.region: program.name for program in dataset.programs}
    measured = by_region(dataset)
    return [
        (each["instance_s"] or 0.0, measured[name][listed["baseline"]][1])
        for each in listed["regions"]
        if (name := regions.get((each["module"], each["offset"]))) is not None
    ]


def built(source: str, folder: Path, compiler: str) -> None:
    (folder / "app.c").write_text(source)
    subprocess.run([compiler, "-O2", "-fopenmp", "-o", folder / "app", folder / "app.c"], check=True)


def campaign(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    options = ("--regions-of", "app.json", "--repetitions", "2", "--into", "data")
    return numapredict("collect", "campaign", *options, *words, cwd=folder)


def by_region(dataset: Dataset) -> dict[str, dict[str, tuple[str, float]]]:
    """Return, by region and mapping, how its time was measured, and the time in seconds."""
    found: dict[str, dict[str, tuple[str, float]]] = {}
    for each in dataset.measurements:
        assert each.status == "ok", each
        assert len(each.repetitions) == 2
        assert each.region_time_s == each.time_s
        found.setdefault(each.program, {})[each.mapping.label] = dict(each.provenance)["region"], each.time_s
    return found


def test_each_region_is_a_program_with_times_under_each_mapping(folder: Path) -> None:
    dataset = read_dataset(folder / "data")
    listed = json.loads((folder / "app.json").read_text())
    assert len(dataset.programs) == 2
    assert {program.group for program in dataset.programs} == {"regions:app"}
    measured = by_region(dataset)
    labels = {label for times in measured.values() for label in times}
    assert len(labels) > 1
    assert all(set(times) == labels for times in measured.values())
    regions = {program.name: program.region for program in dataset.programs}
    ways = set()
    for name, times in measured.items():
        assert regions[name] is not None
        (own,) = (each for each in listed["regions"] if [each["module"], each["offset"]] == list(regions[name] or ()))
        hows = {how for how, _ in times.values()}
        problem = own["gains"][0]["problem"]
        assert hows == {f"{BY_WHOLE_RUNS}: {problem}" if problem else REPLAYED}
        ways |= hows
    # As in the run that listed them; without the instances after forks, which copy pages.
    times_s = listed_and_measured(folder)
    assert len(times_s) == 2
    assert all(is_about(*each) for each in times_s), times_s
    assert ways == {REPLAYED}  # what a region writes is held back


def test_the_same_command_again_runs_nothing(folder: Path) -> None:
    done = campaign(folder, "--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith("0 runs to do, ")


def test_of_a_program_that_was_built_anew_no_region_comes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "app.json").write_bytes((folder / "app.json").read_bytes())
    compiler = GCC if b"_omp_fn" in (folder / "app.json").read_bytes() else CLANG
    assert compiler is not None
    built('__asm__(".text\\n.skip 8192");' + APPLICATION, tmp_path, compiler)
    listed = json.loads((tmp_path / "app.json").read_text())
    own = json.dumps(listed).replace(str(folder / "app"), str(tmp_path / "app")).replace(str(folder), str(tmp_path))
    (tmp_path / "app.json").write_text(own)
    done = campaign(tmp_path)
    assert done.returncode == 1
    assert "list its regions again" in done.stderr
    (tmp_path / "app").touch()
    assert "was built after app.json was written: list its regions again" in refusal(campaign(tmp_path))


def test_where_exit_codes_have_to_be_0_a_program_that_ends_otherwise_has_no_times(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "app.json").write_bytes((folder / "app.json").read_bytes())
    done = campaign(tmp_path, "--strict")  # the list says in which folder the program is
    assert done.returncode == 1
    assert "all 4 runs failed, the first with: app ends with exit code 26, which --strict refuses" in done.stderr


def test_regions_cannot_be_of_a_modelled_machine(folder: Path) -> None:
    done = campaign(folder, "--machine", "lpdquad")
    assert (
        refusal(done)
        == "numapredict: --regions-of is for this computer, where regions are replayed: leave out --machine"
    )
