"""Runs inside a guest: experiments, whose answers are written as JSON on standard output.

    python -m tests.guest.experiments NAME ARGUMENT [NAME ARGUMENT]...

A list with the answer of each, or, where it failed, what Python says of that as a text.

starts PROGRAM      pages by node of a program started on each node in turn
balancing PROGRAM   pages by node while the kernel's NUMA balancing is at work
teams PROGRAM       what it prints under 16 threads on 4 nodes, contiguous and scatter
masks PROGRAM       what it hears of its PUs under two mappings, and without the library restricted to theirs
shares PROGRAM      where its threads' pages are when each has ended its share of a region
arrays REQUEST      where the pages of a program's arrays are under each mapping
early PROGRAM       pages by node of memory from before the library's start, by mapping
crowded PROGRAM     how a program with more memory than may be cut fares, alone and under mappings
variables PROGRAM   of each variable, where its touched pages are, and the share of touches from other nodes
timed PROGRAM       what its variables cost in time: what judged, and the rounds of each
replays PROGRAM     what came of replays of its region under mappings with other page nodes
declined PROGRAM    the longest run of interleaved pages on one node, where huge pages are wanted and declined
userfaults PROGRAM  what a program that fills in its pages itself says, alone and under mappings

The first two run it once with its threads bound by the OpenMP runtime, and once under the library.
"""

import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec

from numapredict.collect.capturing.exchange import VARIABLE, AskedRegion, Outcome, variable_text
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.command import launch
from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.preload import PlacementFiles, preload_environment
from numapredict.native.library import capture_library, placement_library
from numapredict.predictor.variables.session import Question, ask
from tests.guest.kernel_setting import BALANCING_SETTING, HUGE_SETTING, MAPPINGS_SETTING, kernel_setting
from tests.guest.placements import NOWHERE, paged
from tests.small_pages import decline_huge_pages

PAGE_BYTES = 4096
FEW_MAPPINGS, OWN_MAPPINGS, CROWD = 1000, 300, 300  # blocks of 50 pages, each cut into at least three
EARLY_LABELS = (
    "16x4-contiguous-interleave",
    "8x2-contiguous-interleave@3",
    "16x4-contiguous-balance",
    "16x4-contiguous-bind@1",
    "8x2-contiguous-remote@1",
    "16x4-contiguous-first-touch",
    "16x4-contiguous-dataset",
)
# The kernel looks at a process's pages this often; the defaults would make the experiment take minutes.
SCAN = {"scan_delay_ms": 20, "scan_period_min_ms": 50, "scan_period_max_ms": 100, "scan_size_mb": 64}
REPLAYED = {
    "replayed": (
        "4x4-contiguous-first-touch",
        "4x4-contiguous-interleave",
        "4x1-contiguous-remote",
        "4x4-contiguous-bind@1",
    ),
    "touched": (
        "4x4-contiguous-first-touch",
        "4x4-contiguous-locality",
        "4x4-contiguous-balance",
        "4x4-contiguous-mix",
        "4x4-contiguous-dataset",
    ),
}
BALANCED_S = 60  # at most, until it has moved pages


class ArraysRequest(msgspec.Struct, frozen=True):
    """A program that names its arrays (programs/arrays.h), and the mappings to run it under."""

    command: tuple[str, ...]
    labels: tuple[str, ...]


def starts(program: str) -> dict[str, list[str]]:
    """Start the program on the first CPU of each node, free to run anywhere, as a shell that was there would."""
    topology = host_topology()
    mapping = parse_label(f"{topology.core_count}x{len(topology.cpu_nodes)}-contiguous-first-touch")
    everywhere = os.sched_getaffinity(0)
    all_cpus = ",".join(map(str, sorted(everywhere)))
    bound = {**os.environ, **dict(launch(resolve(mapping, topology)).environment)}
    placed = preload_environment(os.environ, resolve(mapping, topology), str(placement_library()))
    answers: dict[str, list[str]] = {"runtime": [], "library": []}
    for node in topology.cpu_nodes:
        for way, environment in (("runtime", bound), ("library", placed)):
            os.sched_setaffinity(0, {node.cores[0].pus[0]})
            command = ["taskset", "-c", all_cpus, program, "1", "0"]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            answers[way].append(done.stdout.strip())
            os.sched_setaffinity(0, everywhere)
    return answers


def balancing(program: str) -> dict[str, str]:
    """Let threads of all nodes read what the main thread put on one node: until the kernel has moved some, then longer.

    Under the library it reads for twice as long as the kernel needed to move a quarter of the pages before.
    """
    for name, value in SCAN.items():
        Path("/sys/kernel/debug/sched/numa_balancing", name).write_text(str(value))
    topology = host_topology()
    mapping = parse_label(f"4x{len(topology.cpu_nodes)}-contiguous-first-touch")
    bound = {**os.environ, **dict(launch(resolve(mapping, topology)).environment)}
    placed = preload_environment(os.environ, resolve(mapping, topology), str(placement_library()))
    with kernel_setting(BALANCING_SETTING, "1"):
        begun_s = time.monotonic()
        moved = _output([program, "4", str(BALANCED_S), "moved"], bound)
        longer_s = 2 * (time.monotonic() - begun_s)
        return {"runtime": moved, "library": _output([program, "4", f"{longer_s:.1f}"], placed)}


def teams(program: str) -> dict[str, str]:
    """Run the program under the library with both thread policies."""
    topology = host_topology()
    answers = {}
    for policy in ("contiguous", "scatter"):
        mapping = parse_label(f"16x4-{policy}-first-touch")
        environment = preload_environment(os.environ, resolve(mapping, topology), str(placement_library()))
        done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
        answers[policy] = done.stdout.strip()
    return answers


def masks(program: str) -> dict[str, list[str]]:
    """Run `affinity ask` with a mask of a mapping's PUs, and under the library by the mapping."""
    topology = host_topology()
    answers = {}
    for label in ("16x4-contiguous-locality", "6x3-scatter-interleave"):
        mapping = parse_label(label)
        pus = ",".join(str(slot.pu) for slot in resolve(mapping, topology).slots)
        placed = preload_environment(os.environ, resolve(mapping, topology), str(placement_library()))
        runs = ((["taskset", "-c", pus, program, "ask"], dict(os.environ)), ([program, "ask"], placed))
        answers[label] = [
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            for command, environment in runs
        ]
    return answers


def shares(program: str) -> list[str]:
    """Return the words that it prints with its threads on four nodes, and pages by locality."""
    placement = resolve(parse_label("4x4-contiguous-locality"), host_topology())
    return _output([program, "60"], preload_environment(os.environ, placement, str(placement_library()))).split()


def arrays(request_file: str) -> dict[str, dict[str, list[int]]]:
    """Return the node of each page of each array (-1: never touched, or no range covers it), by mapping."""
    request = msgspec.json.decode(Path(request_file).read_bytes(), type=ArraysRequest)
    topology = host_topology()
    folder = Path(os.environ["GUEST_FOLDER"])
    found = {}
    for label in request.labels:
        addresses, map_file = folder / "addresses", folder / "map"
        addresses.unlink(missing_ok=True)
        map_file.unlink(missing_ok=True)
        files = PlacementFiles(map=str(map_file))
        caller = {**os.environ, "ADDRESSES": str(addresses)}
        environment = preload_environment(
            caller, resolve(parse_label(label), topology), str(placement_library()), files
        )
        subprocess.run(request.command, env=environment, check=False, capture_output=True)
        where = _pages(map_file.read_text())
        found[label] = {
            name: [where.get(page, NOWHERE) for page in pages_of(start, size)]
            for name, start, size in read_addresses(addresses)
        }
    return found


def early(program: str) -> dict[str, dict[str, list[int]]]:
    """Return the pages of each array on each node, of a program that was started on the last node."""
    topology = host_topology()
    nodes_file = Path(os.environ["GUEST_FOLDER"]) / "nodes"
    everywhere = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    os.sched_setaffinity(0, topology.cpu_nodes[-1].cores[0].pus[:1])
    found = {}
    for label in EARLY_LABELS:
        nodes_file.unlink(missing_ok=True)
        caller = {**os.environ, "NODES": str(nodes_file)}
        environment = preload_environment(caller, resolve(parse_label(label), topology), str(placement_library()))
        subprocess.run(["taskset", "-c", everywhere, program], env=environment, check=True, capture_output=True)
        lines = [line.split() for line in nodes_file.read_text().splitlines()]
        found[label] = {name: [nodes.count(str(node.os_index)) for node in topology.nodes] for name, _, *nodes in lines}
    return found


def crowded(program: str) -> dict[str, dict[str, int | str]]:
    """Return what it prints with few mappings allowed, how many ranges were left, and how pages of others stood."""
    topology, map_file = host_topology(), Path(os.environ["GUEST_FOLDER"]) / "map"
    command = [program, str(CROWD), str(OWN_MAPPINGS)]
    with kernel_setting(MAPPINGS_SETTING, str(FEW_MAPPINGS)):
        alone = {**os.environ, "OMP_NUM_THREADS": "16"}
        answers: dict[str, dict[str, int | str]] = {"alone": {"output": _output(command, alone)}}
        for label in ("16x4-contiguous-dataset", "16x4-contiguous-locality", "16x4-contiguous-balance"):
            map_file.unlink(missing_ok=True)
            files = PlacementFiles(map=str(map_file))
            caller = dict(os.environ)
            environment = preload_environment(
                caller, resolve(parse_label(label), topology), str(placement_library()), files
            )
            output = _output(command, environment)
            found = parse_map(map_file.read_text())
            runs = [run for placed in found.ranges for run in placed.runs if run.wanted != NOWHERE != run.node]
            astray = sum(run.count for run in runs if run.node != run.wanted)
            decided = sum(run.count for run in runs)
            answers[label] = {"output": output, "left": found.left, "decided": decided, "astray": astray}
    return answers


def replays(program: str) -> dict[str, tuple[str, int, int, str]]:
    """Return, by mapping, what ended a replay, the pages that were copied, those astray, and what the program said."""
    folder, topology = Path(os.environ["GUEST_FOLDER"]), host_topology()

    def choose(_: AskedRegion) -> Generator[Placement, Outcome, None]:
        for label in REPLAYED[Path(program).name.split("-")[0]]:
            yield resolve(parse_label(label), topology)

    with Watcher(choose, folder / "replays") as watcher:
        settings = variable_text(watcher.name, str(folder / "regions"))
        environment = {**os.environ, "OMP_NUM_THREADS": "4", "LD_PRELOAD": str(capture_library()), VARIABLE: settings}
        output = _output([program], environment)
    # On a busy computer instances differ so much that another one is asked about, too.
    outcomes = [(replay.mapping, replay.outcome) for captured in reversed(watcher.found) for replay in captured.replays]
    return {label: (one.problem, one.pages, one.astray, output) for label, one in outcomes}


def declined(program: str) -> dict[str, int]:
    """Return how many pages of its largest range lie together, where the kernel makes huge pages, and not for it."""
    map_file, found = Path(os.environ["GUEST_FOLDER"]) / "map", {}
    placement = resolve(parse_label("4x4-contiguous-interleave"), host_topology())
    files = PlacementFiles(map=str(map_file))
    environment = preload_environment(os.environ, placement, str(placement_library()), files)
    with kernel_setting(HUGE_SETTING, "always"):
        for name, beforehand in (("huge", None), ("declined", decline_huge_pages)):
            map_file.unlink(missing_ok=True)
            command = [program, "16", "0"]
            subprocess.run(command, env=environment, check=True, capture_output=True, preexec_fn=beforehand)
            ranges = parse_map(map_file.read_text()).ranges
            found[name] = max(run.count for placed in ranges for run in placed.runs if run.node != NOWHERE)
    return found


def userfaults(program: str) -> dict[str, str]:
    """Return what a program that fills in its pages itself prints, alone and under mappings."""
    command, environment = [program, "mapped", "8"], {**os.environ, "OMP_WAIT_POLICY": "passive"}
    topology = host_topology()
    with kernel_setting(HUGE_SETTING, "always"):
        reported = {"alone": _output(command, {**environment, "OMP_NUM_THREADS": "6"})}
        for policy in ("locality", "mix", "dataset"):
            label = f"6x3-contiguous-{policy}"  # of three chunks, none ends where eight pages end
            placed = preload_environment(
                dict(environment), resolve(parse_label(label), topology), str(placement_library())
            )
            reported[label] = _output(command, placed)
    return reported


def variables(program: str) -> dict[str, dict[str, object]]:
    """Return what is said of the program's variables with a thread on each node; shares are those of five answers.

    An answer has some 50 touches of each, in which thread 0 has more than its quarter: the host emulates four CPUs on
    fewer, and the others start later.
    """
    answers = [ask(Question((program, "3"), mapping="4x4-contiguous-first-touch")) for _ in range(5)]
    large = [one for answer in answers for one in answer.variables if one.size_bytes > 1 << 20]
    found: dict[str, dict[str, object]] = {"": {"modelled": any(answer.modelled for answer in answers)}}
    for name in sorted({str(one.name) for one in large}):
        known = [one.requests for one in large if one.name == name and one.requests]
        remote, local = sum(one.remote for one in known), sum(one.local for one in known)
        by_node = [sum(served) for served in zip(*(one.by_node for one in known), strict=True)]
        found[name] = {"remote": remote / (remote + local), "by_node": by_node}
    return found


def timed(program: str) -> dict[str, object]:
    """Return by what the program's variables were judged, and of each that was timed the rounds."""
    for _ in range(4):  # a run may have too few samples for any variable to be worth the time
        answer = ask(Question((program, "1"), mapping="4x4-contiguous-first-touch", time=True))
        if answer.severity == "measured time":
            break
    costs = {str(one.name): one.time for one in answer.variables if one.time is not None}
    rounds = {name: one.rounds for name, one in costs.items()}
    return {"severity": answer.severity, "rounds": rounds, "notes": answer.notes}


def _output(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    return f"{done.returncode}: {done.stdout}{done.stderr}"


def read_addresses(file: Path) -> list[tuple[str, int, int]]:
    """Return name, start and size of each array."""
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(name, int(start), int(size)) for name, start, size in lines]


def pages_of(start: int, size_bytes: int) -> range:
    """Return the numbers of the pages that an array alone has."""
    return range(-(-start // PAGE_BYTES), (start + size_bytes) // PAGE_BYTES)


def _pages(text: str) -> dict[int, int]:
    """Return the node of every page of a map, by page number."""
    ranges = [paged(placed) for placed in parse_map(text).ranges]
    return {one.start + page: node for one in ranges for page, node in enumerate(one.nodes) if node != NOWHERE}


def answered(experiment: Callable[[str], object], argument: str) -> object:
    """Return an experiment's answer; what it did to this process's CPUs is undone, for the next one."""
    everywhere = os.sched_getaffinity(0)
    try:
        return experiment(argument)
    except Exception:
        return traceback.format_exc()
    finally:
        os.sched_setaffinity(0, everywhere)


if __name__ == "__main__":
    experiments = {
        "starts": starts,
        "balancing": balancing,
        "teams": teams,
        "masks": masks,
        "shares": shares,
        "arrays": arrays,
        "early": early,
        "crowded": crowded,
        "replays": replays,
        "declined": declined,
        "userfaults": userfaults,
        "variables": variables,
        "timed": timed,
    }
    asked = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    sys.stdout.write(json.dumps([answered(experiments[name], argument) for name, argument in asked]))
