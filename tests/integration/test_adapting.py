"""`numapredict run --adapt` on this computer: the program's output, exit code and signals, whatever its nodes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.preloaded import GCC, built

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

NUMAPREDICT = (
    sys.executable,
    "-c",
    "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())",
)
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long n = 0; n < 100000; n++)
        sum += n;
    printf("%ld\n", sum);
    fflush(stdout);
    if (argc > 2)
        raise(SIGTERM);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


TEAMS = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void sleep_ms(long ms)
{
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}
static unsigned long mask(void)
{
    unsigned long mask[16] = {0};
    syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    return mask[0];
}
/* Bind the thread where it is, as one may that measures its caches. */
static unsigned long bind_here(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    return sched_setaffinity(0, sizeof set, &set) ? 0 : mask();
}
int main(int argc, char **argv)
{
    (void)argv;
    unsigned long own = 0;
    int narrow = 0, wide = 0, clause = 0, lost = 0;
    for (int step = 0; step < 120; step++) {
#pragma omp parallel
        {
            sleep_ms(omp_get_num_threads() > 1 ? 30 : 1);
#pragma omp master
            narrow += omp_get_num_threads() == 1;
        }
        if (argc > 1 && !own && narrow > 30)
            own = bind_here();
#pragma omp parallel
        {
            sleep_ms(omp_get_num_threads() > 1 ? 1 : 90);
#pragma omp master
            wide += omp_get_num_threads() > 1;
        }
#pragma omp parallel num_threads(2)
        {
            sleep_ms(omp_get_num_threads() > 1 ? 5 : 1);
#pragma omp master
            clause += omp_get_num_threads() > 1;
        }
        lost += own && mask() != own;
    }
    if (argc > 1)
        printf("bound %d, lost %d; ", own != 0, lost);
    printf("%d narrow, %d wide, %d by the clause\n", narrow, wide, clause);
    return 0;
}
"""
"""Times differ by so much that a busy computer seldom turns them round."""

TRIES = 4
"""It is enough that one run finds it: another may be held up in the wrong moment."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapting")
    (folder / "app.c").write_text(PROGRAM)
    return built(str(folder / "app.c"), folder, GCC)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NUMAPREDICT, "run", *map(str, words)], check=False, capture_output=True, text=True)


def test_output_exit_code_and_record(program: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.json"
    done = run("--adapt", "-o", record, program, "26")
    assert (done.returncode, done.stdout) == (26, "4999950000\n")
    found = json.loads(record.read_text())
    assert (found["exit_code"], found["mapping"], found["trials"]) == (26, "as-it-is", [])
    assert "adapt: " in done.stderr


def test_the_signal_that_ends_the_program_ends_the_command(program: Path) -> None:
    assert run("--adapt", program, "0", "term").returncode == -signal.SIGTERM


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one PU: no team is smaller")
def test_each_region_gets_the_threads_that_are_best_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By counts: what loses has fewer threads for a few instances, what gains from then on."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    (tmp_path / "teams.c").write_text(TEAMS)
    teams = built(str(tmp_path / "teams.c"), tmp_path, GCC)
    record = tmp_path / "run.json"
    for _ in range(TRIES):
        done = run("--adapt", "--fresh", "--budget-share", "50%", "-o", record, teams)
        assert done.returncode == 0, done.stderr
        narrow, wide, clause = (int(word) for word in re.findall(r"\d+", done.stdout))
        found = json.loads(record.read_text())
        assert clause == 120
        assert (narrow > 0 or wide < 120) or not found["trials"]
        if [each["team"] for each in found["regions"]] == ["1x1"]:
            break
    assert [each["team"] for each in found["regions"]] == ["1x1"]
    assert narrow > 20
    assert wide > 80
    kept = next(trial for trial in found["trials"] if trial["outcome"] == "kept")
    assert kept["teams"]
    assert kept["turns"] >= 3


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one PU: no team is smaller")
def test_a_thread_that_binds_itself_stays_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the PU where the library had it, with a smaller team in one region and the whole one in the next."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    (tmp_path / "teams.c").write_text(TEAMS)
    teams = built(str(tmp_path / "teams.c"), tmp_path, GCC)
    for _ in range(TRIES):
        done = run("--adapt", "--fresh", "--budget-share", "50%", teams, "own")
        assert "lost 0;" in done.stdout
        if "bound 1," in done.stdout:
            return
    pytest.fail(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--adapt", "--mapping", "1x1-contiguous-bind", "--", "true"), "finds the mapping itself"),
        (("--adapt", "--verify", "true"), "leave the other options out"),
        (("--budget-share", "2%", "true"), "add it, or leave them out"),
        (("--adapt", "--budget-share", "900%", "true"), "such as 5%"),
    ],
)
def test_options_that_do_not_fit_are_refused(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
