"""Following a loop: what takes long lets whoever asked see how far it is."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Follow(Protocol):
    """Whoever wants to see how far a loop is: gives out ``items``, ``total`` of them, called ``what`` in the plural."""

    def __call__(self, items: Iterable[T], total: int, what: str) -> Iterable[T]:
        """Return an iterator over the items."""
        ...


def unfollowed(items: Iterable[T], total: int, what: str) -> Iterable[T]:
    """Return the items; nobody wants to see."""
    return items
