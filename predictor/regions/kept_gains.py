"""Keep what a program's regions gained for later searches on this computer: regions as training programs.

A program is one group, whatever its regions: what evaluations hold out together (ICS'19 takes codelets of one
application together, too). Only gains that were replayed are measured; those of other mappings, without which nobody
can compare, are what the search expected of them after the replays.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from numapredict.collect.topology import Topology
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of, read_gains, write_gains
from numapredict.predictor.searching.known_gains import Array
from numapredict.predictor.searching.next_run import weights_after
from numapredict.predictor.searching.prior import Prior

MOST_ROWS = 512
"""Regions that are kept; the oldest programs go first."""


def gains_over_default(region: ReplayedRegion, prior: Prior) -> Array | None:
    """Return a region's gains in log2 over the default, float64[M]; None where it was replayed under nothing else."""
    at = {mapping.label: column for column, mapping in enumerate(prior.mappings)}
    replayed = {
        at[gain.mapping]: math.log2(gain.speedup)
        for gain in region.gains
        if gain.speedup is not None and gain.mapping in at
    }
    if prior.default not in replayed or len(replayed) < 2:
        return None
    columns, gains = list(replayed), list(replayed.values())
    row: Array = weights_after(prior.known, columns, gains) @ prior.known.gains
    row[columns] = gains
    return row


def with_program(
    before: MachineGains | None, program: str, regions: Sequence[ReplayedRegion], prior: Prior, topology: Topology
) -> MachineGains | None:
    """Return the gains kept before with a program's in place of what it had; None where there are none to keep.

    Those from before are dropped if they are of other mappings.
    """
    found = [row for region in regions if (row := gains_over_default(region, prior)) is not None]
    mappings = tuple(mapping.label for mapping in prior.mappings)
    default = prior.mappings[prior.default].label
    if not found:
        return None
    rows, groups = [np.stack(found)], [program] * len(found)
    if before is not None and (before.mappings, before.default) == (mappings, default):
        others = [n for n, group in enumerate(before.groups) if group != program][-(MOST_ROWS - len(found)) :]
        rows, groups = [before.gains[others], *rows], [*(before.groups[n] for n in others), *groups]
    return MachineGains(
        machine=topology.name,
        modelled=False,
        topology=topology,
        default=default,
        mappings=mappings,
        groups=tuple(groups[-MOST_ROWS:]),
        numbers=numbers_of(np.vstack(rows)[-MOST_ROWS:]),
    )


def keep(path: Path, program: str, regions: Sequence[ReplayedRegion], prior: Prior, topology: Topology) -> str:
    """Add a program's regions to the file of kept gains, and return in words what was kept.

    UnwritableError where the system refuses; InvalidInputError for a damaged file.
    """
    before = next(iter(read_gains(path)), None) if path.is_file() else None
    after = with_program(before, program, regions, prior, topology)
    if after is None:
        return "nothing to keep: no region was replayed under the default mapping and another one"
    write_gains([after], path)
    kept = after.groups.count(program)
    return f"kept what {kept} of its regions gained, for searches on this computer: {path}"
