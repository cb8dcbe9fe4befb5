"""What an untimed run shows in addition to filling caches: the placement of threads and pages, and local accesses."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.placement import Placement
from numapredict.collect.placing.owned_pages import found_at, owned_pages
from numapredict.collect.placing.placed_pages import NOWHERE, PlacedRange, pages_once, read_map, tally
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.profile_file import BLOCKS, Profile, ProfiledRange, read_profile
from numapredict.native.errors import InvalidInputError

HELD = 0.98
"""The least share of pages on their nodes for a placement to hold: a few may be touched before it is known."""


class Look(msgspec.Struct, frozen=True):
    """What was observed in one run: the shares, 0 to 1, of threads and pages placed right, and of local accesses.

    None where not observed: no file written, no page queried, no touch sampled.
    """

    threads: float | None = None
    pages: float | None = None
    local_share: float | None = None

    @property
    def held(self) -> bool:
        """Return whether the placement held, as far as observed."""
        return all(share is None or share >= HELD for share in (self.threads, self.pages))


def files_for_a_look(folder: Path) -> PlacementFiles:
    """Return the files that the preload library writes in an observed run, in a separate folder."""
    return PlacementFiles(profile=str(folder / "profile"), map=str(folder / "map"))


def look(files: PlacementFiles, placement: Placement) -> Look:
    """Return what the files of a run under a mapping show; InvalidInputError where the map is damaged."""
    found = read_map(Path(files.map)) if files.map else None
    if found is None:
        return Look()
    tallies = tally(pages_once(found.ranges), frozenset(placement.os_page_nodes))
    pages = sum(tallied.pages for tallied in tallies)
    looks = sum(thread.right + thread.wrong for thread in found.threads)
    share = None
    try:
        profile = read_profile(Path(files.profile)) if files.profile else None
    except InvalidInputError:  # a program without parallel regions leaves none
        profile = None
    if profile is not None:
        share = local_share(profile, found.ranges, placement.os_indices(placement.homes))
    return Look(
        threads=sum(thread.right for thread in found.threads) / looks if looks else None,
        pages=sum(tallied.right for tallied in tallies) / pages if pages else None,
        local_share=share,
    )


def local_share(profile: Profile, ranges: Sequence[PlacedRange], homes: Sequence[int]) -> float | None:
    """Return the share, 0 to 1, of the profile's touches that found the page on the toucher's home node.

    It replaces the counters' local bandwidth on machines without counters (thesis sec. 6 reads that from the second
    probe); page touches are sampled, not cache misses.
    ``ranges`` give the pages' nodes at the end of the same run, ``homes`` the node (OS index) whose memory serves each
    thread slot. None where no touched page's node is known.
    """
    placed = {found.key: found for found in ranges}
    home = np.asarray(homes)
    local = touched = 0.0
    for known in profile.ranges:
        if not known.count:
            continue
        samples = profile.samples[known.first : known.first + known.count]
        node = _nodes_of(known, samples["page"].astype(np.int64), placed, profile.ranges)
        rate = np.where(node == NOWHERE, 0.0, samples["rate"])
        touched += float(rate.sum())
        local += float(rate[node == home[np.minimum(samples["slot"], len(home) - 1)]].sum())
    return min(local / touched, 1.0) if touched > 0 else None  # sums of parts may exceed the sum by rounding


def _nodes_of(
    known: ProfiledRange,
    pages: npt.NDArray[np.int64],
    placed: Mapping[tuple[int, int, int, int], PlacedRange],
    ranges: Sequence[ProfiledRange],
) -> npt.NDArray[np.int64]:
    """Return the node of some pages of a profiled range; those of a group of blocks are in ranges of the heap."""
    if known.kind == BLOCKS:
        number, page = found_at(owned_pages(known), pages)
        nodes = np.full(len(pages), NOWHERE, dtype=np.int64)
        for one in np.unique(number[number >= 0]).tolist():
            mine = number == one
            nodes[mine] = _nodes_of(ranges[one], page[mine], placed, ranges)
        return nodes
    found = placed.get((known.kind, known.site, known.slot, known.order))
    if found is None:
        return np.full(len(pages), NOWHERE, dtype=np.int64)
    return _nodes(found)[np.minimum(pages, found.pages - 1)]


def _nodes(found: PlacedRange) -> npt.NDArray[np.int64]:
    """Return int64[pages]: the node of each page of a range."""
    nodes = np.full(max(found.pages, 1), NOWHERE, dtype=np.int64)
    for run in found.runs:
        nodes[run.first : run.first + run.count] = run.node
    return nodes
