"""What a timed guest is checked by: a small program's times against those of the description, times the factor."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from numapredict.collect.modelled.description import MachineDescription
from tests.guest.timed.configuration import Timing

PROBE = Path(__file__).parents[1] / "programs" / "memory_probe.c"
CACHES = 4  # times the shared cache is what a thread goes through


@dataclass(frozen=True)
class Check:
    """One figure: what it is called, how the probe measures it, and what the description says, times the factor."""

    name: str
    kind: str
    cpus: tuple[int, ...]
    node: int
    expected: float  # chase: ns; read and write: GB/s


def checks(timing: Timing) -> Iterator[Check]:
    """Yield the latencies, one thread's and one node's bandwidths of all pairs of nodes, and how node 0's scales."""
    machine, factor = timing.machine, timing.factor
    nodes, cores = range(len(machine.nodes)), machine.nodes[0].cores
    for source in nodes:
        cpus = tuple(range(source * cores, (source + 1) * cores))
        for target in nodes:
            where = f"{source} to {target}"
            latency_ns = machine.read_latency_ns[source][target] * factor
            yield Check(f"latency {where}", "chase", cpus[:1], target, latency_ns)
            for kind in ("read", "write"):
                for team in sorted({1, cores}):
                    name = f"{kind} {where}, {team} thread{'s' if team > 1 else ''}"
                    speed = bandwidth_GBps(machine, (kind, source, target), team) / factor
                    yield Check(name, kind, cpus[:team], target, speed)
    for team in range(2, cores):
        speed = bandwidth_GBps(machine, ("read", 0, 0), team) / factor
        yield Check(f"read 0 to 0, {team} threads", "read", tuple(range(team)), 0, speed)


def bandwidth_GBps(machine: MachineDescription, stream: tuple[str, int, int], threads: int) -> float:
    """Return what threads of one node get from one node's memory: the least of threads, controller and links."""
    kind, source, target = stream
    reads = kind == "read"
    thread = (machine.thread_read_GBps if reads else machine.thread_write_GBps)[source][target]
    controller = (machine.controller_read_GBps if reads else machine.controller_write_GBps)[target]
    links = [machine.links[link] for link in machine.routes[source][target]]
    return min(threads * thread, controller, *(link.read_GBps if reads else link.write_GBps for link in links))


def built_probe(folder: Path) -> Path:
    """Compile the probe into a folder."""
    program = folder / "memory_probe"
    subprocess.run(["gcc", "-O2", "-pthread", "-o", str(program), str(PROBE)], check=True)
    return program


def probe_words(program: Path, check: Check, timing: Timing, rounds: int) -> str:
    """Return the shell's words that measure a check in the guest; they print a line a round."""
    kilobytes = 1 << (CACHES * timing.machine.shared_cache.size_bytes // 1024 - 1).bit_length()
    cpus = ",".join(map(str, check.cpus))
    return f"charged {program} {check.kind} {cpus} {check.node} {kilobytes} {rounds}"
