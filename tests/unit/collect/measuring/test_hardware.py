"""Runs on any computer with one core: the topology is made up of PUs that this process may use."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.measuring.hardware import Computer, HardwareMachine
from numapredict.collect.placing import start as starts
from numapredict.collect.placing.process import Ending
from numapredict.collect.program import Program
from numapredict.collect.topology import Core, Node, Topology
from numapredict.native.errors import (
    InvalidMappingError,
    MissingNativePartError,
    UnrunnableProgramError,
    UnsupportedMappingError,
)

pytestmark = pytest.mark.native
ALLOWED = sorted(os.sched_getaffinity(0))
ONE = parse_label("1x1-contiguous-bind")


def here(nodes: int = 1, os_index: int = 0) -> Topology:
    """Return a topology of nodes that all live on allowed PUs, if there are as many, and on OS node ``os_index``."""
    return Topology(
        "this-computer",
        tuple(
            Node(i, os_index + i, (Core(i, (ALLOWED[i % len(ALLOWED)] + 1000 * (i >= len(ALLOWED)),)),), 1 << 30)
            for i in range(nodes)
        ),
        (),
        tuple(tuple(10.0 if i == j else 20.0 for j in range(nodes)) for i in range(nodes)),
    )


@pytest.fixture
def script(tmp_path: Path) -> "Script":
    return Script(tmp_path)


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the machine with OMP_* and numactl."""

    def missing() -> Path:
        raise MissingNativePartError("libnumaplace.so was not built: build it")

    monkeypatch.setattr(starts, "placement_library", missing)


class Script:
    """A program that notes each execution, with its environment, before it does what a line of shell says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"

    def program(self, line: str, *arguments: str, environment: tuple[tuple[str, str], ...] = ()) -> Program:
        path = self.folder / "app"
        path.write_text(
            f'#!/bin/sh\necho "$OMP_NUM_THREADS ${{OMP_PLACES-none}} $OMP_PROC_BIND" >> {self.log}\n{line}\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Program(name="app", command=(str(path), *arguments), environment=environment)

    @property
    def executions(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def test_a_warm_up_comes_before_the_repetitions(script: Script) -> None:
    machine = HardwareMachine(here(), repetitions=3, warm_up=2)
    measurement = machine.run(script.program("exit 0"), ONE)
    assert measurement.status == "ok"
    assert len(measurement.repetitions) == 3
    assert script.executions == ["1 none false"] * 5
    assert machine.executions == 5
    assert measurement.counters is None


def test_the_warm_up_is_not_counted_and_the_median_is_taken(script: Script) -> None:
    times = iter([100.0, 1.0, 5.0, 3.0])
    computer = Computer(lambda *_: Ending(next(times), 0, False, ""))
    measurement = HardwareMachine(here(), repetitions=3, computer=computer).run(script.program(""), ONE)
    assert [repetition.time_s for repetition in measurement.repetitions] == [1.0, 5.0, 3.0]
    assert measurement.time_s == 3.0


def test_arguments_reach_the_program_as_they_are(script: Script) -> None:
    program = script.program(
        'test "$1" = "a b" && test "$2" = \'$HOME\' && test "$X" = 1', "a b", "$HOME", environment=(("X", "1"),)
    )
    assert HardwareMachine(here(), repetitions=1).run(program, ONE).status == "ok"


def test_the_mapping_wins_over_the_callers_variables(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("OMP_NUM_THREADS", "77"), ("KMP_AFFINITY", "compact"), ("OMP_THREAD_LIMIT", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OMP_SCHEDULE", "dynamic")
    program = script.program(
        'test -z "$KMP_AFFINITY$OMP_THREAD_LIMIT" && test "$OMP_SCHEDULE$OMP_DYNAMIC" = dynamicfalse'
    )
    assert HardwareMachine(here(), repetitions=1).run(program, ONE).status == "ok"
    assert script.executions[0].startswith("1 ")


def test_a_crash_ends_the_measurement_at_once(script: Script) -> None:
    measurement = HardwareMachine(here()).run(script.program("echo no input >&2; exit 3"), ONE)
    assert (measurement.status, measurement.message) == ("crashed", "exit code 3: no input")
    assert measurement.repetitions == ()
    assert len(script.executions) == 1
    killed = HardwareMachine(here()).run(script.program("kill -SEGV $$"), ONE)
    assert killed.message == "killed by SIGSEGV"


def test_a_late_crash_counts_too(script: Script) -> None:
    program = script.program(f"test $(wc -l < {script.log}) -lt 3")
    assert HardwareMachine(here()).run(program, ONE).status == "crashed"


def test_a_hanging_program_runs_out_of_time(script: Script) -> None:
    measurement = HardwareMachine(here(), timeout_s=0.2).run(script.program("sleep 1000"), ONE)
    assert (measurement.status, measurement.repetitions) == ("timeout", ())
    assert "stopped" in measurement.message


def test_provenance_names_what_influences_times(script: Script) -> None:
    notes = dict(HardwareMachine(here(), repetitions=1).run(script.program(""), ONE).provenance)
    assert notes["source"] == "wall clock"
    assert notes["numa_balancing"]
    assert notes["transparent_hugepage"]
    assert notes["placement"].startswith("libnumaplace ")
    assert "numactl" not in notes
    assert notes["pages"] == "memory policy"


@pytest.mark.parametrize(
    ("policy", "method"), [("locality", "next touch"), ("dataset", "a chunk of each range a thread")]
)
def test_every_page_policy_is_handed_to_the_library(script: Script, policy: str, method: str) -> None:
    mapping = parse_label(f"2x2-contiguous-{policy}")
    machine = HardwareMachine(here(2, os_index=4), repetitions=1, warm_up=0)
    assert machine.supports(mapping)
    program = script.program(f'echo "$NUMAPLACE" > {script.folder}/asked')
    measurement = machine.run(program, mapping)
    assert measurement.status == "ok"
    assert dict(measurement.provenance)["pages"] == method
    asked = (script.folder / "asked").read_text()
    assert f";pages={policy};nodes=4,5;" in asked
    assert ";report=" in asked


def test_a_system_that_forbids_memory_policies_is_said(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "memory_policies_refused", lambda: "get_mempolicy: Operation not permitted")
    machine = HardwareMachine(here(2), repetitions=1, warm_up=0)
    mapping = parse_label("2x2-contiguous-locality")
    assert not machine.supports(mapping)
    with pytest.raises(UnsupportedMappingError, match=r"locality: this system refuses .*Operation not permitted"):
        machine.run(script.program(""), mapping)
    assert script.executions == []
    assert machine.run(script.program(""), parse_label("2x2-contiguous-first-touch")).status == "ok"
    assert HardwareMachine(here(), repetitions=1).supports(ONE)  # one node leaves no choice


@pytest.mark.usefixtures("without_library")
def test_page_policies_that_need_the_preload_library_say_so(script: Script) -> None:
    machine = HardwareMachine(here(2), repetitions=1)
    for policy in ("locality", "balance", "mix", "dataset"):
        mapping = parse_label(f"2x2-contiguous-{policy}")
        assert not machine.supports(mapping)
        with pytest.raises(UnsupportedMappingError, match=rf"page policy {policy} needs the preload .*not built"):
            machine.run(script.program(""), mapping)
    for label in (
        "2x2-contiguous-first-touch",
        "2x2-contiguous-interleave",
        "2x2-contiguous-bind@1",
        "1x1-contiguous-remote",
    ):
        assert machine.supports(parse_label(label))
    assert machine.supports(parse_label("1x1-contiguous-locality"))  # equal to bind
    assert script.executions == []


def test_a_static_program_is_placed_without_the_library(tmp_path: Path) -> None:
    (tmp_path / "static.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", tmp_path / "static", tmp_path / "static.c"], check=True)
    program = Program(name="static", command=(str(tmp_path / "static"),))
    machine = HardwareMachine(here(2), repetitions=1, warm_up=0)
    measurement = machine.run(program, parse_label("2x2-contiguous-first-touch"))
    assert measurement.status == "ok"
    notes = dict(measurement.provenance)
    assert "statically linked" in notes["placement"]
    assert "numactl" in notes  # what advice reads
    assert measurement.region_time_s is None
    with pytest.raises(UnsupportedMappingError, match=r"2x2-contiguous-mix: .* cannot place static: it is statically"):
        machine.run(program, parse_label("2x2-contiguous-mix"))


def test_impossible_mappings_are_refused(script: Script) -> None:
    machine = HardwareMachine(here())
    for mapping in (
        Mapping(2, 1, "contiguous", 1, "bind"),
        parse_label("2x2-scatter-interleave"),
        parse_label("1x1-contiguous-remote"),
    ):
        assert not machine.supports(mapping)
        with pytest.raises(InvalidMappingError):
            machine.run(script.program(""), mapping)


def test_a_program_that_cannot_start_is_refused(tmp_path: Path) -> None:
    machine = HardwareMachine(here(), repetitions=1)
    with pytest.raises(UnrunnableProgramError, match="no such file"):
        machine.run(Program(name="p", command=(str(tmp_path / "p"),)), ONE)
    with pytest.raises(UnrunnableProgramError, match=r"cannot start /bin/true: .*null"):
        machine.run(Program(name="p", command=("/bin/true", "a\0b")), ONE)


@pytest.mark.usefixtures("without_library")
def test_numactl_is_needed_for_a_memory_policy_only(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = tmp_path / "bin"
    shell.mkdir()
    (shell / "wc").symlink_to(shutil.which("wc") or "wc")
    monkeypatch.setenv("PATH", str(shell))
    machine = HardwareMachine(here(2), repetitions=1, warm_up=0)
    assert machine.run(script.program(""), parse_label("2x2-contiguous-first-touch")).status == "ok"
    with pytest.raises(MissingNativePartError, match="install the package numactl"):
        machine.run(script.program(""), parse_label("2x2-contiguous-interleave"))
    assert HardwareMachine(here(), repetitions=1).run(script.program(""), ONE).status == "ok"


def fake_numactl(folder: Path, body: str) -> str:
    """Put a numactl that does what a line of shell says into a folder, and return a PATH with it in front."""
    folder.mkdir()
    (folder / "numactl").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "numactl").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.usefixtures("without_library")
def test_a_refused_memory_policy_is_said(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusing = "echo 'set_mempolicy: Operation not permitted' >&2; exit 1"
    monkeypatch.setenv("PATH", fake_numactl(tmp_path / "bin", refusing))
    machine = HardwareMachine(here(2), repetitions=1, warm_up=0)
    with pytest.raises(UnsupportedMappingError, match=r"refuses the memory policy \(set_mempolicy: Operation not"):
        machine.run(script.program(""), parse_label("2x2-contiguous-interleave"))
    assert script.executions == []
    measurement = machine.run(script.program(""), parse_label("2x2-contiguous-first-touch"))
    assert dict(measurement.provenance)["numactl"] == "not used"


@pytest.mark.usefixtures("without_library")
@pytest.mark.parametrize(
    ("label", "options"),
    [
        ("2x2-contiguous-first-touch", ""),
        ("2x2-contiguous-interleave", "--interleave=4-5"),
        ("2x2-contiguous-bind@1", "--preferred=4"),
        ("1x1-contiguous-remote", "--preferred=5"),
    ],
)
def test_numactl_gets_os_indices(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, label: str, options: str
) -> None:
    noting = f'echo "$@" >> {tmp_path}/numactl.log; while [ "${{1#-}}" != "$1" ]; do shift; done; exec "$@"'
    monkeypatch.setenv("PATH", fake_numactl(tmp_path / "bin", noting))
    measurement = HardwareMachine(here(2, os_index=4), repetitions=1, warm_up=0).run(
        script.program(""), parse_label(label)
    )
    assert measurement.status == "ok"
    probe, run = (tmp_path / "numactl.log").read_text().splitlines()
    assert probe.endswith(" true")
    assert run.startswith("--physcpubind=")
    assert run.split()[1:-1] == options.split()
    assert run.endswith("/app")


@pytest.mark.skipif(shutil.which("numactl") is None, reason="numactl is not installed")
@pytest.mark.usefixtures("without_library")
def test_the_real_numactl_binds_the_process(script: Script) -> None:
    program = script.program(f"grep '^Cpus_allowed_list' /proc/self/status > {script.folder}/allowed")
    assert HardwareMachine(here(), repetitions=1).run(program, ONE).status == "ok"
    assert (script.folder / "allowed").read_text().split() == ["Cpus_allowed_list:", str(ALLOWED[0])]


def test_the_program_starts_on_its_processors_and_we_stay_on_ours(script: Script) -> None:
    program = script.program(f"grep '^Cpus_allowed_list' /proc/self/status > {script.folder}/allowed")
    assert HardwareMachine(here(), repetitions=1).run(program, ONE).status == "ok"
    assert (script.folder / "allowed").read_text().split() == ["Cpus_allowed_list:", str(ALLOWED[0])]
    assert sorted(os.sched_getaffinity(0)) == ALLOWED


PLACES = """
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(void)
{
    int cpu[64];
#pragma omp parallel
    cpu[omp_get_thread_num()] = sched_getcpu();
    FILE *file = fopen("cpus", "w");
    for (int i = 0; i < omp_get_max_threads(); i++)
        fprintf(file, "%d ", cpu[i]);
    return fclose(file);
}
"""


@pytest.mark.skipif(len(ALLOWED) < 2, reason="one core has one order only")
@pytest.mark.parametrize("way", ["library", "numactl"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_threads_run_where_the_mapping_says(
    tmp_path: Path, compiler: str, way: str, request: pytest.FixtureRequest
) -> None:
    if way == "numactl":
        request.getfixturevalue("without_library")
    (tmp_path / "places.c").write_text(PLACES)
    command = [compiler, "-O2", "-fopenmp", "-o", "places", "places.c"]
    if (
        shutil.which(compiler) is None
        or subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode
    ):
        pytest.skip(f"{compiler} with OpenMP is not installed")
    program = Program(name="places", command=("./places",), directory=str(tmp_path))
    first, second = ALLOWED[:2]
    for order in ((first, second), (second, first)):
        topology = msgspec.structs.replace(
            here(), nodes=(Node(0, 0, tuple(Core(i, (pu,)) for i, pu in enumerate(order)), 1 << 30),)
        )
        measurement = HardwareMachine(topology, repetitions=1).run(program, parse_label("2x1-contiguous-bind"))
        assert measurement.status == "ok", measurement.message
        region_time_s = measurement.region_time_s
        assert (region_time_s is not None) == (way == "library")
        assert region_time_s is None or 0 < region_time_s <= measurement.time_s
        assert tuple(map(int, (tmp_path / "cpus").read_text().split())) == order


def test_settings_that_make_no_sense_are_refused() -> None:
    for settings in ({"repetitions": 0}, {"warm_up": -1}, {"timeout_s": 0.0}, {"timeout_s": float("nan")}):
        with pytest.raises(ValueError, match=r"must be positive|at least one run"):
            HardwareMachine(here(), **settings)
