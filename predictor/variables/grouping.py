"""The ranges of a profile that make one variable: those of an allocation's line, a static object, the heap's rest."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from numapredict.collect.placing.profile_file import Profile, ProfiledRange
from numapredict.collect.source.modules import Modules
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.touches import Touches, part_of, touches_of, wait_s
from numapredict.predictor.variables.variable import Kind

KINDS: dict[int, Kind] = {1: "allocated", 2: "static", 3: "mapped", 5: "small allocations"}
"""native/placement/memory/range.h."""

_UNSEEN = "no first touch"


@dataclass(frozen=True, eq=False)
class Found:
    """A variable as the profile has it: its ranges and touches, its name and its two places.

    ``by_container``: the code that allocates it comes from a header, as that of std::vector. ``ranges`` are its own,
    none if it is a part of one.
    """

    kind: Kind
    name: str | None
    through: str
    size_bytes: int
    allocated: Place | None
    first_touch: Place | None
    first_threads: tuple[int, ...]
    touches: Touches
    by_container: bool = False
    ranges: tuple[ProfiledRange, ...] = ()

    @property
    def allocations(self) -> int:
        """Return the number of ranges."""
        return len(self.first_threads)


def found_in(profile: Profile, modules: Modules) -> tuple[Found, ...]:
    """Return the variables of a profile that have touches."""
    untouched_s = wait_s(profile)
    found = (one for ranges in _groups(profile, modules) for one in _found(profile, ranges, modules, untouched_s))
    return tuple(one for one in found if one.touches.total > 0)


def _groups(profile: Profile, modules: Modules) -> Iterator[list[ProfiledRange]]:
    """Return the ranges of each variable.

    Of very many ranges the profile cannot await the first touch of all: what it then takes for the first of one, in a
    loop that uses it, is left out where more ranges of the same line have none.
    """
    groups: dict[tuple[object, object], list[ProfiledRange]] = {}
    for known in profile.ranges:
        groups.setdefault(_key(known, modules), []).append(known)
    for (site, first), ranges in groups.items():
        unseen = groups.get((site, _UNSEEN), [])
        late = modules.place(ranges[0].first_module, ranges[0].first_offset).in_region
        if first is not _UNSEEN and not (late and len(unseen) > len(ranges)):
            yield ranges
        elif first is not _UNSEEN:
            unseen += [replace(known, first_slot=-1, first_module="", first_offset=0) for known in ranges]
    yield from (ranges for (_, first), ranges in groups.items() if first is _UNSEEN)


def _key(known: ProfiledRange, modules: Modules) -> tuple[object, object]:
    """Return what is the same for the ranges of one variable.

    A function that allocates for its callers makes several variables at one line: the line of the first touch tells
    these apart as far as a profile does.
    """
    kind = KINDS.get(known.kind)
    if kind == "small allocations":
        return kind, None
    if kind == "static":
        return (known.module, known.offset), None
    allocation = modules.allocation(modules.place(known.module, known.offset))
    site = allocation.frame if allocation.frame.known else (known.module, known.offset)
    if allocation.name is not None:
        return site, allocation.name
    if not known.first_module:
        return site, _UNSEEN
    first = modules.place(known.first_module, known.first_offset).frame
    return site, (first.file, first.line) if first.known else (known.first_module, known.first_offset)


def _found(profile: Profile, ranges: list[ProfiledRange], modules: Modules, untouched_s: float) -> Iterator[Found]:
    known = ranges[0]
    kind = KINDS.get(known.kind, "mapped")
    touches = touches_of(profile, ranges, untouched_s)
    threads = tuple(one.first_slot for one in ranges)
    size_bytes = sum(one.size_bytes for one in ranges)
    if kind == "small allocations":
        # The library knows them from the first parallel region on: what it saw first may not have been the first.
        yield Found(kind, None, "", size_bytes, None, None, tuple(-1 for _ in ranges), touches, ranges=tuple(ranges))
        return
    touched = next((one for one in ranges if one.first_module), None)
    first = modules.place(touched.first_module, touched.first_offset) if touched else None
    if kind == "static":
        yield from _statics(
            profile, known, modules, Found(kind, None, "", size_bytes, None, first, threads, touches, ranges=(known,))
        )
        return
    place = modules.place(known.module, known.offset)
    made = modules.allocation(place)
    frames = place.frames[place.frames.index(made.frame) :] if made.frame in place.frames else place.frames
    by_container = place.by_container
    place = msgspec.structs.replace(place, frames=frames)
    name = made.name or (modules.written_name(first) if first is not None else None)
    yield Found(kind, name, made.through, size_bytes, place, first, threads, touches, by_container, tuple(ranges))


def _statics(profile: Profile, known: ProfiledRange, modules: Modules, whole: Found) -> Iterator[Found]:
    """Return the static objects of a range: one, or, of a file without symbols, those of its separate debug file."""
    objects = modules.statics(known.module, known.offset, known.size_bytes)
    large = [one for one in objects if one[0].size_bytes >= profile.page_bytes]
    start = -(-known.offset // profile.page_bytes)  # the range begins with the first whole page
    for symbol, declared in large:
        first = max(symbol.address // profile.page_bytes - start, 0)
        end = (symbol.address + symbol.size_bytes) // profile.page_bytes - start
        touches = whole.touches if len(large) == 1 else part_of(whole.touches, first, max(end - first, 1))
        own = first == 0  # the first touch that is known is that of the range's first page
        yield Found(
            whole.kind,
            declared.function,
            "",
            symbol.size_bytes,
            Place(known.module, symbol.address, (Frame(None, declared.file, declared.line),)),
            whole.first_touch if own else None,
            whole.first_threads if own else (-1,),
            touches,
            ranges=whole.ranges if len(large) == 1 else (),
        )
    if not large:
        place = Place(known.module, known.offset)
        yield replace(whole, allocated=place)
