"""The words that `--emit slurm` prints, run by SLURM: what the program sees of its PUs and of its memory policy."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.slurm.cluster import NUMAPREDICT, Cluster

PUS = len(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.skipif(PUS < 2, reason="one core has one order only"),
]
# Two nodes where this computer has one, of the same PUs: what is bound to node 0 can be run here as it is printed.
TWO_NODES = {"HWLOC_SYNTHETIC": f"node:2 core:{PUS // 2} pu:1"}
EMIT = (*NUMAPREDICT, "run", "--emit", "slurm", "--mapping")


@pytest.fixture(scope="session")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("witness") / "witness"
    script.write_text(
        '#!/bin/sh\ntaskset -cp $$\nnumactl --show\nsed -n "s/^[0-9a-f]* /maps /p" /proc/self/numa_maps\n'
        'echo "threads $OMP_NUM_THREADS $OMP_PLACES"\n'
    )
    script.chmod(0o755)
    return script


def seen(text: str) -> tuple[str, str, str]:
    """Return the PUs, the kind of memory policy and its nodes that a witness saw."""
    found = []
    for pattern in (r"affinity list: (\S+)", r"^policy: (\S+)", r"^maps (\S+)"):
        match = re.search(pattern, text, re.MULTILINE)
        assert match, text
        found.append(match[1])
    return found[0], found[1], found[2]


def listed(pus: list[int]) -> str:
    """Return PUs as taskset lists them."""
    return ",".join(map(str, pus)) if pus[-1] - pus[0] < 2 or len(pus) < 3 else f"{pus[0]}-{pus[-1]}"


MAPPINGS = {
    "2x2-scatter-first-touch": (listed([0, PUS // 2]), "default", "default"),
    "1x1-contiguous-first-touch": ("0", "default", "default"),
    "2x2-scatter-bind@1": (listed([0, PUS // 2]), "preferred", "prefer:0"),
    "1x1-contiguous-bind": ("0", "preferred", "prefer:0"),
}


@pytest.mark.parametrize("label", MAPPINGS)
def test_outside_an_allocation_the_printed_words_place_threads_and_pages(
    slurm: Cluster, witness: Path, label: str
) -> None:
    printed = slurm.run([*EMIT, label, "--", str(witness)], TWO_NODES)
    assert (printed.returncode, printed.stdout.count("\n")) == (0, 1), printed.stderr
    done = slurm.run(printed.stdout)
    assert (done.returncode, done.stderr) == (0, ""), printed.stdout
    assert seen(done.stdout) == MAPPINGS[label], printed.stdout
    assert f"threads {label[0]} " in done.stdout


@pytest.mark.parametrize("label", MAPPINGS)
def test_inside_a_job_of_a_whole_node_they_do_so_too(slurm: Cluster, witness: Path, label: str) -> None:
    emit = shlex.join([*EMIT, label, "--", str(witness)])
    script = f"export HWLOC_SYNTHETIC='{TWO_NODES['HWLOC_SYNTHETIC']}'\n"
    script += f'text=$({emit} 2>/dev/null) || exit\necho "printed $text"\nunset HWLOC_SYNTHETIC\neval "$text"\n'
    done = slurm.batch(script, "--nodes=1", "--exclusive")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--exclusive" not in done.stdout
    assert seen(done.stdout) == MAPPINGS[label], done.stdout


def test_what_was_printed_outside_runs_in_a_job_script_too(slurm: Cluster, witness: Path) -> None:
    label = "2x2-scatter-bind@1"
    printed = slurm.run([*EMIT, label, "--", str(witness)], TWO_NODES).stdout
    done = slurm.batch(printed, "--nodes=1", "--exclusive")
    assert done.returncode == 0, done.stdout + done.stderr
    assert seen(done.stdout) == MAPPINGS[label]


def test_a_printed_job_script_is_submitted_as_it_is(slurm: Cluster, witness: Path) -> None:
    label = "2x2-scatter-bind@1"
    emit = [*NUMAPREDICT, "run", "--emit", "sbatch", "--mapping", label, "--", str(witness)]
    printed = slurm.run(emit, TWO_NODES).stdout
    assert printed.startswith("#!/bin/sh\n#SBATCH --nodes=1\n")
    done = slurm.batch(printed.removeprefix("#!/bin/sh\n"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert seen(done.stdout) == MAPPINGS[label]


RANKS = f"{PUS // 2 * 2}x2-contiguous-first-touch-1pernode"


def check_ranks(text: str) -> None:
    """Check that two tasks ran, each with a half of the PUs and as many threads."""
    half = PUS // 2
    seen = re.findall(r"affinity list: (\S+)", text)
    assert sorted(seen) == sorted([listed(list(range(half))), listed(list(range(half, 2 * half)))]), text
    assert text.count(f"threads {half} cores") == 2, text


def test_each_rank_has_its_share_of_a_mapping(slurm: Cluster, witness: Path) -> None:
    printed = slurm.run([*EMIT, RANKS, "--", str(witness)], TWO_NODES)
    assert (printed.returncode, printed.stdout.count("\n")) == (0, 1), printed.stderr
    done = slurm.run(printed.stdout)
    assert (done.returncode, done.stderr) == (0, ""), printed.stdout
    check_ranks(done.stdout)


def test_a_printed_job_script_starts_ranks(slurm: Cluster, witness: Path) -> None:
    emit = [*NUMAPREDICT, "run", "--emit", "sbatch", "--mapping", RANKS, "--", str(witness)]
    printed = slurm.run(emit, TWO_NODES).stdout
    assert "#SBATCH --ntasks=2\n" in printed
    done = slurm.batch(printed.removeprefix("#!/bin/sh\n"))
    assert done.returncode == 0, done.stdout + done.stderr
    check_ranks(done.stdout)


def test_interleaving_survives_srun(slurm: Cluster, witness: Path) -> None:
    """One node of memory is here: all but the number of the last node is as printed."""
    printed = slurm.run([*EMIT, "2x2-scatter-interleave", "--", str(witness)], TWO_NODES).stdout
    assert "numactl --interleave=0-1 " in printed
    done = slurm.run(printed.replace("--interleave=0-1", "--interleave=0"))
    assert done.returncode == 0, done.stderr
    assert seen(done.stdout) == (listed([0, PUS // 2]), "interleave", "interleave:0")


def test_a_step_that_asks_for_fewer_pus_has_not_got_them_all(slurm: Cluster, witness: Path) -> None:
    """Why --cpus-per-task stands there; should this fail, SLURM has learned that --exclusive means all."""
    label = "2x2-scatter-first-touch"
    printed = slurm.run([*EMIT, label, "--", str(witness)], TWO_NODES).stdout
    option = f" --cpus-per-task={PUS // 2 * 2}"
    assert option in printed
    refused = slurm.run(printed.replace(option, ""))
    assert refused.returncode != 0
    assert "CPU binding outside of job step allocation" in refused.stderr
