"""Machine descriptions: the figures of a NUMA machine, each with its source; the input of the modelled machine."""

import importlib.resources
import itertools
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.modelled.description_file import MachineFile, Matrix, Row, SynchronisationTable, parse_file
from numapredict.collect.modelled.routes import routes_over
from numapredict.collect.near_name import did_you_mean
from numapredict.collect.topology import LOCAL_DISTANCE, Bandwidths, Cache, Core, Node, SharedLink, Topology
from numapredict.native.errors import InvalidInputError, InvalidTopologyError

PRIVATE_LEVEL = 2  # the described private cache is the last one before the shared level
SHARED_LEVEL = 3


class CacheShape(msgspec.Struct, frozen=True):
    """One core's last private cache."""

    size_bytes: int
    ways: int


class SharedCache(msgspec.Struct, frozen=True):
    """A cache that ``cores`` cores of a node share, all of them where that is 0.

    ``latency_ns`` is the time of a hit in it. Where it is not ``inclusive``, it holds what has left the private caches.
    """

    size_bytes: int
    ways: int
    latency_ns: float
    cores: int = 0
    inclusive: bool = True


class Die(msgspec.Struct, frozen=True):
    """A die with so many cores of a node, and what its link carries to and from memory and other dies."""

    cores: int
    read_GBps: float
    write_GBps: float


class NodeShape(msgspec.Struct, frozen=True):
    """One node's number of cores and amount of memory."""

    cores: int
    memory_bytes: int


class Link(msgspec.Struct, frozen=True):
    """A directed link: ``source`` is the side of the core, ``target`` the side of the memory that it uses."""

    source: int
    target: int
    read_GBps: float
    write_GBps: float


class TeamCost(msgspec.Struct, frozen=True):
    """What a team of ``threads`` threads, spread evenly over ``nodes``, pays for waiting: see SynchronisationTable."""

    threads: int
    nodes: int
    fork_join_us: float
    barrier_us: float
    atomic_ns: float
    lock_ns: float


class MachineDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A machine in figures. In every table the row is the cores' node and the column the memory's node.

    GBps are 1e9 bytes a second. Write bandwidths count the bytes that the program writes: fetching a line in order to
    own it and writing it back later belong to its cost and are not counted again. ``cycles_per_instruction`` is what
    a core needs without waits for memory, where ``cycles_from_native_run`` is false or a program has none of its own;
    ``reorder_window`` how many instructions it starts past one that waits.
    ``turbo_GHz``: the frequency by active cores of a package, where it depends on them. ``smt_throughput``: what a core
    executes with all its ``threads_per_core`` threads, over what it does with one. ``packages``: of each node. ``die``:
    None where no link of one is described. ``team_costs``, ``other_cache_ns``: empty and 0 where the description has
    none. ``sources`` gives the origin of every figure.
    """

    name: str
    summary: str
    frequency_GHz: float
    cycles_per_instruction: float
    reorder_window: int
    line_bytes: int
    page_bytes: int
    private_cache: CacheShape
    shared_cache: SharedCache
    nodes: tuple[NodeShape, ...]
    read_latency_ns: Matrix
    write_latency_ns: Matrix
    controller_read_GBps: Row
    controller_write_GBps: Row
    links: tuple[Link, ...]
    routes: tuple[tuple[tuple[int, ...], ...], ...]
    thread_read_GBps: Matrix
    thread_write_GBps: Matrix
    sources: tuple[tuple[str, str], ...]
    turbo_GHz: Row = ()
    threads_per_core: int = 1
    smt_throughput: float = 1.0
    packages: tuple[int, ...] = ()
    die: Die | None = None
    team_costs: tuple[TeamCost, ...] = ()
    other_cache_ns: float = 0.0
    cycles_from_native_run: bool = False

    def with_siblings(self, count: int) -> "MachineDescription":
        """Return the machine as a thread sees it that shares its core: with its part of the private cache's ways."""
        ways = max(self.private_cache.ways // count, 1)
        cache = CacheShape(self.private_cache.size_bytes // self.private_cache.ways * ways, ways)
        return msgspec.structs.replace(self, private_cache=cache)

    @property
    def topology(self) -> Topology:
        """Return the topology: cores numbered node by node, distances in proportion to the read latency.

        PUs are numbered as Linux does: the first of every core, then the second of every core, and so on.
        """
        nodes: list[Node] = []
        caches: list[Cache] = []
        first = 0
        count = sum(shape.cores for shape in self.nodes)
        for index, shape in enumerate(self.nodes):
            numbers = tuple(range(first, first + shape.cores))
            first += shape.cores
            cores = (
                Core(number, tuple(number + n * count for n in range(self.threads_per_core))) for number in numbers
            )
            nodes.append(Node(index, index, tuple(cores), shape.memory_bytes))
            caches += [
                Cache(PRIVATE_LEVEL, self.private_cache.size_bytes, self.line_bytes, (core,)) for core in numbers
            ]
            shared = self.shared_cache
            sharing = shared.cores or max(len(numbers), 1)
            caches += [
                Cache(SHARED_LEVEL, shared.size_bytes, self.line_bytes, numbers[at : at + sharing])
                for at in range(0, len(numbers), sharing)
            ]
        distances = tuple(
            tuple(LOCAL_DISTANCE * latency / row[index] for latency in row)
            for index, row in enumerate(self.read_latency_ns)
        )
        return Topology(
            name=self.name,
            nodes=tuple(nodes),
            caches=tuple(caches),
            distances=distances,
            bandwidths=self._bandwidths(),
        )

    def _bandwidths(self) -> Bandwidths:
        """Return what nodes read from each other: the memory's controller or a link on the way limits it."""
        node = tuple(
            tuple(
                min([self.controller_read_GBps[target], *(self.links[link].read_GBps for link in path)])
                for target, path in enumerate(row)
            )
            for row in self.routes
        )
        pairs: list[list[tuple[int, int]]] = [[] for _ in self.links]
        for source, row in enumerate(self.routes):
            for target, path in enumerate(row):
                for link in path:
                    pairs[link].append((source, target))
        links = zip((link.read_GBps for link in self.links), map(tuple, pairs), strict=True)
        return Bandwidths(self.thread_read_GBps, node, tuple(SharedLink(*each) for each in links if len(each[1]) > 1))


def machine_names() -> tuple[str, ...]:
    """Return the names of the machines whose descriptions are installed, in alphabetical order."""
    files = (entry.name for entry in _folder().iterdir() if entry.is_file())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


class DescribedMachine(msgspec.Struct, frozen=True):
    """An installed description's entry in lists."""

    name: str
    summary: str


def described_machines() -> tuple[DescribedMachine, ...]:
    """Return the machines whose descriptions are installed, in alphabetical order."""
    return tuple(DescribedMachine(name, load_description(name).summary) for name in machine_names())


def load_description(name_or_path: str) -> MachineDescription:
    """Return an installed description by its name, or any description by a path that ends in .toml.

    Raises InvalidInputError, which names the file and the field, or the machines there are.
    """
    if name_or_path.endswith(".toml"):
        file: Traversable = Path(name_or_path)
        where = name_or_path
    elif name_or_path in (known := machine_names()):
        file = _folder() / f"{name_or_path}.toml"
        where = f"{name_or_path}.toml"
    else:
        raise InvalidInputError(
            f"unknown machine {name_or_path!r}{did_you_mean(name_or_path, known)}: the described machines are "
            f"{', '.join(known)}; for your own, give the path of a .toml file"
        )
    try:
        data = read_bounded(file, MIB) if isinstance(file, Path) else file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidInputError(f"machine description {where}: cannot be read: {reason}") from error
    parsed = parse_file(data, where)
    try:
        description = described_by(parsed)
        description.topology  # noqa: B018 - a description without a possible topology is invalid
    except InvalidInputError as error:
        raise InvalidInputError(f"machine description {where}: links: {error}") from error
    except InvalidTopologyError as error:
        raise InvalidInputError(f"machine description {where}: nodes: {error}") from error
    return description


def _folder() -> Traversable:
    return importlib.resources.files("numapredict.models") / "machines"


def described_by(file: MachineFile) -> MachineDescription:
    """Return the description that a valid file gives. Raises InvalidInputError."""
    controllers, links, paths = _interconnect(file)
    threads = file.thread_bandwidth
    cycles_per_ns = file.core.frequency_GHz if file.latency.unit == "cycles" else 1.0
    read_latency = tuple(tuple(value / cycles_per_ns for value in row) for row in file.latency.read)
    write_latency = tuple(tuple(value / cycles_per_ns for value in row) for row in file.latency.write or ())
    return MachineDescription(
        name=file.name,
        summary=file.summary,
        frequency_GHz=file.core.frequency_GHz,
        cycles_per_instruction=file.core.cycles_per_instruction,
        reorder_window=file.core.reorder_window,
        line_bytes=file.memory.line_bytes,
        page_bytes=file.memory.page_bytes,
        private_cache=CacheShape(file.private_cache.size_bytes, file.private_cache.ways),
        shared_cache=SharedCache(
            file.shared_cache.size_bytes,
            file.shared_cache.ways,
            file.shared_cache.latency_ns,
            file.shared_cache.cores or 0,
            file.shared_cache.inclusive is not False,
        ),
        nodes=tuple(map(NodeShape, file.nodes.cores, file.nodes.memory_bytes)),
        read_latency_ns=read_latency,
        write_latency_ns=write_latency or read_latency,  # where stores were not measured
        controller_read_GBps=controllers[0],
        controller_write_GBps=controllers[1],
        links=links,
        routes=routes_over(len(file.nodes.cores), [(link.source, link.target) for link in links], paths),
        thread_read_GBps=threads.by_node(threads.read_GBps),
        thread_write_GBps=threads.by_node(threads.write_GBps),
        sources=file.sources(),
        turbo_GHz=file.core.turbo_GHz,
        threads_per_core=file.core.threads or 1,
        smt_throughput=file.core.smt_throughput or 1.0,
        packages=file.nodes.packages,
        die=Die(file.die.cores, file.die.read_GBps, file.die.write_GBps) if file.die is not None else None,
        team_costs=_team_costs(file.synchronisation),
        other_cache_ns=(file.synchronisation and file.synchronisation.other_cache_ns) or 0.0,
        cycles_from_native_run=file.core.cycles_from_native_run is True,
    )


def _team_costs(table: SynchronisationTable | None) -> tuple[TeamCost, ...]:
    if table is None:
        return ()
    columns = (table.threads, table.nodes, table.fork_join_us, table.barrier_us, table.atomic_ns, table.lock_ns)
    return tuple(itertools.starmap(TeamCost, zip(*columns, strict=True)))


def _interconnect(file: MachineFile) -> tuple[tuple[Row, Row], tuple[Link, ...], tuple[tuple[int, ...], ...]]:
    """Return the controllers' read and write bandwidths, the links, and the paths that are fixed.

    Measured bandwidths between all pairs of nodes become one link a pair: the physical links are not known.
    """
    if file.node_bandwidth is None:
        assert file.controllers is not None  # noqa: S101 - parse_file refuses a file with neither
        links = file.links
        return (
            (file.controllers.read_GBps, file.controllers.write_GBps),
            ()
            if links is None
            else tuple(
                Link(*ends, read, write)
                for ends, read, write in zip(links.ends, links.read_GBps, links.write_GBps, strict=True)
            ),
            () if links is None else links.paths,
        )
    read = file.node_bandwidth.by_node(file.node_bandwidth.read_GBps)
    write = file.node_bandwidth.by_node(file.node_bandwidth.write_GBps)
    nodes = range(len(read))
    return (
        (tuple(read[node][node] for node in nodes), tuple(write[node][node] for node in nodes)),
        tuple(Link(i, j, read[i][j], write[i][j]) for i in nodes for j in nodes if i != j),
        (),
    )
