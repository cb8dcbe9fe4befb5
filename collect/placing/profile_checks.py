"""What touches and owners of a profile's pages may be: ValueError for others. Pure."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_WRITE = 2  # native/placement/protection/touch.h: enum access, the last
_MOST_OWNED = 1 << 26  # pages: 256 GiB of heap


def check_touches(parts: Mapping[str, npt.NDArray[np.void]], slots: int) -> None:
    """Raise ValueError for samples or first touches of what cannot be."""
    samples, firsts, regions = parts["samples"], parts["firsts"], len(parts["regions"])
    if len(samples) and (int(samples["slot"].max()) >= slots or not np.isfinite(samples["rate"]).all()):
        raise ValueError("a sample is of a thread or a rate that cannot be")
    if len(samples) and float(samples["rate"].min()) < 0:
        raise ValueError("a rate is negative")
    if len(firsts) and not (int(firsts["slot"].min()) >= -1 and int(firsts["slot"].max()) < slots):
        raise ValueError("a first touch is by a thread that cannot be")
    if len(firsts) and int(firsts["stack"].max()) > len(parts["stacks"]):
        raise ValueError("a first touch has a call stack that is missing")
    if any(len(one) and int(one["region"].max()) > regions for one in (samples, firsts)):
        raise ValueError("a touch is in a region that is missing")
    if any(len(one) and int(one["access"].max()) > _WRITE for one in (samples, firsts)):
        raise ValueError("a touch is neither a read nor a write")


def owned_by_group(
    owners: npt.NDArray[np.void], ranges: npt.NDArray[np.void], blocks: int
) -> dict[int, npt.NDArray[np.void]]:
    """Return which pages of the heap each group has, by its number; ``blocks`` is the kind of groups."""
    for which, first in (("range", "page"), ("group", "group_page")):
        if len(owners) and int(owners[which].max()) >= len(ranges):
            raise ValueError("pages of the heap belong to a range that is missing")
        ends = owners[first].astype(np.int64) + owners["pages"]
        if bool((ends > ranges["pages"][owners[which]].astype(np.int64)).any()):
            raise ValueError("pages of the heap are beyond the end of a range")
    if bool((ranges["kind"][owners["range"]] == blocks).any() or (ranges["kind"][owners["group"]] != blocks).any()):
        raise ValueError("pages of the heap belong to no group, or are a group's")
    if int(owners["pages"].sum(dtype=np.int64)) > _MOST_OWNED:
        raise ValueError("more pages of the heap have an owner than there can be")
    order = np.argsort(owners["group"], kind="stable")
    groups, starts = np.unique(owners["group"][order], return_index=True)
    return dict(zip(groups.tolist(), np.split(owners[order], starts[1:]), strict=True)) if len(owners) else {}
