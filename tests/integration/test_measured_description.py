"""`numapredict topology --measure` on this computer: a description that loads, and one line for what goes wrong."""

from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.modelled.description import load_description
from tests.command import SANDY, numapredict, refusal
from tests.integration.test_interrupted_commands import Running
from tests.integration.test_schemas import check

FOUR = {"HWLOC_SYNTHETIC": "node:4 core:6 pu:1"}


@pytest.mark.native
@pytest.mark.thorough
def test_this_computer_is_described_and_can_be_modelled(tmp_path: Path) -> None:
    made = tmp_path / "mine.toml"
    done = numapredict("topology", "--measure", "--output", str(made), "--json")
    assert done.returncode == 0, done.stderr
    assert (
        done.stderr.splitlines()[-1]
        == f"{made}: numapredict train --machine {made} makes a model of it, here or elsewhere"
    )
    found, here = load_description(str(made)), host_topology()
    assert (found.name, [node.cores for node in found.nodes]) == ("mine", [len(node.cores) for node in here.nodes])
    assert check("topology", done.stdout)["latency"]["read"] == [list(row) for row in found.read_latency_ns]
    assert all(" repetitions, spread " in dict(found.sources)[name] for name in ("latency.read", "core.frequency_GHz"))
    # A tenth of what any server has, and ten times: this computer is busy with other tests.
    assert 0.05 < found.frequency_GHz < 60
    assert 1 < found.shared_cache.latency_ns < 10_000
    assert 0.01 < found.thread_read_GBps[0][0] < 1000
    shown = numapredict("topology", "--machine", str(made))
    assert shown.stdout.startswith("mine: ")


@pytest.mark.parametrize(
    ("words", "environment", "complaint"),
    [
        (("--measure", *SANDY), {}, "--measure describes this computer"),
        (("--measure", "--list"), {}, "--measure describes this computer"),
        (("--output", "mine.toml"), {}, "--output is the file of --measure"),
        (("--measure", "--output", "mine.txt"), {}, "cannot write mine.txt: the name of a description ends in .toml"),
        (("--measure", "--output", "absent/mine.toml"), {}, "cannot write absent/mine.toml: No such file or directory"),
        (("--measure", "--output", "/proc/mine.toml"), {}, "cannot write /proc/mine.toml: "),
        (("--measure",), FOUR, "--measure is for this computer: unset HWLOC_XMLFILE"),
        (("--measure",), {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, "this is one of 2 tasks"),
    ],
)
def test_what_cannot_be_measured_or_written_gets_one_line(
    words: tuple[str, ...], environment: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    assert complaint in refusal(numapredict("topology", *words, cwd=tmp_path, **environment))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.native
def test_an_interrupted_measurement_leaves_nothing(tmp_path: Path) -> None:
    running = Running("topology", "--measure", "-o", "mine.toml", cwd=tmp_path)
    probes = running.when(lambda: any("numapredict-probe" in line for line in running._marked()))
    code, lines = probes.interrupted()
    assert code == 130, lines
    assert sum(line.startswith("numapredict: interrupted") for line in lines) == 1
    assert running.left() == []
    assert not (tmp_path / "mine.toml").exists()
