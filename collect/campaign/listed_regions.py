"""An application's regions as a campaign's programs, from the file that `numapredict regions -o` wrote."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Annotated

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.program import Program, name_with_arguments
from numapredict.collect.source.short_names import short_names
from numapredict.native.errors import InvalidInputError, UsageError

LEAST_SHARE = 0.05
"""Of the time in regions: those with less are no programs of a campaign."""

_MOST_BYTES = 64 * MIB


class _Region(msgspec.Struct):
    """What is read of a region of the file."""

    name: str
    module: Annotated[str, msgspec.Meta(min_length=1)]
    offset: Annotated[int, msgspec.Meta(ge=0)]
    share: float


class _Listed(msgspec.Struct):
    """What is read of the file: numapredict.predictor.regions.replayed_regions:ReplayedRegions has more."""

    command: tuple[str, ...]
    regions: tuple[_Region, ...]
    directory: str | None = None


def region_programs(path: Path) -> tuple[Program, ...]:
    """Return a program for each region of a file that has 5% of the time in regions, the ones with most first.

    Regions of one application are one group: evaluations hold them out together. Raises InvalidInputError where the
    file is none, UsageError for the regions of a parallel job.
    """
    how = f"write it by numapredict regions -o {shlex.quote(str(path))} and your program's command"
    try:
        listed = msgspec.json.decode(read_bounded(path, _MOST_BYTES), type=_Listed)
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}; {how}") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise InvalidInputError(f"{path} is no list of regions ({error}); {how}") from None
    if not listed.command or not listed.command[0]:
        raise InvalidInputError(f"{path} names no program; {how}")
    if starts_tasks(listed.command):
        raise UsageError(
            f"{path}: {PurePath(listed.command[0]).name} starts the ranks of a job, whose regions cannot be told "
            "apart; list those of one rank's program"
        )
    for module in dict.fromkeys(region.module for region in listed.regions):
        _check_older(Path(module), path)
    kept = [region for region in listed.regions if region.share >= LEAST_SHARE]
    if not kept:
        raise InvalidInputError(
            f"{path} has no region with {LEAST_SHARE:.0%} of the time; give its program by --program"
        )
    command = shlex.join(listed.command)
    names, short = Counter(region.name for region in kept), short_names(region.name for region in kept)
    return tuple(
        Program(
            name=f"{name_with_arguments(listed.command)}:{short[region.name]}"
            + (f"+{region.offset:#x}" if names[region.name] > 1 else ""),
            command=listed.command,
            directory=listed.directory,
            group=f"regions:{PurePath(listed.command[0]).name}",
            summary=f"region {short[region.name]} of {command}: {region.share:.0%} of its time in regions",
            region=(region.module, region.offset),
        )
        for region in sorted(kept, key=lambda region: -region.share)
    )


def _check_older(module: Path, path: Path) -> None:
    """Raise InvalidInputError for a module that was built after its regions were listed: they may be elsewhere now."""
    try:
        is_newer = module.stat().st_mtime > path.stat().st_mtime
    except OSError as error:
        raise InvalidInputError(f"{path} lists regions of {module}, which cannot be read: {error.strerror}") from None
    if is_newer:
        raise InvalidInputError(f"{module} was built after {path} was written: list its regions again")


def without_repeats(programs: Sequence[Program]) -> tuple[Program, ...]:
    """Return each program once; of others with the same name each has the folder that it runs in before its own."""
    known = tuple({program.identity: program for program in programs}.values())
    names = Counter(program.name for program in known)
    return tuple(
        msgspec.structs.replace(program, name=f"{program.directory}/{program.name}")
        if names[program.name] > 1 and program.region and program.directory
        else program
        for program in known
    )
