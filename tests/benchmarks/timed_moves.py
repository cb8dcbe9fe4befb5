"""What moving pages, the region clock and a probe cost, by the clock of a timed guest.

`python -m tests.benchmarks.timed_moves guest-2x2`. Times are divided by the factor: microseconds of the described
machine. They are those of a timed guest, of no hardware. Of the kernel's work the guest charges the bytes that are
copied and cleared (tests/guest/timed/README.md): a move of a page shows these, against what the description says, and
of system calls, faults and signals only that they are there, since their instructions take what the emulation takes.
The same holds for the region clock's calls and the profile's faults; their own instructions are charged.
"""

import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.placement import resolve
from numapredict.collect.placing.launcher import launcher_command
from numapredict.collect.placing.preload import PlacementFiles, preload_environment
from numapredict.native.library import marks_library, placement_library
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.guest_output import Parts, guest_errors, named
from tests.benchmarks.programs import HERE, compiled
from tests.guest.machine import Guest
from tests.guest.timed.configuration import Timing, timing_of

INITIALISED = HERE.parent / "guest" / "programs" / "initialised.c"
PAGE_BYTES = 4096
SMALL, HUGE = (1, 64, 1024), (1, 4)
SMALL_OF_HUGE = 512
FROM, TO = 0, 1
METHODS = {"call": "move_pages(2)", "migratepages": "migratepages(8)", "touch": "next touch"}
REGION_BATCHES = 3
ITERATIONS, THREAD_KB = 20, 512


@dataclass(frozen=True)
class Subject:
    """Programs of one guest's script, for a machine: where they are, and how often each is measured."""

    machine: MachineDescription
    folder: Path
    rounds: int

    @property
    def label(self) -> str:
        """Return the mapping's label without its policy: a thread on every core."""
        return f"{self.machine.topology.core_count}x{len(self.machine.nodes)}-contiguous"

    def placed(self, policy: str, files: PlacementFiles | None = None) -> dict[str, str]:
        """Return the variables by which the preload library places a program."""
        placement = resolve(parse_label(f"{self.label}-{policy}"), self.machine.topology)
        return preload_environment({}, placement, str(placement_library()), files or PlacementFiles())

    def words(self, program: str, *arguments: object) -> list[str]:
        """Return a command of one of the programs."""
        return [str(self.folder / program), *map(str, arguments)]


def placed_command(variables: dict[str, str], command: Sequence[str]) -> str:
    """Return the shell's words that run a command with variables; what the guest preloads stays."""
    others = shlex.join(f"{name}={value}" for name, value in variables.items() if name != "LD_PRELOAD")
    libraries = f"LD_PRELOAD={variables['LD_PRELOAD']}:$LD_PRELOAD " if "LD_PRELOAD" in variables else ""
    return f"env {libraries}{others} {shlex.join(command)}"


def moves(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield name and shell's words of each way to move pages; `METHOD PAGES SIZE` is the name."""
    for method in METHODS:
        for size, counts in (("small", SMALL), ("huge", HUGE)):
            for pages in counts:
                command = subject.words("timed_moves", method, FROM, TO, pages, size, subject.rounds)
                # The caller of the first two is on the node where the pages are.
                place = placed_command(subject.placed("locality"), command) if method == "touch" else ""
                yield f"{method} {pages} {size}", place or shlex.join(["taskset", "-c", "0", *command])


def region_clocks(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield the empty region alone, with the library that marks regions, and with its clock."""
    command, preload = subject.words("empty_region", 1, REGION_BATCHES), {"LD_PRELOAD": str(marks_library())}
    for name, variables in (
        ("bare", {}),
        ("library", preload),
        ("clock", {**preload, "NUMAPREDICT_CENSUS": str(subject.folder / "guest" / "regions")}),
    ):
        for _ in range(subject.rounds):
            yield f"region {name}", placed_command(variables, command)


def probes(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield a program that is only placed by OpenMP, and one as a probe: launched, placed, profiled, timed."""
    threads = subject.machine.topology.core_count
    command = subject.words("initialised", "parallel", THREAD_KB * threads, ITERATIONS)
    plain = placed_command({"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}, command)
    folder = subject.folder / "guest"
    for number in range(subject.rounds):
        files = PlacementFiles(
            report=str(folder / f"report{number}"),
            profile=str(folder / f"profile{number}"),
            map=str(folder / f"map{number}"),
        )
        launched = launcher_command(command, {})
        yield "plain", plain
        yield "probe", placed_command(subject.placed("first-touch", files), launched)


def copied_us(machine: MachineDescription) -> tuple[float, float]:
    """Return what a page's bytes take that node 0's CPU moves: alone, and with the clearing of the page before it."""
    write_us = PAGE_BYTES / machine.thread_write_GBps[FROM][TO] / 1e3
    read_us = PAGE_BYTES / machine.thread_read_GBps[FROM][FROM] / 1e3
    return read_us + write_us, read_us + 2 * write_us


def move_figure(name: str, lines: Sequence[str], timing: Timing) -> Figure | None:
    """Return the figure of a part of what the guest's script said; None where it is of no move, or of none that ran."""
    method, *rest = name.split()
    if method not in METHODS or not lines:
        return None  # why a move did not run is on standard error
    pages, size = int(rest[0]), rest[1]
    small = pages * (SMALL_OF_HUGE if size == "huge" else 1)
    alone_us, cleared_us = copied_us(timing.machine)
    goal = f"by its bytes {alone_us:.2f}, cleared before {cleared_us:.2f}"
    bytes_each = "2 MB" if size == "huge" else "4 KB"
    called = f"{METHODS[method]}, {pages} page{'s' if pages > 1 else ''} of {bytes_each}: 4 KB"
    return Figure(called, "us", tuple(float(line) / small / timing.factor / 1e3 for line in lines), goal)


def other_figures(found: Sequence[tuple[str, tuple[str, ...]]], timing: Timing) -> Iterator[Figure]:
    """Yield the figures of all parts about regions and probes."""
    took = {
        name: [float(lines[0]) / timing.factor for which, lines in found if which == f"region {name}"]
        for name in ("bare", "library", "clock")
    }
    yield Figure("an empty region, 1 thread", "ns", tuple(took["bare"]))
    for name, what in (("library", "the library adds"), ("clock", "with the clock it adds")):
        yield Figure(what, "ns", tuple(a - b for a, b in zip(took[name], took["bare"], strict=True)))
    times = {
        way: [[float(line) for line in lines[1:]] for which, lines in found if which == way]
        for way in ("plain", "probe")
    }
    for name, measure in (("iteration", statistics.median), ("all but the first", sum)):
        sides = [[measure(run) for run in times[way]] for way in ("probe", "plain")]
        yield ratios(f"a probe over the plain run, {name}", *sides)


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", type=click.IntRange(1, 8), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, factor: float | None, rounds: int, as_json: bool) -> None:
    """Boot one guest and print what moves of pages, the region clock and a probe cost, moves as they come."""
    shown: list[Figure] = []
    rest: list[Figure] = []
    others: list[tuple[str, tuple[str, ...]]] = []

    def take(what: str, lines: tuple[str, ...]) -> None:
        figure = move_figure(what, lines, timing)
        if figure is None:
            others.append((what, lines))
            return
        shown.append(figure)
        if not as_json:
            show([figure], as_json=False)

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-moves-") as name:
        timing = timing_of(machine, factor)
        folder = Path(name)
        (folder / "guest").mkdir()
        compiled(HERE / "timed_moves.c", folder, options=("-fopenmp", "-Wl,--no-as-needed", "-lnuma"))
        compiled(HERE / "empty_region.c", folder)
        compiled(INITIALISED, folder)
        subject = Subject(timing.machine, folder, rounds)
        commands = [*moves(subject), *region_clocks(subject), *probes(subject)]
        script = "\n".join(f"{named(what)}\n{words} || echo failed: {what} >&2" for what, words in commands)
        environment = {"GUEST_PAYS": "timed_moves:migratepages:empty_region:initialised"}
        guest = Guest(timing.shape(), ("numa_balancing=disable", "transparent_hugepage=madvise"), timing)
        output = Parts(take)
        try:
            guest.run(["sh", "-c", script], folder / "guest", environment, 7200, (output, sys.stderr.buffer))
            output.end()
            rest = list(other_figures(others, timing))
        finally:
            if as_json:
                show([*shown, *rest], as_json=True)
        if not as_json:
            show(rest, as_json=False)


if __name__ == "__main__":
    main()
