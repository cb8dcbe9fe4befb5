"""What known programs gain from the mappings of one machine: all that a search knows before its first run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FEW_GROUPS = 8
"""With so few groups of programs from the machine itself, other machines' programs join, at equal weight."""


@dataclass(frozen=True, eq=False)
class KnownGains:
    """The gains of K known programs under M mappings.

    ``gains`` float64[K, M]: log2 of a program's time under the default over its time under the mapping.
    ``weights`` float64[K]: how much each program counts before the first run, 1 in all.
    """

    gains: Array
    weights: Array


def known_gains(gains: Array, groups: Sequence[str]) -> KnownGains:
    """Return the gains with every group of programs weighing the same, and every program of a group."""
    return KnownGains(gains, weights_of(groups))


def weights_of(groups: Sequence[str]) -> Array:
    """Return the weight of programs of these groups, float64[K]: every group's the same, and every program's of one."""
    _, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    weights: Array = 1.0 / (sizes[group] * len(sizes))
    return weights


def joined(parts: Sequence[KnownGains]) -> KnownGains:
    """Return the programs of all parts, each part weighing the same. ValueError if there is none."""
    if not parts:
        raise ValueError("no known programs to join")
    if len(parts) == 1:
        return parts[0]
    return KnownGains(
        np.vstack([part.gains for part in parts]), np.concatenate([part.weights / len(parts) for part in parts])
    )
