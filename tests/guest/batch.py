"""Commands that a guest's shell runs one after the other: prepared here and judged here, without a Python there.

To start one and to import what it needs takes longer under emulation than most of the commands.
"""

import shlex
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from numapredict.collect.domain import domains_of
from numapredict.collect.host.hwloc import topology_from_xml
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.preload import PlacementFiles, preload_environment
from numapredict.collect.topology import Core, Topology
from numapredict.native.library import placement_library
from tests.guest.errors import GuestError
from tests.guest.machine import ENVIRONMENT, Guest
from tests.guest.shape import LOCAL, Shape
from tests.shapes import shape as topology_of_cores

Answer = TypeVar("Answer")

REMOTE = 20  # what Linux takes between nodes where the firmware says nothing


@dataclass(frozen=True)
class Setting:
    """A setting of the guest's kernel, and what stands there in guests of the tests (SMALL_PAGES)."""

    file: Path
    usual: str


HUGE = Setting(Path("/sys/kernel/mm/transparent_hugepage/enabled"), "never")
JOINING_PAUSE = Setting(HUGE.file.parent / "khugepaged/scan_sleep_millisecs", "10000")
BALANCING = Setting(Path("/proc/sys/kernel/numa_balancing"), "0")
MOST_MAPPINGS = Setting(Path("/proc/sys/vm/max_map_count"), "65530")


@dataclass(frozen=True)
class Said:
    """What one command said and ended with, 128 + signal where one killed it."""

    code: int
    stdout: bytes
    stderr: bytes

    def __str__(self) -> str:
        """Return it as one text, to compare it with another."""
        return f"{self.code}: {self.stdout.decode()}{self.stderr.decode()}"


class Batch:
    """Commands for a guest of a shape, and after `run` what each of them `said`.

    Files of the commands go to `folder`; `new_file` names one that no other command has. `seen` is what hwloc sees.
    """

    def __init__(self, shape: Shape, folder: Path, order: Sequence[int] = ()) -> None:
        """Begin with no commands; ``order`` is that of `topology_of`."""
        self.shape, self.folder = shape, folder
        self.topology, self.seen = topology_of(shape, order), folder / "topology.xml"
        self._lines: list[str] = []
        self._count = 0

    def new_file(self, name: str) -> Path:
        """Return the path of a file that is not there yet."""
        self._count += 1
        return self.folder / f"{name}{self._count}"

    def line(self, text: str) -> None:
        """Add a line for the shell."""
        self._lines.append(text)

    def add(self, command: Sequence[str], environment: Mapping[str, str] | None = None, last: str = "") -> Path:
        """Add a command with these variables on top of the guest's own; return what names it for `said`.

        Its ``last`` word is one for the shell, which may be a variable of it.
        """
        place = self.new_file("said")
        words = [f"{name}={shlex.quote(value)}" for name, value in (environment or {}).items()]
        words += [*map(shlex.quote, command), *([last] if last else [])]
        self.line(f"{' '.join(words)} </dev/null >{place}.out 2>{place}.err; echo $? >{place}")
        return place

    def placement(self, label: str) -> Placement:
        """Return what a label means in the guest."""
        return resolve(parse_label(label), self.topology)

    def placed(
        self, label: str, files: PlacementFiles | None = None, caller: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the variables that place a program under a mapping by the preload library."""
        here = {**ENVIRONMENT, **(caller or {})}
        return preload_environment(here, self.placement(label), str(placement_library()), files)

    def wait(self, file: Path) -> None:
        """Add that the guest waits for a file from here."""
        self.line(f"until [ -e {file} ]; do sleep 0.2; done")

    @contextmanager
    def setting(self, setting: Setting, value: str) -> Iterator[None]:
        """Have a value of a setting for the commands that are added inside, and then the usual one."""
        self.line(f"echo {value} >{setting.file} || exit 9")
        yield
        self.line(f"echo {setting.usual} >{setting.file} || exit 9")

    def run(self, kernel_options: Sequence[str], timeout_s: float, meanwhile: Callable[[], None] | None = None) -> None:
        """Run all commands in one guest; ``meanwhile`` runs here, and makes the files that the guest waits for.

        Raises what ``meanwhile`` does, and GuestError unless hwloc sees there what the placements were made for.
        """
        script = self.folder / "script"
        script.write_text("\n".join([f"lstopo-no-graphics --of xml {self.seen}", *self._lines, "exit 0\n"]))
        stop = threading.Event()
        guest = Guest(self.shape, kernel_options, stop=stop)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(guest.run, ["sh", str(script)], self.folder, timeout_s=timeout_s)
            try:
                if meanwhile is not None:
                    meanwhile()
            except BaseException:
                stop.set()
                raise
            result = running.result()
        if result.exit_code:
            raise GuestError(f"the script left with {result.exit_code}: {result.stderr.decode()[-2000:]}")
        found, wanted = _outline(topology_from_xml(self.seen.read_bytes(), "")), _outline(self.topology)
        if found != wanted:
            raise GuestError(f"in the guest hwloc sees {found}, not {wanted}")

    def said(self, place: Path) -> Said:
        """Return what a command said."""
        out, err = (place.with_name(f"{place.name}.{which}") for which in ("out", "err"))
        return Said(int(place.read_text()), out.read_bytes(), err.read_bytes())


def answer_of(prepared: Generator[None, None, Answer]) -> Answer:
    """Return what a generator makes of its commands, which it added to a batch before its only yield."""
    try:
        next(prepared)
    except StopIteration as end:
        return end.value
    raise RuntimeError("one batch, one answer")


def topology_of(shape: Shape, order: Sequence[int] = ()) -> Topology:
    """Return the topology of a guest, as far as placements need it.

    ``order``: the numbers of its nodes, as hwloc counts them; a node without CPUs may come before others.
    """
    order = order or range(shape.all_nodes)
    table = shape.distances or [[LOCAL if a == b else REMOTE for b in order] for a in sorted(order)]
    cores = [shape.cpus_per_node // shape.threads_per_core if node < shape.nodes else 0 for node in order]
    apart = [[table[a][b] for b in order] for a in order]
    made = topology_of_cores(cores, distances=apart, l3_cores=max(cores) // shape.dies)
    own = shape.threads_per_core  # whose numbers follow each other
    nodes = (
        replace(node, os_index=number, cores=_numbered(node.cores, own))
        for node, number in zip(made.nodes, order, strict=True)
    )
    return replace(made, nodes=tuple(nodes))


def _numbered(cores: Sequence[Core], own: int) -> tuple[Core, ...]:
    return tuple(replace(core, pus=tuple(range(core.index * own, (core.index + 1) * own))) for core in cores)


def _outline(topology: Topology) -> tuple[list[object], object]:
    nodes: list[object] = [
        (
            node.os_index,
            [[core.pus for core in cores] for cores in domains_of(topology, node.index)],
            node.memory_bytes > 0,
        )
        for node in topology.nodes
    ]
    return nodes, topology.distances
