"""Campaigns over two nodes: the printed job array is submitted, killed and requeued, and its runs are merged."""

import contextlib
import os
import re
import shlex
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import read_dataset
from tests.guide import GUIDE, blocks
from tests.slurm.cluster import NODES, Cluster
from tests.slurm.login_node import LoginNode

PUS = len(os.sched_getaffinity(0))
pytestmark = pytest.mark.native
# Small programs on a described machine; their traces are kept, and the same for whoever asks.
MODELLED = ("--machine", "broadwell-2x10", "--size", "tiny", "--space", "thesis", "--init", "parallel")
CODELETS = ("cg-dot", "histogram", "stream-add", "pointer-chase", "hash-build", "spmv-csr", "jacobi-2d", "bfs-level")
FEW = tuple(word for name in CODELETS for word in ("--codelet", name))


@pytest.fixture
def login(slurm: Cluster, tmp_path: Path) -> LoginNode:
    return LoginNode(slurm, tmp_path)


def kill(words: str) -> int:
    """Send SIGKILL to all processes that have a text in their arguments, and return how many there were."""
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if words.encode() in (folder / "cmdline").read_bytes().replace(b"\0", b" "):
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
    return killed


def test_an_array_whose_nodes_were_killed_goes_on_when_it_is_requeued_and_ends_as_one_process_would(
    login: LoginNode,
) -> None:
    into = login.folder / "runs"
    options = shlex.join((*MODELLED, *FEW))
    script = login.type(f"numapredict collect campaign {options} --shards 2 --emit sbatch --into {into} | tee job.sh")
    assert "#SBATCH --array=0-1\n" in script
    job = login.type("sbatch --parsable job.sh").strip()
    while not any(source.record.measurements for source in login.journals()):
        time.sleep(0.01)
    assert kill(f"--shards 2 --into {into} --shard ") >= 1
    kept = sum(len(source.record.measurements) for source in login.journals())
    assert 0 < kept < 80
    # Requeued, a job waits for two minutes unless it is told not to. One that is just ending may not be requeued yet.
    for _ in range(10):
        for task in (0, 1):
            login.type(
                f"scontrol requeue {job}_{task} || true; scontrol update JobId={job}_{task} StartTime=now || true"
            )
        login.wait(job)
        journals = login.journals()
        if sum(len(source.record.measurements) for source in journals) >= 80:
            break
        time.sleep(1)
    # Each start has one of its own, but where the kill came before it had, or when all of its shard was done.
    assert len({source.path for source in journals}) >= 2
    assert {source.name.node for source in journals if source.name} <= set(NODES)
    ran = Counter((m.program, m.mapping.label) for source in journals for m in source.record.measurements)
    assert (len(ran), ran.total()) == (80, 80)  # what was finished was not run again
    login.type("numapredict collect merge runs --into data")
    login.type(f"numapredict collect campaign {options} --shards 1 --shard 0 --into alone")
    login.type("numapredict collect merge alone --into whole")
    assert login.digest("data") == login.digest("whole")


@pytest.mark.skipif(PUS < 2, reason="one core has one order only")
def test_a_measured_array_has_a_whole_node_a_job_and_each_node_its_control(login: LoginNode) -> None:
    options = "--program true --program 'sleep 0' --mapping 1x1-contiguous-bind --mapping 2x1-contiguous-bind"
    options += " --repetitions 1 --shards 2 --emit sbatch --time-limit 30 --into runs"
    script = login.type(f"numapredict collect campaign {options} | tee job.sh")
    assert "#SBATCH --exclusive\n#SBATCH --mem=0\n#SBATCH --time=30\n" in script
    login.wait(login.type("sbatch --parsable job.sh").strip())
    journals = login.journals()
    assert sorted(source.name.shard.number for source in journals if source.name) == [0, 1]
    assert len({source.kind for source in journals}) == 1
    assert all(len(source.header.topology.nodes[0].cores) == PUS for source in journals)
    assert [len(source.control) for source in journals] == [2, 2]
    assert all(m.status == "ok" for source in journals for m in source.control)
    # Both nodes are this computer, and its load is not theirs to answer for.
    login.type("numapredict collect merge runs --into data --keep-nodes")
    assert len(read_dataset(login.folder / "data").measurements) == 4


def test_what_the_guide_tells_to_type_for_many_nodes(login: LoginNode) -> None:
    (block,) = [block for block in blocks((GUIDE / "servers.md").read_text()) if block.words == ("sh", "slurm")]
    few = " ".join((*MODELLED, "--codelet", "cg-dot", "--codelet", "histogram", "--codelet", "stream-add"))
    for line in block.lines:
        smaller = line.replace("collect campaign ", f"collect campaign {few} ").replace("--shards 32", "--shards 4")
        printed = login.type(smaller.replace("sbatch --wait ", "sbatch --parsable "))
        if "sbatch --wait" in line:
            login.wait(printed.strip())
    dataset = read_dataset(login.folder / "data")
    assert re.fullmatch("numapredict collect campaign .* --init parallel --codelet cg-dot .*", dataset.made_by)
    assert len(dataset.programs) == 3
    assert len(login.journals()) == 4  # of the shard without a program, too
