"""What an untimed run shows in addition to filling caches: the placement of threads and pages, and local accesses."""

from pathlib import Path

import msgspec

from numapredict.collect.measuring.local_share import local_share
from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import read_map, tally
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.profile_file import read_profile
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
    tallies = tally(found.ranges, frozenset(placement.os_page_nodes))
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
