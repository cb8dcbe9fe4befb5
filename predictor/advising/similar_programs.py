"""The known programs that react most like the one asked about, as an answer names them."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.campaign.codelets import variant_in_words
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.advising.assignment import Assignment
from numapredict.predictor.learning.model import Cluster, ExpectedSpeedup, Member

_AMBIGUOUS = 0.6  # from this on, the next cluster is named as nearly as close
_SHOWN = 5


class SimilarPrograms(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster that the two probe runs assign the program to; ``descriptions`` describe its members in words.

    ``best`` is the mapping that is best for the ``centroid``, the member closest to their mean, and ``best_speedup``
    what it gave the members over the model's default. ``speedup`` is what the advised mapping gave them, None for the
    default and where it is not known. ``ambiguity`` is 0 for a clear choice of cluster and 1 for a toss-up;
    ``familiar`` is false for a program unlike any of the model's.
    """

    cluster: int
    members: tuple[str, ...]
    centroid: str
    descriptions: tuple[str, ...]
    best: AnyMapping
    best_speedup: ExpectedSpeedup
    speedup: ExpectedSpeedup | None
    ambiguity: float
    familiar: bool


def similar_programs(found: Assignment, default: AnyMapping, advised: AnyMapping) -> SimilarPrograms:
    """Return the programs of a cluster, with what the ``advised`` mapping gave them."""
    cluster = found.cluster
    speedups = {each.mapping: each.expected_speedup for each in cluster.ranked if each.mapping != default}
    return SimilarPrograms(
        cluster=cluster.id,
        members=tuple(member.name for member in cluster.members),
        centroid=cluster.centroid,
        descriptions=_descriptions(cluster),
        best=cluster.ranked[0].mapping,
        best_speedup=cluster.ranked[0].expected_speedup,
        speedup=speedups.get(advised),
        ambiguity=found.ambiguity,
        familiar=found.familiar,
    )


def similar_in_words(found: SimilarPrograms) -> tuple[str, ...]:
    """Return the cluster, a line for each of its first programs, and what makes it doubtful."""
    best, speed = found.best_speedup, found.speedup
    gained = f"cluster {found.cluster}, {counted(len(found.members), 'program')} of the model; {found.centroid}, "
    gained += f"closest to their mean, runs best under {found.best} (members gain {_interval(best)})"
    if speed is not None:
        gained += f"; by the advised mapping they gain {_interval(speed)}"
    left = len(found.descriptions) - _SHOWN
    return (
        gained,
        *found.descriptions[:_SHOWN],
        *([f"and {left} more"] if left > 0 else []),
        *doubts_in_words(found),
    )


def doubts_in_words(found: SimilarPrograms) -> tuple[str, ...]:
    """Return what makes the choice of the cluster doubtful, a sentence or none."""
    if not found.familiar:
        return ("the program is unlike any that the model has seen",)
    return ("another cluster is nearly as close",) if found.ambiguity > _AMBIGUOUS else ()


def _interval(speed: ExpectedSpeedup) -> str:
    return f"{speed.median:.2f}x, {speed.low:.2f}x to {speed.high:.2f}x"


def _descriptions(cluster: Cluster) -> tuple[str, ...]:
    groups: dict[str, list[Member]] = {}
    for member in sorted(cluster.members, key=lambda member: member.name != cluster.centroid):
        groups.setdefault(member.group or member.name, []).append(member)
    return tuple(_group_in_words(group, members) for group, members in groups.items())


def _group_in_words(group: str, members: Sequence[Member]) -> str:
    """Return the variants of one code in words: `jacobi-2d (medium.serial): Sweeps a stencil.`."""
    variants = [member.name.removeprefix(f"{group}.") for member in members if member.name != group]
    shown = f" ({', '.join(variants[:3])}{', ...' if len(variants) > 3 else ''})" if variants else ""
    first = members[0]
    summary = first.summary.removesuffix(variant_in_words(first.name.removeprefix(f"{group}.")))
    return f"{group}{shown}" + (f": {summary}" if summary else "")
