"""LIKWID as a source of counters: a run under `likwid-perfctr`, without its pinning.

One group per run: LIKWID then never multiplexes sets of events, and its groups fit the counters by design. NUMA is
preferred where it exists, because models use local and remote bytes; MEM has only the controllers' bytes, and both in
one run would be multiplexed. PUs are counted: every thread and child that runs there, and other programs' activity
there; built for perf, LIKWID follows the program and its children instead (``inherit`` in perfmon_perfevent.h).

likwid-perfctr splits the command at blanks, opens the program's affinity to all PUs (``affinity_pinProcesses`` in
luawid.c) and puts its folder first into LD_LIBRARY_PATH. It therefore starts our launcher, with the command in a file;
the mapping itself binds threads, and the launcher restores the variable.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Variables
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.host.packages import Package, packages
from numapredict.collect.measuring.counters.likwid.output import read_output
from numapredict.collect.measuring.counters.likwid.refusal import INSTALL, access_obstacle, paranoid_obstacle
from numapredict.collect.measuring.counters.likwid.tool import LikwidTool, installed
from numapredict.collect.measuring.counters.likwid.traffic import NAME, traffic_of, volumes_of
from numapredict.collect.measuring.counters.source import Obstacle, Traffic
from numapredict.collect.placing.launcher import launcher_command, write_arguments
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError

GROUPS = ("NUMA", "MEM")
"""The supported groups, the most informative first."""
_UNSAFE = re.compile(r"[\s%]")  # blanks end a word for LIKWID; %h, %j, %p, %r in a file's name are replaced
_BY_PERF = (
    "LIKWID counts by perf here, without the kernel's own traffic, and does not report whether it was multiplexed"
)


class LikwidSource:
    """Counts by the groups NUMA or MEM of an installed LIKWID 5.

    ``tool`` is the name or path of likwid-perfctr, ``group`` one of GROUPS instead of the best; ``root`` replaces / in
    tests.
    """

    name = NAME

    def __init__(
        self, topology: Topology, tool: str = "likwid-perfctr", root: Path = Path("/"), group: str | None = None
    ) -> None:
        self._topology = topology
        self._tool_name = tool
        self._root = root
        self._asked = group
        self._way: _Way | None = None  # once LIKWID has shown that it counts

    def obstacle(self) -> Obstacle | None:
        """Return why LIKWID cannot count here, or None; it runs LIKWID for its version and groups only."""
        try:
            self._prepared()
        except CounterError as error:
            return Obstacle(error.reason, error.remedies)
        return None

    @contextlib.contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator["LikwidCounting"]:
        """Return a run's counting; the first call tries a short count, and raises CounterError if that fails."""
        way = self._way or self._prepared()
        known = {pu for node in self._topology.nodes for core in node.cores for pu in core.pus}
        if not pus or not known.issuperset(pus):
            raise CounterError(f"LIKWID cannot count PUs {sorted(set(pus) - known)}: the topology has no such PUs")
        if _UNSAFE.search(str(folder.absolute())):
            raise CounterError(
                f"LIKWID takes commands apart at blanks and fills in percent signs: {str(folder)!r} has some; set "
                "TMPDIR to a folder without"
            )
        own = folder.absolute() / NAME
        own.mkdir()
        try:
            found = packages(self._root)
            counted = with_every_package(pus, found)
            if self._way is None:
                volumes_of(way.group, read_output(way.tool.try_out(way.group, counted, own / "trial.csv")))
                self._way = way
            notes = (_BY_PERF,) if way.by_perf else ()
            run = _Run(way.group, counted, tuple(pus), self._topology, found, notes)
            yield LikwidCounting(way.tool.path, own, run)
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def _prepared(self) -> "_Way":
        """Return how LIKWID counts here, as far as known without counting; raise CounterError."""
        tool = installed(self._tool_name)
        if tool is None:
            raise CounterError(f"{self._tool_name} is not installed", (INSTALL,))
        known = tool.groups()
        major, minor = tool.version()
        if major != 5:
            raise CounterError(f"{tool.path} is LIKWID {major}.{minor}, and only version 5 is understood", (INSTALL,))
        wanted = (self._asked,) if self._asked else GROUPS
        group = next((name for name in wanted if name in known and name in GROUPS), None)
        if group is None:
            raise CounterError(
                f"LIKWID has no group {' or '.join(wanted)} for this processor, but {', '.join(sorted(known)[:12])}"
            )
        by_perf, superuser = tool.counts_by_perf(), os.geteuid() == 0
        obstacle = (
            paranoid_obstacle(self._root, group, superuser)
            if by_perf
            else access_obstacle(self._root, tool.daemon, superuser)
        )
        if obstacle is not None:
            raise CounterError(obstacle.reason, obstacle.remedies)
        return _Way(tool, group, by_perf)


class _Way(msgspec.Struct, frozen=True):
    """How LIKWID counts here: the tool, its group, and whether it was built for perf."""

    tool: LikwidTool
    group: str
    by_perf: bool


class _Run(msgspec.Struct, frozen=True):
    """What interprets a run's figures: the PUs that LIKWID counts, and those of the program among them."""

    group: str
    counted: tuple[int, ...]
    pus: tuple[int, ...]
    topology: Topology
    packages: tuple[Package, ...]
    notes: tuple[str, ...]


class LikwidCounting:
    """One run under likwid-perfctr."""

    def __init__(self, tool: str, folder: Path, run: _Run) -> None:
        self._tool = tool
        self._folder = folder
        self._run = run

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        """Return likwid-perfctr's command line, around the launcher's, around the program's."""
        # A link, because the launcher's path may contain blanks.
        launcher = self._folder / "launch"
        # Empty is as good as unset: ld.so(8) looks nowhere for it.
        own = {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        words = launcher_command(command, {**own, **variables})
        launcher.symlink_to(Path(words[0]).absolute())
        wrapped = write_arguments((str(launcher), *words[1:]), self._folder / "arguments")
        pus = ",".join(map(str, self._run.counted))
        return (self._tool, "-c", pus, "-g", self._run.group, "-O", "-o", str(self._folder / "counts.csv"), *wrapped)

    def traffic(self) -> Traffic:
        """Return what the run moved."""
        run = self._run
        output = read_output(kernel_text(self._folder / "counts.csv"))
        traffic = traffic_of(run.group, output, run.topology, run.packages, run.pus)
        return msgspec.structs.replace(traffic, notes=(*traffic.notes, *run.notes))


def with_every_package(pus: Sequence[int], found: Sequence[Package]) -> tuple[int, ...]:
    """Return the PUs and the first one of each package that has none of them, in order.

    Without it LIKWID would not read that package's controllers, and the program's pages may be there.
    """
    others = (package.pus[0] for package in found if not set(package.pus) & set(pus))
    return tuple(sorted({*pus, *others}))
