"""The ranges of a profile that make one variable: those of an allocation's line, a static object, the heap's rest."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import msgspec

from numapredict.collect.placing.profile_file import BLOCKS, Profile, ProfiledRange
from numapredict.collect.source.modules import Modules
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.touches import Touches, part_of, touches_of, wait_s
from numapredict.predictor.variables.variable import Kind
from numapredict.predictor.variables.visits import latency_s, waits_of

KINDS: dict[int, Kind] = {
    1: "allocated",
    2: "static",
    3: "mapped",
    5: "small allocations",
    6: "file",
    BLOCKS: "allocated",
}
"""native/placement/memory/range.h."""

_WATCHED = 6
"""Pages watched for writes: with fewer, nothing is said on whether a variable is only read."""

_SYSTEM = ("/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/")
_INTERPRETER = re.compile(r"(lib)?python3")
_NUMPY = "_multiarray_umath"
_MAKES_ARRAYS = re.compile(
    r"default_|PyDataMem_|PyArray_(New|Empty|Zeros)|array_(empty|zeros)$|npyiter_|NpyIter_|.*ufunc", re.IGNORECASE
)
_ALLOCATES = re.compile(r"alloc|operator new", re.IGNORECASE)


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
    ranges: tuple[ProfiledRange, ...]
    touches: Touches
    by_container: bool = False
    stack: tuple[Place, ...] = ()
    first_stack: tuple[Place, ...] = ()

    @property
    def allocations(self) -> int:
        """Return the number of ranges, and of blocks in groups."""
        return sum(one.blocks or 1 for one in self.ranges)

    @property
    def block_bytes(self) -> int | None:
        """Return the size of each allocation, or of all but one in a hundred; None where they differ."""
        sizes: Counter[int] = Counter()
        for one in self.ranges:
            sizes[one.block_bytes if one.blocks else one.size_bytes] += one.blocks or 1
        size, number = max(sizes.items(), key=lambda each: each[1], default=(0, 0))
        return size or None if number >= 0.99 * self.allocations else None

    @property
    def only_read(self) -> bool | None:
        """Return whether regions were only seen to read it; None where too few pages were watched for that."""
        if any(one.written for one in self.ranges):
            return False
        return True if sum(one.watched for one in self.ranges) >= _WATCHED else None


def found_in(profile: Profile, modules: Modules) -> tuple[Found, ...]:
    """Return the variables of a profile that have touches."""
    groups = list(_groups(profile, modules))
    untouched_s, noticed_s = wait_s(profile), latency_s(waits_of(profile.ranges))
    touches = (touches_of(profile, ranges, untouched_s, noticed_s) for ranges in groups)
    pairs = zip(groups, touches, strict=True)
    found = (one for ranges, touched in pairs for one in _found(profile, ranges, modules, touched))
    return tuple(one for one in found if one.touches.total > 0)


def _groups(profile: Profile, modules: Modules) -> Iterator[list[ProfiledRange]]:
    """Return the ranges of each variable."""
    groups: dict[tuple[object, ...], list[ProfiledRange]] = {}
    for known in profile.ranges:
        groups.setdefault(_key(known, profile, modules), []).append(known)
    yield from groups.values()


def _key(known: ProfiledRange, profile: Profile, modules: Modules) -> tuple[object, ...]:
    """Return what is the same for the ranges of one variable.

    A function that allocates for callers that are not known makes several variables at one line: the line of the first
    touch tells these apart as far as a profile does.
    """
    kind = KINDS.get(known.kind)
    if kind == "small allocations":
        return (kind,)
    if kind == "static":
        return known.module, known.offset
    if kind == "file":
        return kind, known.module
    place = _site(known, modules)
    allocation = modules.allocation(place)
    # One line of Fortran may allocate several arrays, by a call each.
    several = " or " in (allocation.name or "")
    site = allocation.frame if allocation.frame.known and not several else (place.module, place.offset)
    if allocation.name is not None or (known.stack and not allocation.through):
        return site, allocation.name, _object(known, place, allocation.frame, modules)
    first = _touching(_first_stack([known], profile, modules))
    if first is None:
        return site, None
    return site, first.frame if first.frame.known else (first.module, first.offset)


def _site(known: ProfiledRange, modules: Modules) -> Place:
    """Return the innermost call of an allocation's stack that is not in a function that allocates for its callers."""
    stack = [modules.place(*one) for one in known.stack] or [modules.place(known.module, known.offset)]
    for place in stack:
        if not _allocates_for_callers(place) and not modules.allocation(place).through:
            if _is_own(place):
                return place
            break
    of_python = next((at for at, place in enumerate(stack) if _is_interpreter(place)), 0)
    return stack[of_python - 1] if of_python else stack[0]


def _allocates_for_callers(place: Place) -> bool:
    """Return whether what this code allocates belongs to its callers, by names alone."""
    frame, module = place.frame, PurePath(place.module).name
    if _is_interpreter(place) or (module.startswith(_NUMPY) and _MAKES_ARRAYS.match(frame.function or "")):
        return True
    return not frame.known and (place.module.startswith(_SYSTEM) or _ALLOCATES.search(frame.function or "") is not None)


def _is_interpreter(place: Place) -> bool:
    return _INTERPRETER.match(PurePath(place.module).name) is not None


def _object(known: ProfiledRange, place: Place, frame: Frame, modules: Modules) -> tuple[Frame, str | None] | None:
    """Return the call of the constructor that allocates, and the variable that it makes; None without a constructor.

    The arrays of several objects of a class are several variables.
    """
    if not frame.is_constructor:
        return None
    stack = [modules.place(*one) for one in known.stack]
    outwards = [(place, one) for one in place.own_frames[place.own_frames.index(frame) + 1 :]]
    if place in stack:
        outwards += [(caller, one) for caller in stack[stack.index(place) + 1 :] for one in caller.own_frames]
    calls = ((at, one) for at, one in outwards if one.known and not one.is_constructor and not one.of_the_system)
    at, call = next(calls, (place, None))
    return None if call is None else (call, modules.constructed(at, call))


def _is_own(place: Place) -> bool:
    return place.module != "" and not PurePath(place.module).name.startswith(("libc.so", "ld-linux"))


def _first_stack(ranges: Sequence[ProfiledRange], profile: Profile, modules: Modules) -> tuple[Place, ...]:
    """Return the calls of the first touch of most of the pages; empty where none is known.

    The body of a region that ends with the call, as of memset, is not among them: the call came to be a jump.
    """
    pages: Counter[tuple[int, int]] = Counter()
    for one in ranges:
        for stack, region, count in one.firsts[["stack", "region", "pages"]].tolist():
            pages[stack, region] += count if stack else 0
    if not pages or pages.most_common(1)[0][1] == 0:
        return ()
    (stack, region), _ = pages.most_common(1)[0]
    places = [modules.place(*one) for one in profile.stacks[stack - 1]]
    outside = next((at for at, place in enumerate(places) if _is_runtime(place)), None)
    if region and outside is not None and not any(place.in_region for place in places[:outside]):
        places.insert(outside, modules.place(*profile.regions[region - 1]))
    return tuple(places)


def _is_runtime(place: Place) -> bool:
    return PurePath(place.module).name.startswith(("libgomp.so", "libomp.so", "libiomp5.so"))


def _touching(stack: Sequence[Place]) -> Place | None:
    """Return the innermost place of a touch in the program's own code, not memset, a header's or an interpreter's."""
    own = [one for one in stack if not one.in_c_library and not _is_interpreter(one)]
    known = [one for one in own if one.frame.known and not one.frame.of_the_system]
    return next(iter(known or own or stack), None)


def _found(profile: Profile, ranges: list[ProfiledRange], modules: Modules, touches: Touches) -> Iterator[Found]:
    known = ranges[0]
    kind = KINDS.get(known.kind, "mapped")
    size_bytes = sum(one.size_bytes for one in ranges)
    every = tuple(ranges)
    if kind == "small allocations":
        followed = sum(int(one.owned["pages"].sum()) for one in profile.ranges) * profile.page_bytes
        size_bytes = max(size_bytes - followed, 0)
        # The library knows them from the first parallel region on: what it saw first may not have been the first.
        yield Found(kind, None, "", size_bytes, None, None, every, touches)
        return
    first_stack = _first_stack(ranges, profile, modules)
    first = _touching(first_stack)
    if kind == "static":
        yield from _statics(
            profile,
            known,
            modules,
            Found(kind, None, "", size_bytes, None, first, every, touches, first_stack=first_stack),
        )
        return
    if kind == "file":
        stack = tuple(modules.place(*one) for one in known.stack)
        mapped = next(iter(stack), None)
        yield Found(
            kind, PurePath(known.module).name, "", size_bytes, mapped, first, every, touches,
            stack=stack, first_stack=first_stack,
        )  # fmt: skip
        return
    known = max(ranges, key=lambda one: one.blocks)
    place = _site(known, modules)
    stack = tuple(modules.place(*one) for one in known.stack)
    made = modules.allocation(place)
    frames = place.frames[place.frames.index(made.frame) :] if made.frame in place.frames else place.frames
    by_container = place.by_container
    place = msgspec.structs.replace(place, frames=frames)
    name = made.name or (modules.written_name(first) if first is not None else None)
    constructed = _object(known, _site(known, modules), made.frame, modules) if made.name else None
    if constructed is not None and constructed[1] and " or " not in constructed[1]:
        name = f"{constructed[1]}.{name}"
    yield Found(kind, name, made.through, size_bytes, place, first, every, touches, by_container, stack, first_stack)


def _statics(profile: Profile, known: ProfiledRange, modules: Modules, whole: Found) -> Iterator[Found]:
    """Return the static objects of a range: one, or, of a file without symbols, those of its separate debug file."""
    objects = modules.statics(known.module, known.offset, known.size_bytes)
    large = [one for one in objects if one[0].size_bytes >= profile.page_bytes]
    start = -(-known.offset // profile.page_bytes)  # the range begins with the first whole page
    for symbol, declared in large:
        first = max(symbol.address // profile.page_bytes - start, 0)
        end = (symbol.address + symbol.size_bytes) // profile.page_bytes - start
        touches = whole.touches if len(large) == 1 else part_of(whole.touches, first, max(end - first, 1))
        own = whole.ranges if len(large) == 1 else tuple(_cut(one, first, end, profile) for one in whole.ranges)
        stack = _first_stack(own, profile, modules)
        place = Place(known.module, symbol.address, (Frame(None, declared.file, declared.line),))
        yield Found(
            whole.kind, declared.function, "", symbol.size_bytes, place, _touching(stack), own, touches,
            first_stack=stack,
        )  # fmt: skip
    if not large:
        yield replace(whole, allocated=Place(known.module, known.offset))


def _cut(known: ProfiledRange, first: int, end: int, profile: Profile) -> ProfiledRange:
    """Return the pages of a range from one to before another, with the first touches of the parts that begin there."""
    page = known.firsts["page"]
    inside = known.firsts[(page + known.firsts["pages"] > first) & (page < end)]
    return replace(
        known,
        pages=max(end - first, 1),
        size_bytes=(end - first) * profile.page_bytes,
        start=known.start + first * profile.page_bytes,
        firsts=inside,
    )
