"""What known programs gain from the mappings of one machine: all that a search knows before its first run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FEW_GROUPS = 16
"""With so few groups of programs from the machine itself, other machines' programs join: all together weigh as much as
so many groups.

On modelled machines they add to 4, 8, 12, 16 and 24 groups 0.03, 0.02, 0.02, 0.00 and 0.00 of the gain after four runs,
and 0.04, 0.03, 0.03, 0.02 and 0.01 after six.
"""

FEW_MAPPINGS = 15
"""They join, too, where the machine's own ran under fewer mappings: on modelled machines, programs of 20 groups lead
further alone if they ran under 20 mappings, but not if under 10."""


@dataclass(frozen=True, eq=False)
class KnownGains:
    """The gains of K known programs under M mappings.

    ``gains`` float64[K, M]: log2 of a program's time under the default over its time under the mapping.
    ``weights`` float64[K]: how much each program counts before the first run, 1 in all. ``groups``: each program's.
    ``machines``: where its gains were carried over from, nothing for the machine's own programs.
    """

    gains: Array
    weights: Array
    groups: tuple[str, ...]
    machines: tuple[str, ...]

    def related(self) -> npt.NDArray[np.bool_]:
        """Return of which others each program must know nothing to stand for a new one, bool[K, K].

        These are the programs of its group, and where gains were carried over from its machine all of that machine.
        """
        group, machine = (np.unique(each, return_inverse=True)[1] for each in (self.groups, self.machines))
        elsewhere = np.array([each != "" for each in self.machines])
        found: npt.NDArray[np.bool_] = (group[:, None] == group) | ((machine[:, None] == machine) & elsewhere)
        return found


def known_gains(gains: Array, groups: Sequence[str], machine: str = "") -> KnownGains:
    """Return the gains with every group of programs weighing the same, and every program of a group.

    ``machine``: where they were carried over from.
    """
    return KnownGains(gains, group_weights(groups), tuple(groups), (machine,) * len(groups))


def group_weights(groups: Sequence[str]) -> Array:
    """Return the weight of programs of these groups, float64[K]: every group's the same, and every program's of one."""
    _, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    weights: Array = 1 / sizes[group] / len(sizes)
    return weights


def wants_others(groups: Sequence[str], mappings: int) -> bool:
    """Return whether a machine's own programs, of these groups under so many mappings, are too few to go by alone."""
    return len(set(groups)) <= FEW_GROUPS or mappings < FEW_MAPPINGS


def with_others(own: KnownGains, others: KnownGains) -> KnownGains:
    """Return the machine's own programs, which weigh the more the more groups they are of, and those of others."""
    groups = len(set(own.groups))
    share = groups / (groups + FEW_GROUPS)
    return joined([own, others], [share, 1 - share])


def joined(parts: Sequence[KnownGains], shares: Sequence[float] = ()) -> KnownGains:
    """Return the programs of all parts, each part weighing its share, or the same. ValueError if there is none."""
    if not parts:
        raise ValueError("no known programs to join")
    if len(parts) == 1:
        return parts[0]
    shares = shares or [1 / len(parts)] * len(parts)
    return KnownGains(
        np.vstack([part.gains for part in parts]),
        np.concatenate([part.weights * share for part, share in zip(parts, shares, strict=True)]),
        tuple(group for part in parts for group in part.groups),
        tuple(machine for part in parts for machine in part.machines),
    )
