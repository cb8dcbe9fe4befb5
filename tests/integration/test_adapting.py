"""`numapredict run --adapt` on this computer: the program's output, exit code and signals, whatever its nodes."""

import json
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
