"""Where the pages of a group of blocks are: in the profile's ranges of the main heap, which a plan knows. Pure."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.profile_file import ProfiledRange

Numbers = npt.NDArray[np.int64]


class OwnedPages(NamedTuple):
    """Pages of the heap and what they are of a group, int64[N] each: range, page in it, page of the group."""

    range: Numbers
    page: Numbers
    at: Numbers


def owned_pages(group: ProfiledRange) -> OwnedPages:
    """Return the pages that a group of blocks has, or had last."""
    pages = group.owned["pages"].astype(np.int64)
    step = np.arange(int(pages.sum())) - np.repeat(np.cumsum(pages) - pages, pages)
    number, first, at = (
        np.repeat(group.owned[name].astype(np.int64), pages) for name in ("range", "page", "group_page")
    )
    return OwnedPages(number, first + step, at + step)


def found_at(owned: OwnedPages, pages: Numbers) -> tuple[Numbers, Numbers]:
    """Return the range of the heap and the page in it for pages of a group, -1 where it is not known."""
    if not len(owned.at):
        return np.full(len(pages), -1), np.full(len(pages), -1)
    order = np.argsort(owned.at, kind="stable")
    place = order[np.minimum(np.searchsorted(owned.at[order], pages), len(order) - 1)]
    known = owned.at[place] == pages
    return np.where(known, owned.range[place], -1), np.where(known, owned.page[place], -1)
