"""The smaller teams that a program's regions may have, each in place of the mapping's own."""

import msgspec
import numpy as np

from numapredict.collect.mapping import Mapping
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.adapt_table import MOST_TEAMS
from numapredict.collect.space import canonical
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.prior import Prior

LEAST_GAIN = 0.005
"""In log2, that a team is taken to promise at least: regions of a program differ more than programs do."""


class Team(msgspec.Struct, frozen=True):
    """A team's label without pages, its placement, and what known programs gain by it in log2, as a mean."""

    label: str
    placement: Placement
    gain: float


def teams_of(topology: Topology, threads: int, prior: Prior, first: int) -> tuple[Team, ...]:
    """Return teams of half of so many threads, a quarter and so on, over as few nodes and over as many as they can.

    Of as many threads that team comes first from which programs gained more over column ``first``.
    """
    known, found = prior.over(first), list[Team]()
    count = threads // 2
    while count:
        level = {mapping.label: mapping for mapping in _placed(topology, count)}
        teams = [_team(mapping, topology, prior, known) for mapping in level.values()]
        found += sorted(teams, key=lambda team: -team.gain)
        count //= 2
    return tuple(found[: MOST_TEAMS - 1])


def _placed(topology: Topology, count: int) -> list[Mapping]:
    rooms = [len(node.cores) for node in topology.cpu_nodes]
    each = 1 if count <= sum(rooms) else topology.threads_per_core
    fitting = [nodes for nodes in range(1, len(rooms) + 1) if nodes <= count <= each * sum(sorted(rooms)[:nodes])]
    return [
        canonical(Mapping(count, nodes, "contiguous", nodes, "first-touch", each), topology)
        for nodes in dict.fromkeys((fitting[0], fitting[-1]) if fitting else ())
    ]


def _team(mapping: Mapping, topology: Topology, prior: Prior, known: KnownGains) -> Team:
    gains = known.gains[:, prior.nearest(mapping, topology)]
    mean = float(np.average(np.maximum(gains, 0), weights=known.weights))
    label = f"{mapping.threads}x{mapping.thread_nodes}"
    return Team(label, resolve(mapping, topology), max(mean, LEAST_GAIN))
