"""What has to be equal for runs of two computers to count as runs of one machine."""

import hashlib
import math

import msgspec

from numapredict.collect.data.journal import Header

_STEPS = 8  # to a doubling


class MachineKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of machine: computers of one kind may share a campaign.

    ``cores`` has an entry a NUMA node, which shows sub-NUMA clustering (NPS, SNC), ``pus_per_core`` whether SMT is on,
    ``memory_GiB`` an entry a node, rounded up. A modelled machine is the same on every computer: ``processor`` and
    ``kernel`` are empty.
    """

    machine: str
    modelled: bool
    cores: tuple[int, ...]
    pus_per_core: tuple[int, ...]
    memory_GiB: tuple[float, ...]
    topology: str
    processor: str = ""
    kernel: str = ""

    @property
    def fingerprint(self) -> str:
        """Return a short digest."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:8]


_WORDS = {
    "machine": "machine",
    "modelled": "modelled",
    "cores": "cores of each NUMA node",
    "pus_per_core": "PUs of each core",
    "memory_GiB": "GiB of each NUMA node",
    "topology": "caches and distances",
    "processor": "processor",
    "kernel": "kernel",
}


def kind_of(header: Header) -> MachineKind:
    """Return the kind of the machine whose journal this is."""
    nodes, about = header.topology.nodes, dict(header.environment)
    return MachineKind(
        machine=header.machine,
        modelled=header.modelled,
        cores=tuple(len(node.cores) for node in nodes),
        pus_per_core=tuple(sorted({len(core.pus) for node in nodes for core in node.cores})),
        memory_GiB=tuple(_rounded_GiB(node.memory_bytes) for node in nodes),
        topology=header.topology.fingerprint,
        processor="" if header.modelled else about.get("processor", ""),
        kernel="" if header.modelled else about.get("kernel", ""),
    )


def difference_in_words(one: MachineKind, other: MachineKind) -> str:
    """Return in what two kinds differ: ``kernel: Linux 6.1 and Linux 6.12``; an empty text where in nothing."""
    found = []
    for name, words in _WORDS.items():
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            shown = "" if name == "topology" else f": {_shown(mine)} and {_shown(theirs)}"
            found.append(f"{words}{shown}")
    return "; ".join(found)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(f"{each:g}" for each in value)
    return str(value) or "unknown"


def _rounded_GiB(size_bytes: int) -> float:
    """Return a size rounded up to the next eighth of a power of two.

    The kernel and firmware keep some percent of what is installed, not the same on two nodes: sizes as installed are
    such steps themselves.
    """
    if size_bytes <= 0:
        return 0.0
    size_GiB = size_bytes / (1 << 30)
    step = 2.0 ** math.floor(math.log2(size_GiB)) / _STEPS
    return math.ceil(size_GiB / step) * step
