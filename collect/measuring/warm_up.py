"""What an untimed run shows beside filling caches: where threads and pages stood, and how many accesses were local."""

from pathlib import Path

import msgspec

from numapredict.collect.measuring.local_share import local_share
from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import read_map, tally
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.profile_file import read_profile
from numapredict.native.errors import InvalidInputError

HELD = 0.98
"""The share of pages on their nodes from which a placement counts as held: a few may be touched before it is known."""


class Look(msgspec.Struct, frozen=True):
    """What was seen in one run: the shares of threads and pages that stood right, and that of local accesses.

    None is what was not to be seen: nothing written, no page looked at, no touch sampled.
    """

    threads: float | None = None
    pages: float | None = None
    local_share: float | None = None

    @property
    def held(self) -> bool:
        """Return whether nothing speaks against the placement."""
        return all(share is None or share >= HELD for share in (self.threads, self.pages))


def files_for_a_look(folder: Path) -> PlacementFiles:
    """Return what the preload library is to write in a run that is looked at, in a folder of its own."""
    return PlacementFiles(profile=str(folder / "profile"), map=str(folder / "map"))


def look(files: PlacementFiles, placement: Placement) -> Look:
    """Return what the files of a run under a mapping tell; InvalidInputError where the map is damaged."""
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
