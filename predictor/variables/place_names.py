"""What the places are called that an answer on variables names: shortened to what tells them apart. Pure."""

from collections.abc import Callable, Iterator

from numapredict.collect.source.place import Place
from numapredict.collect.source.short_names import short_names
from numapredict.predictor.variables.variable import Variables


def place_names(answer: Variables) -> Callable[[Place], str]:
    """Return what gives each place of an answer its text."""
    short = short_names(place.whole_text for place in _places(answer) if place is not None)
    return lambda place: short[place.whole_text]


def _places(answer: Variables) -> Iterator[Place | None]:
    yield from (region.place for region in answer.regions)
    for one in answer.variables:
        yield from (one.allocated, one.first_touch, *one.allocation_stack[:1])
        yield from (region.place for region in (one.time.regions if one.time is not None else ()))
