"""The TOML form of a machine description: its tables, and what makes them valid (see models/machines/README.md)."""

import itertools
import math
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from numapredict.native.errors import InvalidInputError

Count = Annotated[int, msgspec.Meta(ge=0, le=2**60)]
Row = tuple[float, ...]
Matrix = tuple[Row, ...]  # row = the cores' node, column = the memory's node


BOUNDS: dict[str, tuple[float, float]] = {
    "frequency_GHz": (0.01, 100),
    "cycles_per_instruction": (0.01, 1000),
    "reorder_window": (1, 100_000),
    "line_bytes": (8, 65_536),
    "page_bytes": (64, 2**34),
    "size_bytes": (64, 2**40),
    "ways": (1, 2**20),
    "latency_ns": (0.01, 1e6),
    "cores": (0, 4096),
    "memory_bytes": (0, 2**50),
    "read": (0.1, 1e7),
    "write": (0.1, 1e7),
    "read_GBps": (1e-3, 1e5),
    "write_GBps": (1e-3, 1e5),
    "ends": (0, 4095),
    "paths": (0, 4095),
    "measured_by": (0, 4095),
    "turbo_GHz": (0.01, 100),
    "threads": (1, 65_536),
    "smt_throughput": (1, 100),
    "inclusive": (0, 1),
    "cycles_from_native_run": (0, 1),
    "packages": (0, 4095),
    "nodes": (1, 1024),
    "fork_join_us": (1e-3, 1e6),
    "barrier_us": (1e-3, 1e6),
    "atomic_ns": (0.1, 1e7),
    "lock_ns": (0.1, 1e7),
    "other_cache_ns": (0.1, 1e6),
}
"""The bounds of each figure on any machine, in the figure's unit (of latencies ns or cycles).

They leave at least a factor of a hundred around known machines, and keep modelled times finite: light takes 0.03 ns for
a centimetre, and an access of 10 ms is not to memory.
"""
MOST_NODES, MOST_CORES, MOST_THREADS = 1024, 65_536, 16

# Counts, node numbers and truth values.
MAY_BE_ZERO = frozenset(
    {"cores", "memory_bytes", "ends", "paths", "measured_by", "packages", "inclusive", "cycles_from_native_run"}
)


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of figures; ``source`` is one text for all of them, or one text a figure."""

    source: str | dict[str, str]


class CoreTable(Table, frozen=True, kw_only=True):
    """One core's speed without waits for memory.

    ``turbo_GHz``: the frequency by active cores of a package, the first entry for one; the last holds for all further
    cores. ``threads``: hardware threads of a core (1 where absent). ``smt_throughput``: what a core executes a second
    when all its threads compute, over what it executes for one thread alone. ``cycles_from_native_run``: whether a
    program's own cycles per instruction, by its native run, take the place of ``cycles_per_instruction``.
    """

    frequency_GHz: float
    cycles_per_instruction: float
    reorder_window: Count
    cycles_from_native_run: bool | None = None
    turbo_GHz: Row = ()
    threads: Count | None = None
    smt_throughput: float | None = None


class MemoryTable(Table, frozen=True, kw_only=True):
    """The units of transfers and of placement: line and page size."""

    line_bytes: Count
    page_bytes: Count


class CacheTable(Table, frozen=True, kw_only=True):
    """Each core's last private cache."""

    size_bytes: Count
    ways: Count


class SharedCacheTable(CacheTable, frozen=True, kw_only=True):
    """The caches that several cores share.

    ``cores``: how many cores of a node share one; all of them where absent. ``inclusive``: whether lines in private
    caches take a place in it, too (true where absent); a victim cache holds what has left them.
    """

    latency_ns: float
    cores: Count | None = None
    inclusive: bool | None = None


class DieTable(Table, frozen=True, kw_only=True):
    """A die with ``cores`` cores of a node, and the bandwidth of its link to the memory controllers and other dies."""

    cores: Count
    read_GBps: float
    write_GBps: float


class NodesTable(Table, frozen=True, kw_only=True):
    """One entry a node; ``packages`` has the package of each, where absent each node is one of its own."""

    cores: tuple[Count, ...]
    memory_bytes: tuple[Count, ...]
    packages: tuple[Count, ...] = ()


class SynchronisationTable(Table, frozen=True, kw_only=True):
    """What a team of threads pays for waiting, one entry a team of ``threads`` threads spread evenly over ``nodes``.

    ``fork_join_us``: an empty parallel region. ``barrier_us``: a barrier in one. ``atomic_ns``, ``lock_ns``: while all
    threads of the team add to one counter, or enter one critical section, the time from one to the next. All of a team
    on the fewest shared caches of its nodes; ``other_cache_ns`` is what a changed line takes longer to a core of the
    same node under another one.
    """

    threads: tuple[Count, ...]
    nodes: tuple[Count, ...]
    fork_join_us: Row
    barrier_us: Row
    atomic_ns: Row
    lock_ns: Row
    other_cache_ns: float | None = None


class LatencyTable(Table, frozen=True, kw_only=True):
    """Time of one access that misses every cache; cycles are those of ``core.frequency_GHz``."""

    unit: Literal["ns", "cycles"]
    read: Matrix
    write: Matrix | None = None


class ControllersTable(Table, frozen=True, kw_only=True):
    """The bandwidth of all cores of a node to its memory, one entry a node."""

    read_GBps: Row
    write_GBps: Row


class LinksTable(Table, frozen=True, kw_only=True):
    """Directed links: ``ends`` are [core's side, memory's side]; ``paths`` fix routes among those of equal hops."""

    ends: tuple[tuple[Count, Count], ...]
    read_GBps: Row
    write_GBps: Row
    paths: tuple[tuple[Count, ...], ...] = ()


class BandwidthTable(Table, frozen=True, kw_only=True):
    """A bandwidth for every pair of nodes; ``measured_by[r]`` is the node whose cores row r was measured on."""

    read_GBps: Matrix
    write_GBps: Matrix
    measured_by: tuple[Count, ...] | None = None

    def by_node(self, rows: Matrix) -> Matrix:
        """Return the rows in the order of the nodes."""
        if self.measured_by is None:
            return rows
        return tuple(rows[self.measured_by.index(node)] for node in range(len(rows)))


class MachineFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file. Either ``controllers`` and ``links`` describe the interconnect, or ``node_bandwidth`` does."""

    name: str
    summary: str
    core: CoreTable
    memory: MemoryTable
    private_cache: CacheTable
    shared_cache: SharedCacheTable
    nodes: NodesTable
    latency: LatencyTable
    thread_bandwidth: BandwidthTable
    die: DieTable | None = None
    controllers: ControllersTable | None = None
    links: LinksTable | None = None
    node_bandwidth: BandwidthTable | None = None
    synchronisation: SynchronisationTable | None = None

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table that the file has, with its name."""
        for name in self.__struct_fields__:
            table = getattr(self, name)
            if isinstance(table, Table):
                yield name, table

    def sources(self) -> tuple[tuple[str, str], ...]:
        """Return (figure, source) for every figure of the file."""
        return tuple(
            (f"{name}.{figure}", table.source if isinstance(table.source, str) else table.source[figure])
            for name, table in self.tables()
            for figure in _figures(table)
        )


def parse_file(data: bytes, where: str) -> MachineFile:
    """Return the tables of a description; ``where`` names the file in errors. Raises InvalidInputError."""
    try:
        tables = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # ValueError: invalid UTF-8 or TOML, a number of thousands of digits
        raise InvalidInputError(f"machine description {where}: not a TOML file: {error}") from error
    try:
        file = msgspec.convert(tables, MachineFile)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        field = path.rstrip("`")
        raise InvalidInputError(f"machine description {where}: {field + ': ' if field else ''}{message}") from error
    for problem in _problems(file):
        raise InvalidInputError(f"machine description {where}: {problem}")
    return file


def _figures(table: Table) -> tuple[str, ...]:
    fields = (name for name in table.__struct_fields__ if name not in ("source", "unit"))
    return tuple(name for name in fields if getattr(table, name) not in (None, ()))


def _problems(file: MachineFile) -> Iterator[str]:
    """Yield the problems of a file whose fields have the right types, the most basic first."""
    if not file.name.strip() or not file.summary.strip():
        yield "name and summary must say something"
    for name, table in file.tables():
        yield from _source_problems(name, table)
    yield from _shape_problems(file)
    for name, table in file.tables():
        for figure in _figures(table):
            for value in _numbers(getattr(table, figure)):
                if not math.isfinite(value) or value < 0 or (value == 0 and figure not in MAY_BE_ZERO):
                    yield f"{name}.{figure}: {value} is not a positive number"
                least, most = BOUNDS[figure]
                if not least <= value <= most:
                    yield f"{name}.{figure}: {value:g} is outside {least:g} to {most:g}; check its unit"
    yield from _size_problems(file)
    yield from _core_problems(file)


def _source_problems(name: str, table: Table) -> Iterator[str]:
    """Yield the figures of a table that have no source."""
    if isinstance(table.source, str):
        if not table.source.strip():
            yield f"{name}.source is empty: say where the figures come from, or 'assumption: ' and why"
        return
    figures = _figures(table)
    for figure in figures:
        if not table.source.get(figure, "").strip():
            yield f"{name}.source has nothing for {figure}: say where it comes from, or 'assumption: ' and why"
    for extra in table.source:
        if extra not in figures:
            yield f"{name}.source names {extra}, which the table does not give"


def _shape_problems(file: MachineFile) -> Iterator[str]:
    """Yield the lists and matrices that do not match the number of nodes."""
    count = len(file.nodes.cores)
    if count == 0 or len(file.nodes.memory_bytes) != count:
        yield f"nodes: {count} entries in cores and {len(file.nodes.memory_bytes)} in memory_bytes; they must match"
    cores = sum(file.nodes.cores)
    if count > MOST_NODES or cores > MOST_CORES:
        yield f"nodes: {count} nodes with {cores} cores; at most {MOST_NODES} and {MOST_CORES} are modelled"
    pairs = [(name, table) for name, table in file.tables() if isinstance(table, BandwidthTable)]
    matrices: list[tuple[str, Matrix | None]] = [
        ("latency.read", file.latency.read),
        ("latency.write", file.latency.write),
    ]
    matrices += [(f"{name}.read_GBps", table.read_GBps) for name, table in pairs]
    matrices += [(f"{name}.write_GBps", table.write_GBps) for name, table in pairs]
    for name, matrix in matrices:
        if matrix is not None and (len(matrix) != count or any(len(row) != count for row in matrix)):
            yield f"{name}: must have {count} rows of {count} numbers, one for each node"
    for name, table in pairs:
        if table.measured_by is not None and sorted(table.measured_by) != list(range(count)):
            yield f"{name}.measured_by: must name each node from 0 to {count - 1} once"
    if (file.node_bandwidth is None) == (file.controllers is None and file.links is None):
        yield "give either node_bandwidth, or controllers and links"
    elif file.node_bandwidth is None and (file.controllers is None or (file.links is None and count > 1)):
        yield f"{'controllers' if file.controllers is None else 'links'}: missing; or give node_bandwidth"
    yield from _part_problems(file, count)


def _part_problems(file: MachineFile, count: int) -> Iterator[str]:
    """Yield the lists of parts of the machine that do not match the number of nodes."""
    if file.controllers is not None:
        for name, row in (("read_GBps", file.controllers.read_GBps), ("write_GBps", file.controllers.write_GBps)):
            if len(row) != count:
                yield f"controllers.{name}: {len(row)} numbers for {count} nodes"
    if file.links is not None:
        yield from _link_problems(file.links, count)
    if file.nodes.packages and len(file.nodes.packages) != count:
        yield f"nodes.packages: {len(file.nodes.packages)} numbers for {count} nodes"
    if file.synchronisation is not None:
        yield from _team_problems(file.synchronisation, count, sum(file.nodes.cores) * (file.core.threads or 1))


def _link_problems(links: LinksTable, count: int) -> Iterator[str]:
    """Yield the problems of single links; ``routes_over`` checks that they reach every node."""
    for name, row in (("read_GBps", links.read_GBps), ("write_GBps", links.write_GBps)):
        if len(row) != len(links.ends):
            yield f"links.{name}: {len(row)} numbers for {len(links.ends)} links"
    for source, target in links.ends:
        if source == target or max(source, target) >= count:
            yield f"links.ends: [{source}, {target}] does not join two of the {count} nodes"
    if len(set(links.ends)) != len(links.ends):
        yield "links.ends: a link appears twice; give parallel links as one with their joint bandwidth"


def _team_problems(table: SynchronisationTable, count: int, most: int) -> Iterator[str]:
    """Yield the problems of the list of teams on ``count`` nodes that can run ``most`` threads."""
    teams = len(table.threads)
    if not teams:
        yield "synchronisation.threads: names no team; give at least one"
    for name in _figures(table):
        if name != "other_cache_ns" and len(getattr(table, name)) != teams:
            yield f"synchronisation.{name}: {len(getattr(table, name))} numbers for {teams} teams"
    known = list(zip(table.threads, table.nodes, strict=False))
    for threads, nodes in known:
        if not max(nodes, 2) <= threads <= (most or threads) or not 1 <= nodes <= count:
            yield f"synchronisation: no team of {threads} threads can stand on {nodes} of the {count} nodes"
    if len(set(known)) != len(known):
        yield "synchronisation: a team appears twice"
    # A region ends with a barrier. Measured times vary, so only what is far less than one is a mistake.
    for region_us, barrier_us in zip(table.fork_join_us, table.barrier_us, strict=False):
        if region_us < barrier_us / 10:
            yield f"synchronisation.fork_join_us: {region_us:g} with a barrier of {barrier_us:g}; check the unit"


def _core_problems(file: MachineFile) -> Iterator[str]:
    """Yield impossible numbers of hardware threads and of cores."""
    core, shared = file.core, file.shared_cache
    if (core.threads or 1) > 1 and core.smt_throughput is None:
        yield "core.smt_throughput: missing for cores with several threads"
    if core.smt_throughput is not None and core.smt_throughput > (core.threads or 1):
        yield f"core.smt_throughput: {core.smt_throughput:g} is outside 1 to core.threads, which is {core.threads or 1}"
    if any(later > earlier for earlier, later in itertools.pairwise(core.turbo_GHz)):
        yield "core.turbo_GHz: grows with the active cores; the first entry is for one"
    of_package = Counter[int]()
    for package, cores in zip(file.nodes.packages or itertools.count(), file.nodes.cores, strict=False):
        of_package[package] += cores
    if len(core.turbo_GHz) > (most := max(of_package.values())):
        yield f"core.turbo_GHz: {len(core.turbo_GHz)} entries, and the largest package has {most} cores"
    if (core.threads or 1) > MOST_THREADS:
        yield f"core.threads: {core.threads} hardware threads a core; at most {MOST_THREADS} are modelled"
    if shared.cores is not None and shared.cores > max(file.nodes.cores, default=0):
        yield f"shared_cache.cores: {shared.cores} cores share one, and no node has so many"
    if file.die is not None and not 0 < file.die.cores <= max(file.nodes.cores, default=0):
        yield f"die.cores: a die has {file.die.cores} cores, and no node so many, or none"
    if shared.cores == 0:
        yield "shared_cache.cores: a cache that no core shares; leave it out where all cores of a node share one"


def _size_problems(file: MachineFile) -> Iterator[str]:
    """Yield impossible cache and page sizes."""
    for name, size in (("line_bytes", file.memory.line_bytes), ("page_bytes", file.memory.page_bytes)):
        if size & (size - 1):
            yield f"memory.{name}: {size} is not a power of two"
    if file.memory.page_bytes < file.memory.line_bytes:
        yield f"memory.page_bytes: {file.memory.page_bytes} is smaller than a line"
    caches: dict[str, CacheTable] = {"private_cache": file.private_cache, "shared_cache": file.shared_cache}
    for name, cache in caches.items():
        way_bytes = cache.ways * file.memory.line_bytes
        if cache.size_bytes % way_bytes:
            yield f"{name}.size_bytes: {cache.size_bytes} is no multiple of {way_bytes} (one line in each way)"


def _numbers(value: object) -> Iterator[float]:
    """Yield every number in a figure, however deeply it is nested."""
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int | float):
        yield value
