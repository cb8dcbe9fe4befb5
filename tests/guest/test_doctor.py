"""`numapredict doctor` and its loads on a computer with several nodes."""

import json
import sys

import pytest

from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape

pytestmark = pytest.mark.usefixtures("guests")

# A source that knows what the load is told to do, and so what it moves: the loads, their differences and the verdict
# are the real ones.
TRUSTED = """
import contextlib, json, sys
import msgspec
from numapredict.collect.measuring.counters.selftest import trials
from numapredict.collect.measuring.counters.source import NodeTraffic, Traffic
from numapredict.collect.measuring.counters.verdict import judge
from numapredict.collect.host.host import host_topology

topology = host_topology()
home = {core.pus[0]: node.index for node in topology.nodes for core in node.cores}

class Told:
    name = "told"
    def obstacle(self): return None
    @contextlib.contextmanager
    def counting(self, pus, folder): yield self
    def command(self, command, variables):
        self.words = command
        return tuple(command)
    def traffic(self):
        size, passes, memory, cpus = int(self.words[1]), int(self.words[2]), int(self.words[3]), self.words[4]
        (threads,) = {home[int(cpu)] for cpu in cpus.split(",")}
        local = topology.nodes[threads].os_index == memory
        moved = [2.0 * size * passes + 1e9, 0.0] if local else [1e9, 2.0 * size * passes]
        return Traffic("told", tuple(NodeTraffic(*(moved if n == threads else (0.0, 0.0))) for n in range(2)))

right = trials(Told(), topology)
# The same loads by a source that takes every access for a local one.
wrong = [
    msgspec.structs.replace(
        trial, counted=tuple(NodeTraffic(node.local_bytes + node.remote_bytes, 0.0) for node in trial.counted)
    )
    for trial in right
]
print(json.dumps([msgspec.to_builtins(judge(found)) for found in (right, wrong)]))

from numapredict.predictor.command_line.main import main
sys.exit(main(["doctor", "--json"]))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What one guest said: the verdicts in the first line, then the doctor."""
    folder = tmp_path_factory.mktemp("guest")
    environment = python_environment() | {"NUMAPREDICT_CACHE": str(folder)}
    result = Guest(Shape.parse("2x2")).run([sys.executable, "-c", TRUSTED], folder, environment, 900)
    assert result.exit_code == 0, result.stderr.decode()
    verdicts, _, doctor = result.stdout.decode().partition("\n")
    return verdicts, doctor


def test_the_doctor_names_what_does_not_work(said: tuple[str, str]) -> None:
    found = json.loads(said[1])
    assert (found["nodes"], found["cores"], found["counters"]) == (2, 4, None)
    assert {source["name"]: bool(source["obstacle"]["reason"]) for source in found["sources"]} == {
        "likwid": True,
        "perf": True,
        "resctrl": True,
    }
    facts = {fact["name"]: fact for fact in found["facts"]}
    assert facts["emulated"]["disturbs"]
    assert "node 1" in facts["free memory"]["value"]


def test_loads_on_every_node_tell_a_right_source_from_a_wrong_one(said: tuple[str, str]) -> None:
    right, wrong = json.loads(said[0])
    assert (right["believed"], right["remote_tested"]) == (True, True)
    assert right["factor"] == pytest.approx(2.0, rel=0.01)
    assert not wrong["believed"]
    assert "it counts nothing of node 0's remote accesses" in wrong["reasons"]
