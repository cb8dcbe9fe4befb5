"""A model: clusters of programs, the best mappings of each, and the two probes that distinguish them."""

import math
from collections.abc import Collection, Sequence
from typing import Final, Literal

import msgspec

from numapredict.collect.mapping import AnyMapping, applicable
from numapredict.collect.topology import Topology
from numapredict.predictor.learning.options import Clock, TrainingOptions
from numapredict.predictor.learning.probes import Probe, Scales

SCHEMA_VERSION: Final = 6
UNKNOWN: Final = "unknown"
"""The fingerprint of a machine without a known topology."""


class ExpectedSpeedup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The speedups over the default that a mapping gave a cluster's members: their median, least and greatest.

    Of a single program, ``low`` and ``high`` are the ends of a 90% interval.
    """

    median: float
    low: float
    high: float


class RankedMapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mapping of a cluster's ranking."""

    mapping: AnyMapping
    expected_speedup: ExpectedSpeedup


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training program; ``features`` are its scaled probe features, ``best`` its own best mapping."""

    name: str
    group: str
    summary: str
    best: AnyMapping
    best_speedup: float
    features: tuple[float, ...]


class Cluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Programs that react alike; ``centroid`` names the member closest to their mean (thesis sec. 6).

    ``ranked`` holds every mapping, best first; ``centre`` is the mean of the members' scaled probe features.
    """

    id: int
    members: tuple[Member, ...]
    centroid: str
    centre: tuple[float, ...]
    ranked: tuple[RankedMapping, ...]


class TopologySummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The machine's shape, enough to recognise and describe it."""

    name: str
    fingerprint: str
    cpu_nodes: int
    memory_nodes: int
    cores: int

    @property
    def text(self) -> str:
        """Return the shape in words."""
        return f"{self.cpu_nodes} nodes with {self.cores} cores"


class Merge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """One row of the merge tree, as SciPy writes it: two nodes, their distance, the number of programs below."""

    left: int
    right: int
    distance: float
    programs: int


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned of a machine's programs; made by ``train``, kept by ``store``.

    ``default`` is the mapping that speedups are relative to. ``linkage`` merges the programs in the order of
    ``programs``. ``clock`` is the kind of times it was learned from and needs of the probes. Raises ValueError when its
    parts contradict each other.
    """

    schema_version: Literal[1, 2, 3, 4, 5, 6] = SCHEMA_VERSION
    machine: str
    modelled: bool
    topology: TopologySummary
    dataset_created: str
    options: TrainingOptions
    clock: Clock
    default: AnyMapping
    probes: tuple[Probe, Probe]
    scales: Scales
    programs: tuple[str, ...]
    dropped_programs: tuple[str, ...]
    dropped_mappings: tuple[AnyMapping, ...]
    linkage: tuple[Merge, ...]
    clusters: tuple[Cluster, ...]

    def numbers_of(self, parts: Sequence[Collection[str]]) -> tuple[int, ...]:
        """Return the numbers of the clusters with these programs; empty unless these are all of its clusters."""
        number_of = {frozenset(member.name for member in cluster.members): cluster.id for cluster in self.clusters}
        found = [number_of.get(frozenset(part)) for part in parts]
        numbers = tuple(number for number in found if number is not None)
        return numbers if len(numbers) == len(parts) == len(number_of) else ()

    def __post_init__(self) -> None:
        """Raise ValueError for parts that contradict each other, and labels that are not mappings of the machine."""
        problem = _problem_of(self)
        if problem:
            raise ValueError(problem)
        if self.topology.fingerprint != UNKNOWN:
            for ranked in self.clusters[0].ranked:
                applicable(ranked.mapping)


def summarise(topology: Topology | None, machine: str) -> TopologySummary:
    """Return the shape of a topology, an impossible one if it is not known."""
    if topology is None:
        return TopologySummary(name=machine, fingerprint=UNKNOWN, cpu_nodes=0, memory_nodes=0, cores=0)
    return TopologySummary(
        name=topology.name,
        fingerprint=topology.fingerprint,
        cpu_nodes=len(topology.cpu_nodes),
        memory_nodes=len(topology.memory_nodes),
        cores=topology.core_count,
    )


def _problem_of(model: Model) -> str:
    """Return what is wrong with a model as a whole, or nothing."""
    members = [member.name for cluster in model.clusters for member in cluster.members]
    if not model.clusters or any(not cluster.members for cluster in model.clusters):
        return "clusters: there must be at least one, each with members"
    if sorted(members) != sorted(model.programs) or len(set(members)) != len(members):
        return "clusters: every program must be a member exactly once"
    if [cluster.id for cluster in model.clusters] != list(range(len(model.clusters))):
        return "clusters: ids must count from 0"
    if len(model.linkage) != len(members) - 1 or not _is_tree(model.linkage):
        return "linkage: is no merge tree of the programs"
    if model.probes[0].mapping == model.probes[1].mapping:
        return "probes: must be two different mappings"
    mappings = {ranked.mapping for ranked in model.clusters[0].ranked}
    if not {model.default, *(probe.mapping for probe in model.probes)} <= mappings:
        return "default and probes must be among the ranked mappings"
    return next(filter(None, (_problem_of_cluster(model, cluster, mappings) for cluster in model.clusters)), "")


def _problem_of_cluster(model: Model, cluster: Cluster, mappings: set[AnyMapping]) -> str:
    """Return what is wrong with one cluster, or nothing."""
    where = f"clusters[{cluster.id}]"
    width = len(model.scales.divisors)
    if cluster.centroid not in {member.name for member in cluster.members}:
        return f"{where}.centroid: {cluster.centroid!r} is not a member"
    if {len(cluster.centre), *(len(member.features) for member in cluster.members)} != {width}:
        return f"{where}: features must have as many values as scales.divisors, {width}"
    if len(cluster.ranked) != len(mappings) or {ranked.mapping for ranked in cluster.ranked} != mappings:
        return f"{where}.ranked: must hold the same mappings as every cluster, each once"
    for ranked in cluster.ranked:
        speedup = ranked.expected_speedup
        if not 0 < speedup.low <= speedup.median <= speedup.high < math.inf:
            return f"{where}.ranked: {ranked.mapping} needs 0 < low <= median <= high"
    return ""


def _is_tree(linkage: tuple[Merge, ...]) -> bool:
    """Return whether every merge joins two different earlier nodes and no node is joined twice."""
    used: set[int] = set()
    for row, merge in enumerate(linkage):
        below = {merge.left, merge.right}
        if len(below) != 2 or below & used or min(below) < 0 or max(below) > len(linkage) + row:
            return False
        used |= below
    return True
