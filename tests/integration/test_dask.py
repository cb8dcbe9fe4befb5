"""Commands on the workers of a Dask scheduler: the same bytes as without, also where a worker is killed at work."""

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import msgspec
import pytest
from distributed import Client, LocalCluster, Nanny

from numapredict.collect.campaign.dask_workers import run_on_scheduler
from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.campaign.plan import Batch
from numapredict.collect.campaign.workers import Refusal, Result
from numapredict.collect.data.dataset import TABLE_FILE, Dataset, read_dataset, write_dataset
from numapredict.collect.data.journal import JOURNAL_FILE, read_journal
from numapredict.collect.mapping import parse_label
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError, UnrunnableProgramError
from numapredict.predictor.command_line.main import main
from tests.command import SANDY
from tests.planted import planted_dataset

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Start a scheduler and two workers of one thread, which are replaced when killed, with variables of their own."""
    folder = tmp_path_factory.mktemp("dask")
    variables = {"NUMAPREDICT_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536"}
    with (
        pytest.MonkeyPatch.context() as patch,
        # What these name would be set here, too, and the workers differ from here, as they do elsewhere.
        dask.config.set({"distributed.nanny.pre-spawn-environ": {}}),
    ):
        patch.setenv("PYTHONHASHSEED", "6640")  # set in any case: taken back at the end
        with LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=str(folder),
            env=variables,
        ) as started:
            yield started


@contextlib.contextmanager
def one_killed(cluster: LocalCluster, *, running: bool) -> Iterator[None]:
    """Kill a worker that has a task, with ``running`` once it also runs a program; fail where none had one."""
    over = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not killed and not over.is_set():
            busy = [nanny for nanny in cluster.workers.values() if has_task(nanny) and (not running or children(nanny))]
            killed.extend(nanny.pid for nanny in busy[:1])
            time.sleep(0.01)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    def has_task(nanny: Nanny) -> bool:
        state = cluster.scheduler.workers.get(nanny.worker_address)
        return state is not None and bool(state.processing)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()
    assert killed


def children(nanny: Nanny) -> str:
    return "".join(path.read_text() for path in Path(f"/proc/{nanny.pid}/task").glob("*/children"))


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "user"))


def test_folds_give_the_same_bytes_with_a_worker_that_is_killed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(planted_dataset(3), tmp_path / "data")

    def bytes_of(name: str, *words: str) -> bytes:
        monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / f"{name}-cache"))  # nothing is known of earlier folds
        assert main([*words, str(tmp_path / "data"), "-o", str(tmp_path / name)]) == 0
        return (tmp_path / name).read_bytes()

    scheduler = ("--scheduler", cluster.scheduler_address)
    figure = bytes_of("here.svg", "report", "budget")
    before = cluster.scheduler.transition_counter
    assert bytes_of("there.svg", "report", "budget", *scheduler) == figure
    assert cluster.scheduler.transition_counter > before  # it was asked
    here = bytes_of("here", "evaluate")
    with one_killed(cluster, running=False):
        assert bytes_of("there", "evaluate", *scheduler) == here


def test_a_campaign_gives_the_same_bytes_with_a_worker_that_is_killed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        *("collect", "campaign", *SANDY, "--codelet", "ep-pairs", "--codelet", "stream-triad", "--size", "tiny"),
        *("--init", "serial", "--mapping", "2x1-contiguous-bind", "--mapping", "4x2-contiguous-locality"),
        *("--mapping", "4x2-scatter-interleave", "--into"),
    )
    monkeypatch.setenv("NUMAPREDICT_CACHE", cluster.workers[0].env["NUMAPREDICT_CACHE"])
    with one_killed(cluster, running=True):
        assert main([*words, str(tmp_path / "there"), "--scheduler", cluster.scheduler_address]) == 0
    journal = (tmp_path / "there" / JOURNAL_FILE).read_text()
    assert journal.count('"kind":"finished"') == len(read_journal(tmp_path / "there" / JOURNAL_FILE).measurements) == 6
    assert main([*words, str(tmp_path / "here")]) == 0
    assert (tmp_path / "there" / TABLE_FILE).read_bytes() == (tmp_path / "here" / TABLE_FILE).read_bytes()
    assert described(tmp_path / "there") == described(tmp_path / "here")


def described(folder: Path) -> Dataset:
    """Return a dataset but for who made it when."""
    return msgspec.structs.replace(read_dataset(folder), made_by="", created="")


def test_a_worker_that_would_run_something_else_is_named(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers' folder is the one that the tests were started in."""
    machine = modelled_machine("sandybridge-4x8")
    mappings = (parse_label("2x1-contiguous-bind"), parse_label("4x2-contiguous-bind@1"))
    monkeypatch.chdir(tmp_path)
    shutil.copy(sys.executable, "app")
    (tmp_path / "README.md").write_text("the workers have another one")

    def results(*command: str) -> list[Refusal | Result]:
        batch = Batch(Program(name="app", command=command), mappings)
        with Client(cluster) as client, contextlib.closing(run_on_scheduler(client, machine, [batch])) as found:
            return list(found)

    assert results("./missing") == [
        Refusal("app", "./missing: no such file; check the path, or build the program first", 2)
    ]
    with pytest.raises(UnrunnableProgramError, match=r"^Dask worker tcp://\S+: \./app: no such file"):
        results("./app")
    with pytest.raises(
        InvalidInputError, match=r"^Dask worker tcp://\S+: 'app' is another program there, or has other"
    ):
        results(sys.executable, "README.md")
