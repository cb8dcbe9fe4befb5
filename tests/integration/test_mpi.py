"""A whole MPI job under `numapredict run`: its ranks share the mapping, and one report is about all of them."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.openmp import GCC

KINDS = ("openmpi", "mpich")
INSTALLED = all(shutil.which(f"{tool}.{kind}") for tool in ("mpicc", "mpirun") for kind in KINDS)
PUS = sorted(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and INSTALLED), reason="gcc, Open MPI or MPICH is not installed"),
    pytest.mark.skipif(len(PUS) < 2, reason="two processors are needed"),
]
SOURCE = Path(__file__).parents[1] / "guest" / "programs" / "hybrid.c"
COMMAND = (
    sys.executable,
    "-c",
    "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())",
)
LAUNCH = {"openmpi": ("mpirun.openmpi", "--oversubscribe"), "mpich": ("mpirun.mpich",)}
LABEL = "2x1-contiguous-first-touch"
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "HWLOC_"))}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module", params=KINDS)
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, ...], str]:
    """Return a launcher and a program of its MPI."""
    program = tmp_path_factory.mktemp("mpi") / f"hybrid-{request.param}"
    subprocess.run([f"mpicc.{request.param}", "-O1", "-fopenmp", "-o", program, SOURCE], check=True)
    return LAUNCH[request.param], str(program)


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=CLEAN | ROOT, capture_output=True, text=True, check=False, timeout=240)


def ranks_said(text: str) -> list[str]:
    """Return what each rank printed: launchers may put two on one line."""
    return sorted(re.findall(r"rank \d: most \d+, team \d+, total \d", text))


def test_one_report_is_about_all_ranks(job: tuple[tuple[str, ...], str], tmp_path: Path) -> None:
    launch, program = job
    words = ("run", "--mapping", LABEL, "--verify", "--regions", "-o", str(tmp_path / "run.json"), "--")
    done = ran(*COMMAND, *words, *launch, "-n", "2", program)
    assert done.returncode == 0, done.stderr
    assert ranks_said(done.stdout) == [f"rank {rank}: most 1, team 1, total 2" for rank in range(2)]
    assert "2 of 2 threads were bound to their PU at each check" in done.stderr
    assert done.stderr.count("threads were bound to their PU") == 1
    assert done.stderr.count("parallel region") == done.stderr.count("regions: 2 ranks of hybrid-") == 1
    record = json.loads((tmp_path / "run.json").read_text())
    assert sorted(process["rank"] for process in record["processes"]) == [0, 1]
    assert {process["program"] for process in record["processes"]} == {program}
    ranks = record["placement"]["ranks"]
    assert [one["rank"] for one in ranks] == [0, 1]
    assert sorted(pu for one in ranks for pu in one["pus"]) == PUS[:2]
    for one in ranks:
        assert one["threads"]["looked_at"] == one["threads"]["right"] == 1
        assert one["pages"]["looked_at"] == one["pages"]["right"] > 256  # the array alone


def test_ranks_that_each_start_it_have_their_share(job: tuple[tuple[str, ...], str]) -> None:
    launch, program = job
    unbound = ("--bind-to", "none")
    words = (*COMMAND, "run", "--mapping", f"{LABEL}-2pernode", "--verify", "--", program)
    done = ran(*launch, *unbound, "-n", "2", *words)
    assert done.returncode == 0, done.stderr
    assert ranks_said(done.stdout) == [f"rank {rank}: most 1, team 1, total 2" for rank in range(2)]
    for rank in range(2):
        assert f"rank {rank}: verify: 1 of 1 threads were bound" in done.stderr


def code_of(*words: str) -> int:
    """Return how a job ends. MPICH's launcher, seldom, ends by SIGPIPE itself where its ranks end at once."""
    for _ in range(5):
        code = ran(*words).returncode
        if code not in {-signal.SIGPIPE, 128 + signal.SIGPIPE}:
            break
    return code


def test_a_jobs_exit_code_is_kept(job: tuple[tuple[str, ...], str]) -> None:
    words = (*job[0], "-n", "2", "sh", "-c", "exit 7")
    assert code_of(*COMMAND, "run", "--mapping", LABEL, "--", *words) == code_of(*words) == 7


def test_what_mpirun_is_told_starts_each_rank_in_its_share(job: tuple[tuple[str, ...], str]) -> None:
    launch, program = job
    told = ran(*COMMAND, "run", "--mapping", f"{LABEL}-2pernode", "--emit", "mpirun", "--", program)
    assert told.returncode == 0, told.stderr
    text = told.stdout
    if "mpich" in launch[0]:
        text = told.stderr.partition("for MPICH: ")[2].replace("numapredict ", shlex.join(COMMAND) + " ", 1)
    done = ran("sh", "-c", text.replace("mpirun ", " ".join(launch) + " ", 1))
    assert done.returncode == 0, done.stderr
    assert ranks_said(done.stdout) == [f"rank {rank}: most 1, team 1, total 2" for rank in range(2)]


def test_open_mpi_binds_ranks_as_it_is_told() -> None:
    words = ("sh", "-c", 'grep Cpus_allowed_list "/proc/$$/status"; echo "threads $OMP_NUM_THREADS"')
    told = ran(*COMMAND, "run", "--mapping", f"{LABEL}-2pernode", "--emit", "mpirun", "--", *words)
    done = ran("sh", "-c", told.stdout.replace("mpirun ", " ".join(LAUNCH["openmpi"]) + " ", 1))
    assert sorted(re.findall(r"list:\t(.*)", done.stdout)) == [str(pu) for pu in PUS[:2]]
    assert done.stdout.count("threads 1\n") == 2


def test_ranks_without_a_place_or_with_one_file_are_refused(job: tuple[tuple[str, ...], str]) -> None:
    launch, program = job
    words = (*COMMAND, "run", "--mapping", f"{LABEL}-1pernode")
    done = ran(*launch, "--bind-to", "none", "-n", "2", *words, "--", program)
    assert done.returncode == 2
    assert "it has room for 1 rank, and 2 were started here" in done.stderr
    done = ran(*launch, "-n", "2", *words, "-o", "/dev/null", "--", program)
    assert "ranks here would write /dev/null: start numapredict run once" in done.stderr
    assert "Traceback" not in done.stderr
