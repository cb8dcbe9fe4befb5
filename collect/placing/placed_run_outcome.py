"""The end of a placed run: the library's files are read and kept, and the record is written."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.placed_run_record import ObservedPlacement, observed_placement
from numapredict.collect.placing.placed_run_text import profile_in_words
from numapredict.collect.placing.plan_file import Plan
from numapredict.collect.placing.preload import PlacementFiles, processes_files
from numapredict.collect.placing.profile_file import MOST_BYTES, is_profile
from numapredict.collect.placing.region_times import RegionTimes, region_times_of_processes, with_places
from numapredict.collect.placing.run_file import put
from numapredict.collect.placing.run_notes import Note
from numapredict.collect.source.modules import Modules
from numapredict.native.errors import NumapredictError

PROFILE = "profile"
"""What a run writes, as messages call it."""


def placement_found(
    files: PlacementFiles, placement: Placement, note: Note, plan: Plan | None = None
) -> ObservedPlacement | None:
    """Return the observed placement, if it was requested and the library wrote it; note why not."""
    if files.map is None:
        return None
    try:
        found = read_map(Path(files.map))
    except NumapredictError as error:
        note(f"verify: {error}")
        return None
    if found is None:
        note(
            "verify: nothing was written: the program was killed, left by _exit or exec, or may not write there any"
            " more (chroot, another user)"
        )
        return None
    return observed_placement(found, placement, plan)


def regions_found(files: PlacementFiles) -> tuple[RegionTimes, ...] | None:
    """Return the regions of each process that had some, or None where they were not requested."""
    if files.report is None:
        return None
    modules = Modules()
    return tuple(with_places(times, modules) for times in region_times_of_processes(Path(files.report)))


def keep_profiles(files: PlacementFiles, wanted: Path) -> Iterator[str]:
    """Move the profile of each process to the user's FILE, FILE.2 and so on; return a line on each."""
    profiles = [path for path in processes_files(Path(str(files.profile))) if path.stat().st_size]
    if not profiles:
        yield "profile: none was written"
        return
    if len(profiles) > 1:
        yield f"profile: {len(profiles)} programs had parallel regions: a profile of each, in order of writing"
    for number, path in enumerate(profiles, 1):
        to = wanted if number == 1 else wanted.with_name(f"{wanted.name}.{number}")
        if number > 1 and to.exists() and not is_profile(to):
            yield f"profile: {to} is there already and is no profile; what would be written there is left out"
            continue
        try:
            put(to, PROFILE, read_bounded(path, MOST_BYTES))
        except (OSError, NumapredictError) as error:
            yield str(error)
            continue
        yield profile_in_words(to)
