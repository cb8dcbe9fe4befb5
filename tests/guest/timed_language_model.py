"""Runs inside a timed guest: tokens a second of llama.cpp, whose model's file another program has read before.

First a search, by the number that llama-bench prints. Then so many rounds, in each all ways in turn: before each, the
file is read in anew on the last node, or dropped from memory. Each search and run
prints a line of JSON as soon as it has ended. ONLY: no search, the first way and those in whose names this pattern is.

    python -m tests.guest.timed_language_model ROUNDS TOKENS ONLY LLAMA_BENCH MODEL
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from numapredict.collect.host.cached_file import nodes_of
from numapredict.collect.host.host import host_topology
from numapredict.collect.topology import Topology
from tests.guest.timed_session import asked, ready

METRIC = r"tg\d+ .* ([0-9.]+) ±"
POLICIES = ("locality", "dataset", "interleave")
INTERLEAVED = ("numactl", "--interleave=all")
DISTRIBUTED = ("--numa", "distribute")
"""Of llama.cpp: its threads take the nodes in turn, and each always the same part of the weights."""
HERE = ("numactl", "--cpunodebind=0", "--membind=0")


@dataclass(frozen=True)
class Way:
    """A way to run llama-bench: words before and after its own, or a mapping, and whether its file is in memory."""

    name: str
    threads: int
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    mapping: str = ""
    warm: bool = True


def ways(topology: Topology) -> Iterator[Way]:
    """Yield the ways: those of a team on all nodes, the first as it is, and those of one on the first node."""
    nodes, every, own = len(topology.cpu_nodes), topology.core_count, len(topology.cpu_nodes[0].cores)
    yield Way("as it is", every)
    yield Way("as it is, file not in memory", every, warm=False)
    yield Way("numactl --interleave=all", every, INTERLEAVED)
    yield Way("numactl --interleave=all, file not in memory", every, INTERLEAVED, warm=False)
    yield Way("numactl --interleave=all, -lm none", every, INTERLEAVED, ("-lm", "none"))
    yield Way("--numa distribute", every, after=DISTRIBUTED)
    yield Way("--numa distribute, file not in memory", every, after=DISTRIBUTED, warm=False)
    label = f"{every}x{nodes}-scatter-locality"  # has the threads on the same nodes
    yield Way(f"{label}, --numa distribute", every, after=DISTRIBUTED, mapping=label)
    for policy in POLICIES:
        label = f"{every}x{nodes}-contiguous-{policy}"
        yield Way(label, every, mapping=label)
    yield Way("one node: numactl --cpunodebind=0 --membind=0", own, HERE)
    label = f"{own}x1-contiguous-bind"
    yield Way(f"one node: {label}", own, mapping=label)


def prepare(model: Path, node: int, *, warm: bool) -> None:
    """Have the file in memory on the node alone, or not at all."""
    Path("/proc/sys/vm/drop_caches").write_text("3")
    if warm:
        words = ["numactl", f"--cpunodebind={node}", f"--membind={node}", "cat", str(model)]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def said(found: dict[str, Any]) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def search(command: list[str], folder: Path) -> None:
    """Ask by the metric, and say the answer."""
    found = asked(["--metric", METRIC, "--json", *command], folder)
    said({"search": json.loads(found.output) if found.exit_code == 0 else None, "errors": found.errors})


def run(way: Way, command: list[str], folder: Path) -> None:
    """Run in a way, and say the tokens a second and how many of the file's pages were on each node afterwards."""
    words = [*command, *way.after, "-t", str(way.threads), "-o", "json"]
    if way.mapping:
        ended = asked(["run", "-q", "--mapping", way.mapping, "--", *words], folder)
        code, output, errors = ended.exit_code, ended.output, ended.errors
    else:
        done = subprocess.run([*way.before, *words], capture_output=True, text=True, check=False)
        code, output, errors = done.returncode, done.stdout, done.stderr
    if code:
        raise SystemExit(f"{way.name} ended with exit code {code}: {errors}")
    nodes = nodes_of(Path(command[command.index("-m") + 1]))
    pages = [] if nodes is None else np.bincount(nodes[nodes >= 0], minlength=2).tolist()
    said({"way": way.name, "tokens_per_s": json.loads(output)[0]["avg_ts"], "pages": pages})


def main(rounds: str, tokens: str, only: str, program: str, model: str) -> None:
    """Search once, then run in every way, so often."""
    folder, topology = ready(), host_topology()
    last = topology.cpu_nodes[-1].os_index
    command = [program, "-m", model, "-p", "0", "-n", tokens, "-r", "1"]
    if not only:
        prepare(Path(model), last, warm=True)
        search(command, folder)
    first, *others = ways(topology)
    for _ in range(int(rounds)):
        for way in (first, *(way for way in others if re.search(only, way.name))):
            prepare(Path(model), last, warm=way.warm)
            run(way, command, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
