"""hwloc's XML: the one reader of it, for files that may come from anywhere."""

import re
from collections.abc import Iterator
from typing import NoReturn
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import msgspec
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from numapredict.collect.topology import LOCAL_DISTANCE, REMOTE_DISTANCE, Cache, Core, Node, Topology, restrict
from numapredict.native.errors import InvalidTopologyError

# The largest machines that run Linux have some thousand PUs, whose XML takes a few megabytes.
MAX_SIZE_BYTES = 16 << 20
_MAX_ELEMENTS = 500_000
_MAX_DEPTH = 100
_MAX_INDEX = 65_535
_MAX_NODES = 1024  # Linux, include/linux/numa.h: NODES_SHIFT is at most 10
_MEANS_LATENCY = 4  # hwloc 2's distances.h, HWLOC_DISTANCES_KIND_MEANS_LATENCY (5 in hwloc's own files: plus FROM_OS)
_INSTRUCTION_CACHE = "2"  # hwloc.h, HWLOC_OBJ_CACHE_INSTRUCTION
_DEFAULT_LINE_BYTES = 64  # where the firmware gives none: the cache line of every x86-64 and nearly every 64-bit Arm
# Favoured cores of one kind have up to 15% more turbo (amd-pstate, Turbo Boost Max); dense ones 30% less.
_SAME_CAPACITY, _SAME_FREQUENCY = 1.1, 1.25
_MOST_KINDS = 64
_MEMORY_TYPES = ("NUMANode", "MemCache")


class _Pu(msgspec.Struct, frozen=True):
    """One PU as the file has it; PUs of one core share a ``core`` number."""

    os_index: int
    core: int
    complete_nodes: int


class _Memory(msgspec.Struct, frozen=True):
    """One NUMANode object as the file has it; ``pus`` is a bit mask, ``depth`` its level below the machine."""

    os_index: int
    pus: int
    memory_bytes: int
    depth: int


class CacheDetail(msgspec.Struct, frozen=True):
    """What a level's data or unified caches are like; ``ways`` 0 and ``inclusive`` None where hwloc does not know."""

    level: int
    ways: int
    inclusive: bool | None


class _CpuKind(msgspec.Struct, frozen=True):
    """One cpukind of the file: its PUs as a bit mask, and what says how fast they are; 0 where nothing does.

    On some computers hwloc writes an equal ``forced`` efficiency for all kinds, and Linux gives all one capacity: what
    differs first decides.
    """

    pus: int
    forced: int
    is_big: bool
    capacity: int
    frequency_MHz: int

    @classmethod
    def of(cls, element: Element) -> "_CpuKind":
        """Return what an element says."""
        told = {info.get("name"): info.get("value") or "" for info in element.findall("info")}
        numbers = [
            int(value) if re.fullmatch("[0-9]{1,9}", value) else 0
            for value in (told.get("LinuxCapacity", ""), told.get("FrequencyMaxMHz", ""))
        ]
        is_big = told.get("CoreType") != "IntelAtom"
        return cls(
            _mask(element, "cpuset"), _number(element, "forced_efficiency", default=0, most=1 << 31), is_big, *numbers
        )

    def is_slower_than(self, other: "_CpuKind") -> bool:
        """Return whether it is of another kind than one that comes before it, not the same with a little less turbo."""
        return (
            (self.forced, self.is_big) != (other.forced, other.is_big)
            or 0 < self.capacity * _SAME_CAPACITY < other.capacity
            or 0 < self.frequency_MHz * _SAME_FREQUENCY < other.frequency_MHz
        )


class _Found(msgspec.Struct, frozen=True):
    """Everything in the file that matters, in hwloc's logical order."""

    pus: list[_Pu]
    memories: list[_Memory]
    caches: list[Element]


class _BoundedBuilder(TreeBuilder):
    """Builds the tree, and stops at a depth or a size that no machine has."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._elements = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Open an element."""
        self._depth += 1
        self._elements += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"elements are nested deeper than {_MAX_DEPTH}")
        if self._elements > _MAX_ELEMENTS:
            raise ValueError(f"there are more than {_MAX_ELEMENTS} elements")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(tag)


def topology_from_xml(data: bytes, name: str) -> Topology:
    """Return the topology in an XML file of hwloc 1.x, 2.x or 3.x, without the PUs and nodes it says are not allowed.

    An empty name is replaced by the processor's. A PU in several NUMA nodes' sets (HBM next to DRAM, memory behind a
    package) belongs to the one with the fewest PUs, then the lowest OS index; the others are nodes without cores.
    Raises InvalidTopologyError for anything else; the file may be hostile.
    """
    try:
        return _topology(_parse(data), name)
    except ValueError as problem:
        raise InvalidTopologyError(
            f"topology {name or 'of hwloc'!r}: {problem}; export it again with: lstopo-no-graphics --of xml"
        ) from None


def cache_details_from_xml(data: bytes) -> tuple[CacheDetail, ...]:
    """Return the details of each level's first cache in hwloc's XML, none where it cannot be read."""
    try:
        elements = list(_parse(data).iter("object"))
        found: dict[int, CacheDetail] = {}
        for element in elements:
            level = _number(element, "depth", default=0)
            if re.fullmatch(r"L[1-5]Cache", element.get("type", "")) and level not in found:
                told = {info.get("name"): info.get("value") for info in element.findall("info")}
                inclusive = {"0": False, "1": True}.get(told.get("Inclusive") or "")
                found[level] = CacheDetail(level, _number(element, "cache_associativity", default=0), inclusive)
        return tuple(found.values())
    except ValueError:
        return ()


def packages_from_xml(data: bytes) -> tuple[frozenset[int], ...]:
    """Return the PUs (OS indices) of each package in hwloc's XML, none where it cannot be read."""
    try:
        return tuple(
            frozenset(_number(pu, "os_index") for pu in element.iter("object") if pu.get("type") == "PU")
            for element in _parse(data).iter("object")
            if element.get("type") in {"Package", "Socket"}  # hwloc 1 until 1.10
        )
    except ValueError:
        return ()


def _parse(data: bytes) -> Element:
    """Return the root element; raise ValueError when this is no well-formed, harmless XML."""
    if len(data) > MAX_SIZE_BYTES:
        raise ValueError(f"more than {MAX_SIZE_BYTES >> 20} MiB of XML")
    parser = DefusedXMLParser(target=_BoundedBuilder())
    try:
        parser.feed(data)
        root = parser.close()
    except DefusedXmlException:
        raise ValueError("it declares XML entities, which no topology needs") from None
    except ParseError as error:
        raise ValueError(f"not well-formed XML ({error})") from None
    except LookupError:
        raise ValueError("not well-formed XML (unknown encoding)") from None
    if not isinstance(root, Element) or root.tag != "topology":
        raise ValueError("no hwloc topology")
    return root


def _topology(root: Element, name: str) -> Topology:
    """Return the topology of a parsed file; raise ValueError where it contradicts itself."""
    machine = root.find("object")
    if machine is None or machine.get("type") != "Machine":
        raise ValueError("no Machine object")
    found = _Found([], [], [])
    _collect(machine, found, core=None, depth=0)
    if not found.pus:
        raise ValueError("no PU")
    if not found.memories:
        raise ValueError("no NUMA node (hwloc 2 always names one)")
    if len(found.memories) > _MAX_NODES:
        raise ValueError(f"more than {_MAX_NODES} NUMA nodes")
    owners = _owners(found)
    os_indices = [memory.os_index for memory in found.memories]
    os_indices += sorted(set(owners.values()) - set(os_indices))
    memory_bytes = {memory.os_index: memory.memory_bytes for memory in found.memories}
    cores = _cores(found.pus, owners, _kinds(root))
    index_of_pu = {pu: core.index for node_cores in cores.values() for core in node_cores for pu in core.pus}
    used = [index for index in os_indices if cores.get(index) or memory_bytes.get(index)]
    distances = _distances(root, machine, found.memories)
    topology = Topology(
        name=name or _processor(machine) or "unnamed",
        nodes=tuple(
            Node(position, index, tuple(cores.get(index, ())), memory_bytes.get(index, 0))
            for position, index in enumerate(used)
        ),
        caches=tuple(_caches(found.caches, index_of_pu)),
        distances=tuple(
            tuple(distances.get((i, j), LOCAL_DISTANCE if i == j else REMOTE_DISTANCE) for j in used) for i in used
        ),
    )
    allowed_pus, allowed_nodes = machine.get("allowed_cpuset"), machine.get("allowed_nodeset")
    return restrict(
        topology,
        index_of_pu if allowed_pus is None else _bits(_mask(machine, "allowed_cpuset")),
        used if allowed_nodes is None else _bits(_mask(machine, "allowed_nodeset")),
    )


def _collect(element: Element, found: _Found, core: int | None, depth: int) -> None:
    """Add an object and all below it; memory children come after the others, as in hwloc's logical order."""
    kind = element.get("type", "")
    if kind == "PU":
        own = len(found.pus) if core is None else core
        found.pus.append(_Pu(_number(element, "os_index"), own, _mask(element, "complete_nodeset")))
    elif kind == "Core":
        core = len(found.pus)  # the number of its first PU: no other core can have it
    elif kind == "Cache" or re.fullmatch(r"L[1-5]Cache", kind):
        found.caches.append(element)
    children = element.findall("object")
    for memory_children in (False, True):
        for child in children:
            if (child.get("type") in _MEMORY_TYPES) == memory_children:
                _collect(child, found, core, depth + 1)
    if kind == "NUMANode":
        size_bytes = _number(element, "local_memory", default=0, most=1 << 62)
        found.memories.append(_Memory(_number(element, "os_index"), _mask(element, "cpuset"), size_bytes, depth))


def _owners(found: _Found) -> dict[int, int]:
    """Return the OS index of the node that owns each PU."""
    present = 0
    for pu in found.pus:
        if present >> pu.os_index & 1:
            raise ValueError(f"PU {pu.os_index} appears more than once")
        present |= 1 << pu.os_index
    indices = [memory.os_index for memory in found.memories]
    if len(set(indices)) != len(indices):
        raise ValueError("two NUMA nodes have one OS index")
    owners: dict[int, int] = {}
    claimed = 0
    for memory in sorted(found.memories, key=lambda memory: (memory.pus.bit_count(), memory.os_index)):
        shared = memory.pus & claimed
        # Nodes come in order of size, so a node's PUs may contain another node's set, but never overlap part of it.
        for other in found.memories if shared else ():
            both = memory.pus & other.pus
            if both and both not in (memory.pus, other.pus):
                raise ValueError(f"NUMA nodes {memory.os_index} and {other.os_index} share only some of their PUs")
        owners.update((pu, memory.os_index) for pu in _bits(memory.pus & present & ~claimed))
        claimed |= memory.pus
    for pu in found.pus:
        if pu.os_index not in owners:
            # hwloc omits a node whose memory is not allowed, but its PUs still refer to it.
            hidden = [node for node in _bits(pu.complete_nodes) if node not in indices]
            if not hidden:
                raise ValueError(f"PU {pu.os_index} belongs to no NUMA node")
            owners[pu.os_index] = hidden[0]
    return owners


def _kinds(root: Element) -> dict[int, int]:
    """Return the kind of each PU of a hybrid processor, 0 for the fastest; nothing where all are of one."""
    found = [_CpuKind.of(element) for element in root.findall("cpukind")]
    if len(found) > _MOST_KINDS:
        raise ValueError(f"more than {_MOST_KINDS} kinds of cores")
    found.sort(key=lambda one: (one.forced, one.is_big, one.capacity, one.frequency_MHz), reverse=True)
    kinds: dict[int, int] = {}
    number, fastest = 0, found[0] if found else None  # of its kind
    for one in found:
        if fastest is not None and one.is_slower_than(fastest):
            number, fastest = number + 1, one
        kinds.update(dict.fromkeys(_bits(one.pus), number))
    return kinds if number else {}


def _cores(pus: list[_Pu], owners: dict[int, int], kinds: dict[int, int]) -> dict[int, list[Core]]:
    """Return the cores of each node (by OS index), numbered in the order of the file; faster kinds come first."""
    members: dict[int, list[int]] = {}
    for pu in pus:
        members.setdefault(pu.core, []).append(pu.os_index)
    cores: dict[int, list[Core]] = {}
    for index, indices in enumerate(members.values()):
        homes = {owners[pu] for pu in indices}
        if len(homes) > 1:
            raise ValueError(f"the core of PU {indices[0]} is part of {len(homes)} NUMA nodes")
        cores.setdefault(homes.pop(), []).append(Core(index, tuple(indices), kinds.get(indices[0], 0)))
    return {node: sorted(found, key=lambda core: core.kind) for node, found in cores.items()}


def _caches(elements: list[Element], index_of_pu: dict[int, int]) -> Iterator[Cache]:
    """Return the data and unified caches whose size is known, except those in front of a memory."""
    for element in elements:
        size_bytes = _number(element, "cache_size", default=0, most=1 << 62)
        cores = {index_of_pu[pu] for pu in _bits(_mask(element, "cpuset")) if pu in index_of_pu}
        level = _number(element, "depth", default=0)
        if (
            size_bytes
            and cores
            and level
            and element.get("cache_type") != _INSTRUCTION_CACHE
            and element.get("subtype") != "MemorySideCache"
        ):
            line_bytes = _number(element, "cache_linesize", default=0) or _DEFAULT_LINE_BYTES
            yield Cache(level, size_bytes, line_bytes, tuple(sorted(cores)))


def _distances(root: Element, machine: Element, memories: list[_Memory]) -> dict[tuple[int, int], float]:
    """Return the relative distances between nodes (by OS index), scaled so that local memory has 10."""
    for table in root.findall("distances2"):
        kind = _number(table, "kind", default=0)
        if table.get("type") == "NUMANode" and table.get("indexing") == "os" and kind & _MEANS_LATENCY:
            indices = [int(number) for number in _values(table, "indexes")]
            return _scaled(indices, _values(table, "u64values"))
    for table in machine.findall("distances"):  # hwloc 1.x: by logical index, multiples of a base
        values = [latency.get("value", "") for latency in table.findall("latency")]
        depth = _number(table, "relative_depth", default=0)
        if _number(table, "nbobjs") == len(memories) and depth == memories[0].depth:
            return _scaled([memory.os_index for memory in memories], [_float(value) for value in values])
    return {}


def _scaled(indices: list[int], values: list[float]) -> dict[tuple[int, int], float]:
    """Return a table's values by pair of nodes, scaled so that its smallest local distance is 10."""
    count = len(indices)
    if count == 0 or count * count != len(values):
        raise ValueError(f"a table of {len(values)} distances for {count} NUMA nodes")
    local = min(values[position * count + position] for position in range(count))
    if local <= 0:
        raise ValueError("distances that are not positive")
    pairs = ((i, j) for i in indices for j in indices)
    return {pair: round(value * LOCAL_DISTANCE / local, 6) for pair, value in zip(pairs, values, strict=True)}


def _values(table: Element, tag: str) -> list[float]:
    """Return the numbers in all elements of a name: hwloc spreads long lists over several."""
    return [_float(word) for part in table.findall(tag) for word in (part.text or "").split()]


def _float(text: str) -> float:
    """Return a non-negative decimal number."""
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text):
        _refuse("number", text)
    return float(text)


def _number(element: Element, attribute: str, default: int | None = None, most: int = _MAX_INDEX) -> int:
    """Return a whole number from 0 to ``most``; an attribute without a default must be there."""
    text = element.get(attribute)
    if text is None and default is not None:
        return default
    if text is None or not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > most:
        _refuse(f"{attribute} of a {element.get('type', element.tag)[:20]}", text or "")
    return int(text)


def _mask(element: Element, attribute: str) -> int:
    """Return a bit mask written as hwloc does: 32-bit words in hexadecimal, highest first; 0 where there is none."""
    text = element.get(attribute, "")
    mask = 0
    for word in text.split(",") if text else ():
        if len(text) > _MAX_INDEX or not re.fullmatch(r"(0x[0-9a-f]{1,8})?", word):
            _refuse(attribute, text)
        mask = mask << 32 | int(word or "0", 16)
    if mask.bit_length() > _MAX_INDEX:
        _refuse(attribute, text)
    return mask


def _bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, in ascending order."""
    return [position for position, bit in enumerate(reversed(bin(mask))) if bit == "1"]


def _processor(machine: Element) -> str:
    models = (info.get("value", "") for info in machine.iter("info") if info.get("name") == "CPUModel")
    return " ".join(next(models, "").split())[:80]


def _refuse(what: str, value: str) -> NoReturn:
    """Raise the error for a value that hwloc would not write."""
    raise ValueError(f"{what} is {value[:40]!r}")
