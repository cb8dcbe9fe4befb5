"""Phases: a trace cut at its barriers and weighed by how often each part of the program runs.

A phase is what all threads do between two points where they wait for each other: a serial stretch, or a part of a
region between two barriers. The first instance of a region, with cold caches, is a phase of its own; the recorded later
ones are added up and weighted to represent all later instances (ICS'19 sec. 2.4: the first instances are enough), or
where these differ by size, all of their class.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import ThreadPolicy
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.cut_region import CutRegion, cut_regions, unended
from numapredict.collect.modelled.instance_classes import InstanceClasses, classes_of_regions
from numapredict.collect.modelled.trace import Trace
from numapredict.collect.placing.census import Census

# Barriers after this many share one phase: their parts hardly differ.
MOST_PHASES = 24

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PhasedTrace:
    """A trace as M phases of T threads, with its R records in the order of time.

    ``region`` uint64[M]: the key of each phase's, 0 outside.
    ``weight`` float64[M]: how often the recorded part of a phase happens in the whole program. ``serial`` bool[M]:
    outside the regions. ``dynamic`` bool[M]: the work was scheduled in chunks, so a slow thread gets less of it.
    ``imbalance`` float64[M]: time lost at barriers within the phase, as a factor >= 1 of its longest thread, or of the
    mean of its threads where ``dynamic``.
    ``barriers`` float64[M]: how often the threads wait for each other in the recorded part, at a barrier, or where
    ``begins`` bool[M] at the start and the end of a region. ``members`` bool[M, T]: the threads that take part.
    ``instructions`` float64[M, T]; ``chunks`` float64[M, T]: chunks of loops and tasks handed out at run time;
    ``locks`` float64[M, T]: critical and ordered sections that were entered. Records: ``line`` uint64[R] (line
    addresses), ``flags`` uint8[R], ``thread`` and ``phase`` int32[R]. A record represents ``lines_per_record`` lines.
    ``stands_for`` float64[M]: a phase's instructions over those while records were kept; after the record limit, misses
    are assumed to be as frequent. ``seen``: the share, 0 to 1, of each region, by key, that was traced.
    ``share``: the share of the program's native region time that was traced; a partly seen region counts in part.
    """

    threads: int
    weight: Floats
    serial: npt.NDArray[np.bool_]
    dynamic: npt.NDArray[np.bool_]
    imbalance: Floats
    barriers: Floats
    begins: npt.NDArray[np.bool_]
    members: npt.NDArray[np.bool_]
    instructions: Floats
    chunks: Floats
    locks: Floats
    line: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint8]
    thread: npt.NDArray[np.int32]
    phase: npt.NDArray[np.int32]
    lines_per_record: int
    stands_for: Floats
    seen: dict[int, float]
    share: float
    region: npt.NDArray[np.uint64]


def phase_trace(trace: Trace, census: Census, threads: int, thread_policy: ThreadPolicy = "contiguous") -> PhasedTrace:
    """Cut a trace into phases and weight them by the census, each thread in its slot under the thread policy."""
    segments = trace.segments
    slot = slots(segments, thread_policy)
    keep = (segments["flags"] & t.MUTED) == 0
    keep &= ~_superseded(segments, keep)
    cut = cut_regions(segments, keep, census)
    keep &= ~unended(segments, keep, cut)
    classes = _classes(segments, keep, census)
    group, key, exact, sub_of_segment = _group(segments, keep, _part_of(segments, keep, classes))
    seen = _seen(segments, keep, cut, classes)
    count = len(key)
    thread = np.minimum(slot, threads - 1)

    # A phase adds up the same part of many instances, but threads wait for each other in every one: the sum over the
    # instances of the longest thread (critical) is more than the longest sum of a thread, and the ratio is lost time.
    subs = len(exact)
    per_sub = np.zeros((subs, threads))
    np.add.at(per_sub, (sub_of_segment[keep], thread[keep]), segments["instructions"][keep].astype(np.float64))
    group_of_sub = np.zeros(subs, dtype=np.int64)
    group_of_sub[sub_of_segment[keep]] = group[keep]
    instructions = np.zeros((count, threads))
    np.add.at(instructions, group_of_sub, per_sub)
    critical = np.bincount(group_of_sub, weights=per_sub.max(axis=1), minlength=count)
    longest = instructions.max(axis=1)
    members = np.zeros((count, threads), dtype=bool)
    members[group[keep], thread[keep]] = True
    dynamic = np.bincount(group[keep], weights=(segments["flags"][keep] & t.DYNAMIC) != 0, minlength=count) > 0
    chunks = _summed(segments["chunks"], keep, group, thread, instructions.shape)
    imbalance = np.divide(critical, longest, out=np.ones(count), where=longest > 0)
    at_most = _imbalance_of_chunks(chunks.sum(axis=1), np.bincount(group_of_sub, minlength=count), members.sum(axis=1))
    mean = instructions.sum(axis=1) / np.maximum(members.sum(axis=1), 1)
    traced = np.divide(critical, mean, out=np.ones(count), where=mean > 0)
    imbalance = np.where(dynamic, np.minimum(traced, at_most), imbalance)

    recorded = keep & ((segments["flags"] & t.UNRECORDED) == 0)
    counted = np.bincount(group[recorded], weights=segments["instructions"][recorded], minlength=count)
    stands_for = np.divide(instructions.sum(axis=1), counted, out=np.ones(count), where=counted > 0)

    order, owner = _order(trace, keep, thread, sub_of_segment, exact)
    return PhasedTrace(
        threads=threads,
        weight=_weights(key, segments, keep, census, classes) * _weights_in_cut(key, cut),
        serial=key[:, 0] == 0,
        dynamic=dynamic,
        imbalance=np.maximum(imbalance, 1.0),
        barriers=np.where(key[:, 0] == 0, 0, np.bincount(group_of_sub, minlength=count)).astype(np.float64),
        begins=(key[:, 0] != 0) & (key[:, 3] == 0),
        members=members,
        instructions=instructions,
        chunks=chunks,
        locks=_summed(segments["locks"], keep, group, thread, instructions.shape),
        line=(trace.records["word"][order] >> np.uint64(8)),
        flags=(trace.records["word"][order] & np.uint64(0xFF)).astype(np.uint8),
        thread=thread[owner].astype(np.int32),
        phase=group[owner].astype(np.int32),
        lines_per_record=1 << trace.sample_shift,
        stands_for=stands_for,
        seen=seen,
        share=_share(seen, census),
        region=key[:, 0].view(np.uint64),
    )


def _imbalance_of_chunks(chunks: Floats, instances: Ints, team: Ints) -> Floats:
    """Return the time of phases as a factor of the mean of their threads, where threads take chunks as they get free.

    In the emulator some threads take far more of them than others. On a machine they end within one chunk of each
    other, in each of the instances: half of one after the mean on average. One without chunks is as the trace has it.
    """
    factor: Floats = 1 + np.divide(0.5 * instances * team, chunks, out=np.full(len(chunks), np.inf), where=chunks > 0)
    return factor


def _summed(
    column: npt.NDArray[np.uint32], keep: npt.NDArray[np.bool_], group: Ints, thread: Ints, shape: tuple[int, ...]
) -> Floats:
    """Return the sums of the kept segments' values in a phase and slot, float64[M, T] (``shape``)."""
    sums = np.zeros(shape)
    np.add.at(sums, (group[keep], thread[keep]), column[keep].astype(np.float64))
    return sums


def slots(rows: npt.NDArray[np.void], thread_policy: ThreadPolicy) -> Ints:
    """Return the slot of the thread of each of a trace's segments or pages under a thread policy, int64."""
    column = rows["scattered" if thread_policy == "scatter" else "contiguous"]
    return column.astype(np.int64)


def _is_main(segments: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Return which segments are of a thread that starts regions: slot 0 under either policy."""
    mask: npt.NDArray[np.bool_] = segments["contiguous"] == 0
    return mask


def _superseded(segments: npt.NDArray[np.void], keep: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which segments belong to a cut or unrecorded instance, where their region has a better one."""
    # A cut instance would look like a short one: it is kept only where the region has no whole one before it.
    cut = keep & ((segments["flags"] & t.CUT_OFF) != 0)
    drop = np.zeros(len(segments), dtype=bool)
    for region in np.unique(segments["region"][cut]):
        instance = segments["instance"][cut & (segments["region"] == region)].min()
        mine = keep & (segments["region"] == region)
        if instance > segments["instance"][mine].min():
            drop |= mine & (segments["instance"] >= instance)
    # An instance without records has instructions but no misses: it is dropped where another instance has records.
    recorded = keep & ((segments["flags"] & t.UNRECORDED) == 0)
    for region in np.unique(segments["region"][recorded]):
        mine = keep & (segments["region"] == region) & (region != 0)
        drop |= mine & ~np.isin(segments["instance"], segments["instance"][recorded & mine])
    return drop


def _classes(segments: npt.NDArray[np.void], keep: npt.NDArray[np.bool_], census: Census) -> dict[int, InstanceClasses]:
    """Return the classes of regions, by key, whose instances differ, where the class of all kept instances is known."""
    found = {}
    for key, classes in classes_of_regions(census).items():
        instances = segments["instance"][keep & (segments["region"] == key)]
        if instances.max(initial=0) < len(classes.of):
            found[key] = classes
    return found


def _part_of(segments: npt.NDArray[np.void], keep: npt.NDArray[np.bool_], classes: dict[int, InstanceClasses]) -> Ints:
    """Return which part of a region's instances each segment belongs to, or comes after.

    Where all instances after the first are alike, these are part 1; serial stretches are then all of part 0.
    """
    serial = segments["region"] == 0
    found = np.where(serial, 0, segments["instance"] > 0).astype(np.int64)
    for key, mine in classes.items():
        for of in ("region", "after"):
            chosen = keep & (segments[of] == key) & (serial == (of == "after"))
            instances, at = np.unique(segments["instance"][chosen], return_inverse=True)
            found[chosen] = mine.parts(instances.astype(np.int64))[at]
    return found


def _group(segments: npt.NDArray[np.void], keep: npt.NDArray[np.bool_], number: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the phases' keys and which phase each segment belongs to, and the same of the parts between barriers.

    ``number``: each segment's part of the instances. In this order: each segment's phase, the keys (region, after, that
    number, phase; a serial phase has region 0), the first segment between two barriers of an instance, and for each
    segment between which it is.
    """
    serial = segments["region"] == 0
    phase = np.where(serial, 0, np.minimum(segments["phase"], MOST_PHASES - 1))
    after = np.where(serial, segments["after"], 0)
    keys = _columns(segments["region"], after, number, phase)
    unique, group = np.unique(keys[keep], axis=0, return_inverse=True)
    full = np.zeros(len(segments), dtype=np.int64)
    full[keep] = group.ravel()
    parts = _columns(segments["region"], after, segments["instance"], np.where(serial, 0, segments["phase"]))
    _, first, part = np.unique(parts[keep], axis=0, return_index=True, return_inverse=True)
    sub = np.zeros(len(segments), dtype=np.int64)
    sub[keep] = part.ravel()
    return full, unique.view(np.int64), np.flatnonzero(keep)[first], sub


def _columns(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.uint64]:
    """Return columns stacked as uint64; NumPy would promote mixed integers to float64 and round 64-bit keys."""
    return np.column_stack([column.astype(np.uint64) for column in columns])


def _order(
    trace: Trace, keep: npt.NDArray[np.bool_], thread: Ints, sub: Ints, first_segment: Ints
) -> tuple[npt.NDArray[np.intp], Ints]:
    """Return the kept records in the order of time, and the segment of each.

    The emulator's threads share few cores, which makes its clock meaningless. Parts are ordered as the main thread ran
    them (its segments come first in the file); within a part every thread advances at a constant rate.
    """
    segments = trace.segments
    owner = np.repeat(np.arange(len(segments)), segments["records"].astype(np.int64))
    rank = np.empty(len(first_segment), dtype=np.int64)
    rank[np.argsort(first_segment, kind="stable")] = np.arange(len(first_segment))
    kept = np.flatnonzero(keep[owner])
    owner = owner[kept]
    length = np.maximum(segments["instructions"][owner].astype(np.float64), 1)
    progress = np.minimum(trace.records["at"][kept] / length, 1.0)
    order = np.lexsort((thread[owner], progress, rank[sub[owner]]))
    return kept[order], owner[order]


def _weights(
    key: Ints,
    segments: npt.NDArray[np.void],
    keep: npt.NDArray[np.bool_],
    census: Census,
    classes: dict[int, InstanceClasses],
) -> Floats:
    """Return how often each phase's recorded part happens."""
    counts = {region.key: region.count for region in census.regions}
    main = keep & _is_main(segments)
    seen: dict[int, int] = {}
    followed: dict[int, int] = {}
    for region in np.unique(segments["region"][main]):
        seen[int(region)] = len(np.unique(segments["instance"][main & (segments["region"] == region)]))
    for after in np.unique(segments["after"][main]):
        mine = main & (segments["after"] == after) & (segments["region"] == 0)
        followed[int(after)] = len(np.unique(segments["instance"][mine]))
    weights = np.ones(len(key))
    by_part: dict[tuple[np.uint64, np.uint64], Floats] = {}
    for n, (region, after, number, _) in enumerate(key.view(np.uint64)):
        if int(region or after) in classes:
            if (region, after) not in by_part:
                mine = main & (segments["region"] == region) & ((region != 0) | (segments["after"] == after))
                traced = np.unique(segments["instance"][mine]).astype(np.int64)
                by_part[region, after] = classes[int(region or after)].stands_for(traced, serial=not region)
            weights[n] = by_part[region, after][int(number)]
            continue
        if region == 0:  # as often as the region before it ends; what comes before the first region happens once
            weights[n] = counts.get(int(after), 1) / max(followed.get(int(after), 1), 1) if after else 1.0
            continue
        instances = seen.get(int(region), 1)
        total = max(counts.get(int(region), instances), 1)
        if number:  # the recorded later instances represent all but the first, whose caches were cold
            weights[n] = max(total - 1, 0) / max(instances - 1, 1)
        elif instances == 1:
            weights[n] = total  # the first instance represents all
    return weights


def _weights_in_cut(key: Ints, cut: dict[int, CutRegion]) -> Floats:
    """Return how often each phase happens in an instance of which the trace saw a part; 1 for all others."""
    return np.array(
        [
            cut[int(region)].weight(int(phase), MOST_PHASES - 1) if int(region) in cut else 1.0
            for region, _, _, phase in key.view(np.uint64)
        ]
    )


def _seen(
    segments: npt.NDArray[np.void],
    keep: npt.NDArray[np.bool_],
    cut: dict[int, CutRegion],
    classes: dict[int, InstanceClasses],
) -> dict[int, float]:
    """Return the share, 0 to 1, of each region, by key, that the trace represents: 1 with an instance of each class."""
    whole = (segments["region"] != 0) & ((segments["flags"] & (t.CUT_OFF | t.MUTED)) == 0) & _is_main(segments)
    seen = {int(region): 1.0 for region in np.unique(segments["region"][whole])}
    for region in seen.keys() & classes.keys():
        traced = np.unique(segments["instance"][keep & (segments["region"] == region)])
        seen[region] = classes[region].share_of(traced.astype(np.int64))
    return seen | {region: part.share for region, part in cut.items()}


def _share(seen: dict[int, float], census: Census) -> float:
    """Return the share, 0 to 1, of the native region time that was traced."""
    if census.region_time_s <= 0:
        return 0.0
    return sum(region.time_s * seen.get(region.key, 0.0) for region in census.regions) / census.region_time_s
