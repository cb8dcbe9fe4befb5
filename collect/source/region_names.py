"""What parallel regions are called in answers: their function and line, or module and offset. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Protocol

from numapredict.collect.source.place import Place, plain_function
from numapredict.collect.source.short_names import short_names

_BODY = " (parallel region)"  # as all of these are


class Region(Protocol):
    """A region as answers have it; ``name`` is its function's, or module and offset."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def module(self) -> str: ...  # noqa: D102
    @property
    def offset(self) -> int: ...  # noqa: D102
    @property
    def place(self) -> Place | None: ...  # noqa: D102


def whole_name(region: Region) -> str:
    """Return a region's name with all that C++ has in it: ``void solve<double>(Grid<double>&), heat.cpp:40``."""
    if region.place is not None and region.place.frame.known:
        return region.place.whole_text.replace(_BODY, "")
    function = (region.place.frame.function if region.place is not None else None) or region.name
    return plain_function(function).replace(_BODY, "") or _where(region)


def region_names(regions: Iterable[Region]) -> Callable[[Region], str]:
    """Return what gives each of an answer's regions its name, shortened to what tells it from the others.

    Where only their modules and offsets tell regions apart, as two of one function without lines, they have these too.
    """
    found = {(whole_name(region), _where(region)) for region in regions}
    short = short_names(sorted(name for name, _ in found))
    of_many = {name for name, count in Counter(name for name, _ in found).items() if count > 1}

    def called(region: Region) -> str:
        name = whole_name(region)
        return f"{short[name]}, {_where(region)}" if name in of_many else short[name]

    return called


def _where(region: Region) -> str:
    return f"{PurePath(region.module).name}+{region.offset:#x}" if region.module else region.name
