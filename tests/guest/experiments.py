"""Experiments for a guest: each adds commands to a batch, and when they have run says what they found.

starts       pages by node of a program started on two nodes in turn
balancing    pages by node while the kernel's NUMA balancing is at work
teams        what a program prints under 16 threads on 4 nodes, contiguous and scatter
masks        what it hears of its PUs under two mappings, and without the library restricted to theirs
shares       where its threads' pages are when each has ended its share of a region
arrays       where the pages of a program's arrays are under each mapping
early        pages by node of memory from before the library's start, by mapping
crowded      how a program with more memory than may be cut fares, alone and under mappings
variables    of each variable, where its touched pages are, and the share of touches from other nodes
replays      what came of replays of its region under mappings with other page nodes (tests/guest/replays.py)
declined     the longest run of interleaved pages on one node, where huge pages are wanted and declined
userfaults   what a program that fills in its pages itself says, alone and under mappings
rows         the nodes of the rows of a program's arrays, step by step, by mapping, and under a plan for one

The first two run it once with its threads bound by the OpenMP runtime, and once under the library.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from numapredict.collect.placing.command import launch
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.plan_file import Plan, write_plan
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.profile_file import Profile, read_profile
from numapredict.native.library import placement_library
from numapredict.predictor.variables.session import Question, ask
from tests.guest.batch import BALANCING, HUGE, MOST_MAPPINGS, Batch, Said
from tests.guest.machine import python_environment
from tests.guest.placements import NOWHERE, paged

Answer = TypeVar("Answer")
Prepared = Generator[None, None, Answer]

PAGE_BYTES = 4096
ROWS = 96
ROW_LABELS = ("8x4-contiguous-dataset", "16x4-scatter-dataset", "8x2-contiguous-dataset@4")
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
BALANCED_S = 60  # at most, until it has moved pages
SPREAD_S = 10  # some 50 touches of each variable in 3 s
MAPPING_OF_VARIABLES = "4x4-contiguous-first-touch"


class ArraysRequest(msgspec.Struct, frozen=True):
    """A program that names its arrays (programs/arrays.h), and the mappings to run it under."""

    command: tuple[str, ...]
    labels: tuple[str, ...]


def starts(program: Path, batch: Batch) -> Prepared[dict[str, list[str]]]:
    """Start the program on the first CPU of two nodes, free to run anywhere, as a shell that was there would."""
    label = f"{batch.topology.core_count}x{len(batch.topology.cpu_nodes)}-contiguous-first-touch"
    ways = {"runtime": dict(launch(batch.placement(label)).environment), "library": batch.placed(label)}
    started: dict[str, list[Path]] = {way: [] for way in ways}
    for node in (batch.topology.cpu_nodes[0], batch.topology.cpu_nodes[-1]):
        for way, environment in ways.items():
            there = ["taskset", "-c", str(node.cores[0].pus[0])]
            anywhere = ["taskset", "-c", every_pu(batch)]
            started[way].append(batch.add([*there, "env", *words_of(environment), *anywhere, str(program), "1", "0"]))
    yield
    return {way: [right(batch.said(place)).strip() for place in places] for way, places in started.items()}


def balancing(program: Path, batch: Batch) -> Prepared[dict[str, str]]:
    """Let threads of all nodes read what the main thread put on one node: until the kernel has moved some, then longer.

    Under the library it reads for twice as long as the kernel needed to move a quarter of the pages before.
    """
    for name, value in SCAN.items():
        batch.line(f"echo {value} >/sys/kernel/debug/sched/numa_balancing/{name} || exit 9")
    label = f"4x{len(batch.topology.cpu_nodes)}-contiguous-first-touch"
    bound, placed = dict(launch(batch.placement(label)).environment), batch.placed(label)
    with batch.setting(BALANCING, "1"):
        batch.line("began_ms=$(date +%s%3N)")
        moved = batch.add([str(program), "4", str(BALANCED_S), "moved"], bound)
        batch.line("longer_ms=$((2 * ($(date +%s%3N) - began_ms)))")
        longer = batch.add([str(program), "4"], placed, '"${longer_ms}e-3"')
    yield
    return {"runtime": str(batch.said(moved)), "library": str(batch.said(longer))}


def rows(program: Path, batch: Batch) -> Prepared[dict[str, list[list[str]]]]:
    """Run the program under mappings and with a plan for the first of them, from a profile made here."""
    ran = {label: batch.placed(label) for label in ROW_LABELS}
    there, base = batch.placement(ROW_LABELS[0]), ROW_LABELS[0].replace("dataset", "first-touch")
    profile = profile_of((str(program), str(ROWS), "800"), batch.new_file("profile"), there.mapping.threads)
    pages, plan = plan_of(profile, there), batch.new_file("plan")
    write_plan(Plan(batch.topology.fingerprint, batch.topology.name, base, pages=pages), plan)
    ran["plan"] = batch.placed(base, PlacementFiles(plan=str(plan)))
    said = {
        name: batch.add([str(program), str(ROWS), "1", *(["grow"] if name != "plan" else [])], environment)
        for name, environment in ran.items()
    }
    yield
    return {name: [line.split() for line in right(batch.said(place)).splitlines()] for name, place in said.items()}


def profile_of(command: Sequence[str], file: Path, threads: int) -> Profile:
    """Return the profile of a program under first touch, made on this computer."""
    cpus = sorted(os.sched_getaffinity(0))
    text = ",".join(str(cpus[slot % len(cpus)]) for slot in range(threads))
    settings = f"version=1;cpus={text};homes=0*{threads};threads=contiguous;pages=first-touch;nodes=0;profile={file}"
    own = {"LD_PRELOAD": str(placement_library()), "NUMAPLACE": settings, "OMP_NUM_THREADS": str(threads)}
    with file.with_suffix(".out").open("w") as said:  # as there: its buffer is in the heap
        subprocess.run(command, env=os.environ | own, check=True, stdout=said)
    return read_profile(file)


def teams(program: Path, batch: Batch) -> Prepared[dict[str, str]]:
    """Run the program under the library with both thread policies."""
    policies = ("contiguous", "scatter")
    ran = {policy: batch.add([str(program)], batch.placed(f"16x4-{policy}-first-touch")) for policy in policies}
    yield
    return {policy: right(batch.said(place)).strip() for policy, place in ran.items()}


def masks(program: Path, batch: Batch) -> Prepared[dict[str, list[str]]]:
    """Run `affinity ask` with a mask of a mapping's PUs, and under the library by the mapping."""
    ran = {}
    for label in ("16x4-contiguous-locality", "6x3-scatter-interleave"):
        pus = ",".join(str(slot.pu) for slot in batch.placement(label).slots)
        asking = [str(program), "ask"]
        ran[label] = (batch.add(["taskset", "-c", pus, *asking]), batch.add(asking, batch.placed(label)))
    yield
    return {label: [right(batch.said(place)) for place in places] for label, places in ran.items()}


def shares(program: Path, batch: Batch) -> Prepared[list[str]]:
    """Return the words that it prints with its threads on four nodes, and pages by locality."""
    place = batch.add([str(program), "60"], batch.placed("4x4-contiguous-locality"))
    yield
    return str(batch.said(place)).split()


def arrays(request_file: Path, batch: Batch) -> Prepared[dict[str, dict[str, list[int]]]]:
    """Return the node of each page of each array (-1: never touched, or no range covers it), by mapping."""
    request = msgspec.json.decode(request_file.read_bytes(), type=ArraysRequest)
    written = {}
    for label in request.labels:
        addresses, map_file = written[label] = batch.new_file("addresses"), batch.new_file("map")
        environment = batch.placed(label, PlacementFiles(map=str(map_file)), {"ADDRESSES": str(addresses)})
        batch.add(request.command, environment)
    yield
    found = {}
    for label, (addresses, map_file) in written.items():
        where = _pages(map_file.read_text())
        found[label] = {
            name: [where.get(page, NOWHERE) for page in pages_of(start, size)]
            for name, start, size in read_addresses(addresses)
        }
    return found


def early(program: Path, batch: Batch) -> Prepared[dict[str, dict[str, list[int]]]]:
    """Return the pages of each array on each node, of a program that was started on the last node."""
    there = ["taskset", "-c", str(batch.topology.cpu_nodes[-1].cores[0].pus[0])]
    anywhere = ["taskset", "-c", every_pu(batch), str(program)]
    ran = {}
    for label in EARLY_LABELS:
        nodes = batch.new_file("nodes")
        environment = batch.placed(label, caller={"NODES": str(nodes)})
        ran[label] = (batch.add([*there, "env", *words_of(environment), *anywhere]), nodes)
    yield
    found = {}
    for label, (place, nodes) in ran.items():
        right(batch.said(place))
        lines = [line.split() for line in nodes.read_text().splitlines()]
        found[label] = {name: [on.count(str(node.os_index)) for node in batch.topology.nodes] for name, _, *on in lines}
    return found


def crowded(program: Path, batch: Batch) -> Prepared[dict[str, dict[str, int | str]]]:
    """Return what it prints with few mappings allowed, how many ranges were left, and how pages of others stood."""
    command, ran = [str(program), str(CROWD), str(OWN_MAPPINGS)], {}
    with batch.setting(MOST_MAPPINGS, str(FEW_MAPPINGS)):
        alone = batch.add(command, {"OMP_NUM_THREADS": "16"})
        for label in ("16x4-contiguous-dataset", "16x4-contiguous-locality", "16x4-contiguous-balance"):
            map_file = batch.new_file("map")
            ran[label] = (batch.add(command, batch.placed(label, PlacementFiles(map=str(map_file)))), map_file)
    yield
    answers: dict[str, dict[str, int | str]] = {"alone": {"output": str(batch.said(alone))}}
    for label, (place, map_file) in ran.items():
        found = parse_map(map_file.read_text())
        runs = [run for placed in found.ranges for run in placed.runs if run.wanted != NOWHERE != run.node]
        astray = sum(run.count for run in runs if run.node != run.wanted)
        decided = sum(run.count for run in runs)
        output = str(batch.said(place))
        answers[label] = {
            "output": output,
            "left": found.left,
            "unasked": found.unasked,
            "decided": decided,
            "astray": astray,
        }
    return answers


def replays(folder: Path, batch: Batch) -> Prepared[dict[str, dict[str, tuple[str, int, int, str]]]]:
    """Return what came of the replays of each program in the folder (tests/guest/replays.py)."""
    programs = map(str, sorted(folder.iterdir()))
    command = [sys.executable, "-m", "tests.guest.replays", str(batch.new_file("replays")), *programs]
    place = batch.add(command, python_environment())
    yield
    answer: dict[str, dict[str, tuple[str, int, int, str]]] = json.loads(right(batch.said(place)))
    return answer


def declined(program: Path, batch: Batch) -> Prepared[dict[str, int]]:
    """Return how many pages of its largest range lie together, where the kernel makes huge pages, and not for it."""
    ran = {}
    with batch.setting(HUGE, "always"):
        for name, beforehand in (("huge", []), ("declined", [str(program.with_name("declining"))])):
            map_file = batch.new_file("map")
            environment = batch.placed("4x4-contiguous-interleave", PlacementFiles(map=str(map_file)))
            command = [*beforehand, "env", *words_of(environment), str(program), "16", "0"]
            ran[name] = (batch.add(command), map_file)
    yield
    found = {}
    for name, (place, map_file) in ran.items():
        right(batch.said(place))
        ranges = parse_map(map_file.read_text()).ranges
        found[name] = max(run.count for placed in ranges for run in placed.runs if run.node != NOWHERE)
    return found


def userfaults(program: Path, batch: Batch) -> Prepared[dict[str, str]]:
    """Return what a program that fills in its pages itself prints, alone and under mappings."""
    command = [str(program), "mapped", "8"]
    with batch.setting(HUGE, "always"):
        ran = {"alone": batch.add(command, {"OMP_NUM_THREADS": "6"})}
        for policy in ("locality", "mix", "dataset"):
            label = f"6x3-contiguous-{policy}"  # of three chunks, none ends where eight pages end
            ran[label] = batch.add(command, batch.placed(label))
    yield
    return {label: str(batch.said(place)) for label, place in ran.items()}


def variables(program: Path, batch: Batch) -> Prepared[dict[str, dict[str, object]]]:
    """Return what is said, by a profile, of the program's variables with a thread on each node.

    Of the touches of each, thread 0 has more than its quarter: the host emulates four CPUs on fewer, and the others
    start later.
    """
    profile = batch.new_file("profile")
    files = PlacementFiles(profile=str(profile))
    place = batch.add([str(program), str(SPREAD_S)], batch.placed(MAPPING_OF_VARIABLES, files))
    yield
    right(batch.said(place))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HWLOC_XMLFILE", str(batch.seen))
        answer = ask(Question(profile=profile, mapping=MAPPING_OF_VARIABLES))
    found: dict[str, dict[str, object]] = {"": {"modelled": answer.modelled}}
    for one in answer.variables:
        if one.size_bytes > 1 << 20 and one.requests:
            remote, local = one.requests.remote, one.requests.local
            found[str(one.name)] = {"remote": remote / (remote + local), "by_node": one.requests.by_node}
    return found


def right(said: Said) -> str:
    """Return the output of a command that must have ended well."""
    assert said.code == 0, said
    return said.stdout.decode()


def words_of(environment: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


def every_pu(batch: Batch) -> str:
    return ",".join(str(pu) for node in batch.topology.nodes for core in node.cores for pu in core.pus)


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
