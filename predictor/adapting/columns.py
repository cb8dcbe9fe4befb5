"""The mappings that a run may change to: their table, by what is known of this computer."""

import os

import msgspec

from numapredict.collect.binding import threads_asked
from numapredict.collect.mapping import Mapping
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.adapt_table import AdaptTable, RegionTeam
from numapredict.collect.placing.balancing import balancing_is_on
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError
from numapredict.predictor.adapting.adapted import BASELINE
from numapredict.predictor.adapting.candidates import candidate_columns
from numapredict.predictor.adapting.kept import Kept
from numapredict.predictor.adapting.places import in_place, pages_of
from numapredict.predictor.adapting.teams import teams_of
from numapredict.predictor.learning.model_choice import trained_gains_path
from numapredict.predictor.searching.prior import Prior, prior_of

QUIET_S = 0.5
"""Without any trial, from the start: most programs that short lose by one."""

_MOST_PROGRAMS = 1024  # native/placement/adapt/next_trial.h


class Columns(msgspec.Struct, frozen=True):
    """The mappings of a table but the baseline, in the order of its columns from 1 on, its teams likewise, and it."""

    labels: tuple[str, ...]
    teams: tuple[str, ...]
    table: AdaptTable

    def label(self, column: int) -> str:
        """Return a column's label, that of the baseline for 0."""
        return self.labels[column - 1] if 0 < column <= len(self.labels) else BASELINE

    def team(self, number: int) -> str:
        """Return a team's label, nothing for the mapping's own."""
        return self.teams[number - 1] if 0 < number <= len(self.teams) else ""


def base_of(topology: Topology) -> Placement:
    """Return the placement on all PUs whose slots the table's columns name."""
    nodes, each = len(topology.cpu_nodes), topology.threads_per_core
    base = resolve(Mapping(topology.pu_count, nodes, "contiguous", nodes, "locality", each), topology)
    if set(base.pus) != os.sched_getaffinity(0):
        raise InvalidMappingError("the PUs that it may use are not all those of whole cores")
    return base


def columns_of(share: float, topology: Topology, kept: Kept) -> Columns:
    """Return the table for a program, by what is known of this computer."""
    threads = threads_asked(os.environ.get("OMP_NUM_THREADS")) or topology.pu_count

    def can_be_given(mapping: Mapping) -> bool:
        return in_place(mapping, threads, len(topology.memory_nodes))

    trained = trained_gains_path(topology.name, topology)
    prior = prior_of(topology.name, topology, trained, can_be_given, modelled=False)
    first = _baseline(prior, topology, threads)
    known = prior.over(first)
    several = len(topology.memory_nodes) > 1  # on one node regions' teams are all that there is to choose
    allowed = [column for column, each in enumerate(prior.mappings) if several and can_be_given(each)]
    chosen = list(candidate_columns(known, first, allowed))
    labels = [mapping.label for mapping in prior.mappings]
    wanted = kept.found.mapping if kept.found is not None else None
    if wanted in labels and labels.index(wanted) not in chosen:
        chosen.append(labels.index(wanted))
    names = [BASELINE, *(labels[column] for column in chosen[1:])]
    heaviest = sorted(range(len(known.weights)), key=lambda row: -known.weights[row])[:_MOST_PROGRAMS]
    whole = float(sum(known.weights[row] for row in heaviest))
    rejected = () if kept.found is None else kept.found.rejected
    mappings = [prior.mappings[column] for column in chosen]
    teams = teams_of(topology, threads, prior, first)
    team_labels = tuple(team.label for team in teams)
    begin = () if kept.found is None else kept.found.regions
    table = AdaptTable(
        share=share,
        quiet_s=QUIET_S,
        columns=tuple(
            (resolve(mapping, topology), place)
            for mapping, place in list(zip(mappings, pages_of(mappings), strict=True))[1:]
        ),
        known=tuple(
            (float(known.weights[row]) / whole, tuple(float(known.gains[row, column]) for column in chosen))
            for row in heaviest
        ),
        teams=tuple((team.placement, team.gain) for team in teams),
        regions=tuple(
            RegionTeam(region.key, team_labels.index(region.team) + 1 if region.team else 0)
            for region in begin
            if not region.team or region.team in team_labels
        ),
        start=names.index(wanted) if wanted in names[1:] else 0,
        closed=tuple(column for column, name in enumerate(names) if name in rejected),
        crowded_only=several and balancing_is_on(),
    )
    return Columns(tuple(names[1:]), team_labels, table)


def _baseline(prior: Prior, topology: Topology, threads: int) -> int:
    """Return the column of the mapping that the program as it is resembles: as many threads, over all nodes."""
    default = prior.mappings[prior.default]
    if threads == default.threads:
        return prior.default
    nodes = min(len(topology.cpu_nodes), threads)
    each = -(-threads // topology.core_count)
    return prior.nearest(Mapping(threads, nodes, "scatter", nodes, "first-touch", each), topology)
