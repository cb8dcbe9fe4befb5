"""The runs that the recorded outputs are of: shapes and names are those of real processors, counts are not.

What a run must be read as is computed here, from the counts and with what the groups' documentation says of them, and
not by the code under test.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

LINE = 64
Counts = dict[str, dict[int, int]]
Reported = tuple[float | None, float | None, float | None]
"""Local, remote and controllers' bytes of a node."""

FIXED = {"intel": ("FIXC0", "FIXC1", "FIXC2"), "amd": ("FIXC1", "FIXC2")}
UMC = [f"UMC{channel}C{way}" for channel in range(12) for way in (0, 1)]


@dataclass(frozen=True)
class Scenario:
    """A run: its computer, the group, the program's PUs, and what is wrong with the counts."""

    name: str
    arch: str
    group: str
    packages: int
    nodes: int  # a package
    cores: int  # a node
    pus: tuple[int, ...]
    siblings: bool = False
    damage: Callable[[Counts], None] | None = None

    @property
    def node_pus(self) -> list[list[int]]:
        """Return the PUs of each node: consecutive ones, and those as many further where cores have two."""
        count = self.packages * self.nodes * self.cores
        blocks = [list(range(first, first + self.cores)) for first in range(0, count, self.cores)]
        return [block + [pu + count for pu in block] if self.siblings else block for block in blocks]

    @property
    def package_nodes(self) -> list[list[int]]:
        """Return the nodes of each package."""
        return [list(range(first, first + self.nodes)) for first in range(0, self.packages * self.nodes, self.nodes)]

    @property
    def counted(self) -> list[int]:
        """Return the program's PUs and the first one of each package that has none."""
        whole = [[pu for node in nodes for pu in self.node_pus[node]] for nodes in self.package_nodes]
        return sorted({*self.pus, *(min(pus) for pus in whole if not set(pus) & set(self.pus))})

    def counts(self) -> Counts:
        """Return a count for each counter and PU: the same ones each time."""
        chance = random.Random(self.name)  # noqa: S311 (not a secret)
        maker = "amd" if self.arch.startswith("zen") else "intel"
        cores, uncore = COUNTERS[self.arch, self.group]
        counts = {
            counter: {pu: chance.randrange(10**6, 10**9) for pu in self.counted} for counter in (*FIXED[maker], *cores)
        }
        readers = [min(set(self.counted) & set(pus)) for pus in self._package_pus()]
        for counter in uncore:
            counts[counter] = {pu: chance.randrange(10**7, 10**8) if pu in readers else 0 for pu in self.counted}
        if self.damage:
            self.damage(counts)
        return counts

    def expected(self) -> list[Reported]:
        """Return what each node must be told to have moved."""
        counts = self.counts()
        if self.group == "MEM":
            return [(None, None, bytes_) for bytes_ in self._controllers(counts)]
        if self.arch == "broadwellEP":
            return list(self._home_agents(counts))
        local, remote = CORE_EVENTS[self.arch]
        reported: list[Reported] = []
        for pus in self.node_pus:
            own = set(pus) & set(self.pus)
            values = [[counts[counter].get(pu) for counter in side for pu in own] for side in (local, remote)]
            reported.append((*(None if None in side else LINE * sum(filter(None, side)) for side in values), None))
        return reported

    def _controllers(self, counts: Counts) -> Iterator[float | None]:
        """Yield the bytes of each node's controllers, None where the package has other nodes."""
        _, uncore = COUNTERS[self.arch, "MEM"]
        factor = 4 / self.nodes if self.arch == "zen2" else 1
        for pus in self._package_pus():
            total = sum(value for counter in uncore for pu, value in counts[counter].items() if pu in pus)
            yield from [LINE * factor * total if self.nodes == 1 else None] * self.nodes

    def _home_agents(self, counts: Counts) -> Iterator[Reported]:
        """Yield what the nodes' cores moved: the requests of other packages' memories are theirs only among two."""

        def asked(package: int, ways: str) -> float:
            pus = self._package_pus()[package]
            return LINE * sum(counts[f"BBOX{box}C{way}"].get(pu, 0) for box in (0, 1) for way in ways for pu in pus)

        for package in range(self.packages):
            yield asked(package, "02"), asked(1 - package, "13") if self.packages == 2 else None, None

    def _package_pus(self) -> list[list[int]]:
        return [[pu for node in nodes for pu in self.node_pus[node]] for nodes in self.package_nodes]


def _boxes(name: str, boxes: int, ways: int) -> list[str]:
    return [f"{name}{box}C{way}" for box in range(boxes) for way in range(ways)]


_ZEN = ["PMC0", "PMC1", "PMC2", "PMC3"]
COUNTERS: dict[tuple[str, str], tuple[Sequence[str], Sequence[str]]] = {
    ("haswellEP", "NUMA"): (["PMC0", "PMC1"], []),
    ("haswellEP", "MEM"): ([], _boxes("MBOX", 8, 2)),
    ("broadwellEP", "NUMA"): ([], _boxes("BBOX", 2, 4)),
    ("broadwellEP", "MEM"): ([], _boxes("MBOX", 8, 2)),
    ("skylakeX", "MEM"): ([], _boxes("MBOX", 6, 2)),
    ("ICX", "MEM"): (["FIXC3"], _boxes("MBOX", 8, 2)),
    ("zen2", "NUMA"): (_ZEN, []),
    ("zen2", "MEM"): (["PMC0", "PMC1"], ["DFC0", "DFC1"]),
    ("zen3", "NUMA"): (_ZEN, []),
    ("zen4", "NUMA"): (_ZEN, []),
    ("zen4", "MEM"): (["PMC0", "PMC1"], UMC),
}
CORE_EVENTS = {
    "haswellEP": (["PMC0"], ["PMC1"]),
    **{arch: (["PMC0", "PMC2"], ["PMC1", "PMC3"]) for arch in ("zen2", "zen3", "zen4")},
}
# LIKWID 5.2 of Debian 12 has no groups for Zen 4; the names of events and metrics are those of 5.3's.
_COMMON = [("FIXC1", "ACTUAL_CPU_CLOCK"), ("FIXC2", "MAX_CPU_CLOCK")]
DEFINITIONS = {
    ("zen4", "NUMA"): (
        [
            *_COMMON,
            ("PMC0", "ANY_DATA_CACHE_FILLS_LOCAL_ALL"),
            ("PMC1", "ANY_DATA_CACHE_FILLS_REMOTE_ALL"),
            ("PMC2", "HWPREF_DATA_CACHE_FILLS_LOCAL_ALL"),
            ("PMC3", "HWPREF_DATA_CACHE_FILLS_REMOTE_DRAM"),
        ],
        [
            ("Runtime (RDTSC) [s]", "time"),
            ("Local bandwidth [MBytes/s]", "64E-6*(PMC0+PMC2)/time"),
            ("Local data volume [GBytes]", "64E-9*(PMC0+PMC2)"),
            ("Remote bandwidth [MBytes/s]", "64E-6*(PMC1+PMC3)/time"),
            ("Remote data volume [GBytes]", "64E-9*(PMC1+PMC3)"),
        ],
    ),
    ("zen4", "MEM"): (
        [
            *_COMMON,
            ("PMC0", "RETIRED_INSTRUCTIONS"),
            ("PMC1", "CPU_CLOCKS_UNHALTED"),
            *((counter, "CAS_CMD_WR" if counter.endswith("C1") else "CAS_CMD_RD") for counter in UMC),
        ],
        [
            ("Runtime (RDTSC) [s]", "time"),
            ("Memory read data volume [GBytes]", f"64E-9*({'+'.join(UMC[::2])})"),
            ("Memory write data volume [GBytes]", f"64E-9*({'+'.join(UMC[1::2])})"),
            ("Memory data volume [GBytes]", f"64E-9*({'+'.join(UMC)})"),
        ],
    ),
}
PROCESSORS = {
    "haswellEP": ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", "Intel Xeon Haswell EN/EP/EX processor"),
    "broadwellEP": ("Intel(R) Xeon(R) CPU E5-2640 v4 @ 2.40GHz", "Intel Xeon Broadwell EN/EP/EX processor"),
    "skylakeX": ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "Intel Skylake SP processor"),
    "ICX": ("Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz", "Intel Icelake SP processor"),
    "zen2": ("AMD EPYC 7702 64-Core Processor", "AMD K17 (Zen2) architecture"),
    "zen3": ("AMD EPYC 7713 64-Core Processor", "AMD K19 (Zen3) architecture"),
    "zen4": ("AMD EPYC 9654 96-Core Processor", "AMD K19 (Zen4) architecture"),
}


def _no_remote_event_on_pu_1(counts: Counts) -> None:
    del counts["PMC1"][1]


def _nothing(counts: Counts) -> None:
    for values in counts.values():
        values.update(dict.fromkeys(values, 0))


SCENARIOS = (
    Scenario("haswell-numa-1-pu", "haswellEP", "NUMA", 1, 1, 4, (0,)),
    Scenario("haswell-numa-2", "haswellEP", "NUMA", 2, 1, 4, tuple(range(8))),
    Scenario("haswell-numa-2-siblings", "haswellEP", "NUMA", 2, 1, 3, (0, 2, 4, 8, 10), siblings=True),
    Scenario("haswell-numa-4-half", "haswellEP", "NUMA", 4, 1, 3, (3, 4, 5, 9, 10, 11)),
    Scenario("haswell-numa-no-value", "haswellEP", "NUMA", 2, 1, 2, (0, 1, 2, 3), damage=_no_remote_event_on_pu_1),
    Scenario("haswell-mem-2", "haswellEP", "MEM", 2, 1, 4, (4, 5, 6, 7)),
    Scenario("broadwell-numa-2", "broadwellEP", "NUMA", 2, 1, 4, (0, 1, 2, 3)),
    Scenario("broadwell-numa-4", "broadwellEP", "NUMA", 4, 1, 2, tuple(range(8))),
    Scenario("broadwell-mem-4", "broadwellEP", "MEM", 4, 1, 2, (0, 1)),
    Scenario("skylake-mem-2", "skylakeX", "MEM", 2, 1, 3, tuple(range(6))),
    Scenario("skylake-mem-2-clusters", "skylakeX", "MEM", 2, 2, 2, tuple(range(8))),
    Scenario("skylake-mem-nothing", "skylakeX", "MEM", 2, 1, 2, tuple(range(4)), damage=_nothing),
    Scenario("icelake-mem-1", "ICX", "MEM", 1, 1, 4, (0, 1, 2, 3)),
    Scenario("icelake-mem-2", "ICX", "MEM", 2, 1, 3, (1, 2, 5)),
    Scenario("zen2-numa-1-nps4", "zen2", "NUMA", 1, 4, 2, tuple(range(8))),
    Scenario("zen2-mem-2", "zen2", "MEM", 2, 1, 3, tuple(range(6))),
    Scenario("zen3-numa-2", "zen3", "NUMA", 2, 1, 3, tuple(range(6))),
    Scenario("zen4-numa-2", "zen4", "NUMA", 2, 1, 3, tuple(range(6))),
    Scenario("zen4-mem-1", "zen4", "MEM", 1, 1, 4, (0, 2)),
)
