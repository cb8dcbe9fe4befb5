"""The page-access profile: which thread slot touches which page how often, as the preload library sampled it.

The file's contract is native/placement/profile/profile_file.h; this is its only reader. Reading never runs code, and
all values are checked before use.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numapredict.collect.host.bounded_file import open_regular
from numapredict.native.errors import InvalidInputError

MAGIC = 0x31464F525050554E
VERSION = 1
MOST_RANGES = 1 << 20
MOST_BYTES = 1 << 30
MOST_SLOTS = 4096  # native/placement/process/settings.h
_HEADER = np.dtype(
    [
        ("magic", "<u8"),
        *((name, "<u4") for name in ("version", "slots", "page_bytes", "ranges")),
        *((name, "<u8") for name in ("samples", "text_bytes", "armed", "touched", "dropped", "time_ns")),
    ]
)
_RANGE = np.dtype(
    [
        *(
            (name, "<u8")
            for name in ("site", "offset", "bytes", "pages", "first_sample", "samples", "first_touch_offset")
        ),
        *((name, "<u4") for name in ("module", "first_touch_module")),
        ("first_slot", "<i4"),
        *((name, "<u4") for name in ("slot", "order", "kind")),
    ]
)
SAMPLE = np.dtype(
    [
        ("page", "<u4"),
        *((name, "<u2") for name in ("slot", "reserved")),
        *((name, "<u4") for name in ("armed", "touches")),
        ("rate", "<f8"),
    ]
)


@dataclass(frozen=True)
class ProfiledRange:
    """One range of ranges.h, and its samples: ``first`` to ``first + count - 1`` of the profile's.

    ``first_slot`` is the slot that touched it first, -1 where unknown; ``module`` and ``offset`` are its origin: the
    allocating call's last byte, or the static object. ``first_module`` and ``first_offset`` are the instruction that
    touched it first, an empty module where that is not known. Offsets are addresses before relocation.
    """

    kind: int
    site: int
    slot: int
    order: int
    pages: int
    first: int
    count: int
    first_slot: int
    module: str
    offset: int
    size_bytes: int = 0
    first_module: str = ""
    first_offset: int = 0


@dataclass(frozen=True, eq=False)
class Profile:
    """The profile of one run with ``slots`` threads; ``samples`` are SAMPLE records, those of a range in page order.

    ``armed`` counts the pages that were watched, ``touched`` those of them that were touched, ``dropped`` the samples
    without room; ``time_s`` is the run's time inside parallel regions.
    """

    slots: int
    page_bytes: int
    ranges: tuple[ProfiledRange, ...]
    samples: npt.NDArray[np.void]
    armed: int
    touched: int
    dropped: int
    time_s: float = 0.0


def read_profile(path: Path) -> Profile:
    """Return the profile in a file; raise InvalidInputError, in one line, where there is none or it is damaged.

    Only regular files are read, and of one without the right header no more than that.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_HEADER.itemsize)
            if len(data) == _HEADER.itemsize and _size_bytes(data) == os.fstat(file.fileno()).st_size > len(data):
                data += file.read(min(_size_bytes(data), MOST_BYTES) - len(data))
    except OSError as error:
        raise InvalidInputError(
            f"profile {path} cannot be read: {error.strerror}; make one with numapredict run --profile {path}"
        ) from None
    try:
        return parse_profile(data)
    except ValueError as error:
        raise InvalidInputError(
            f"{path} is no whole page-access profile: {error}; make it again with numapredict run --profile"
        ) from None


def is_profile(path: Path) -> bool:
    """Return whether a file is a whole page-access profile."""
    try:
        read_profile(path)
    except InvalidInputError:
        return False
    return True


def _size_bytes(header: bytes) -> int:
    """Return how long the file is by its header's word; 0 where it does not begin like a profile."""
    fields = np.frombuffer(header, _HEADER, 1)[0]
    if int(fields["magic"]) != MAGIC:
        return 0
    parts = int(fields["ranges"]) * _RANGE.itemsize + int(fields["samples"]) * SAMPLE.itemsize
    return _HEADER.itemsize + parts + int(fields["text_bytes"])


def parse_profile(data: bytes) -> Profile:
    """Return the profile that bytes hold; raise ValueError for what is wrong with them."""
    if len(data) < _HEADER.itemsize:
        raise ValueError("it is shorter than a header")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if int(header["magic"]) != MAGIC:
        raise ValueError("it does not begin like a profile")
    if int(header["version"]) != VERSION:
        raise ValueError(f"it has version {int(header['version'])}, and {VERSION} is known")
    slots, count, samples = int(header["slots"]), int(header["ranges"]), int(header["samples"])
    sizes = (_HEADER.itemsize, count * _RANGE.itemsize, samples * SAMPLE.itemsize, int(header["text_bytes"]))
    if sum(sizes) != len(data):
        raise ValueError(f"it has {len(data)} bytes and should have {sum(sizes)}")
    if not 1 <= slots <= MOST_SLOTS or count > MOST_RANGES:
        raise ValueError(f"it tells of {slots} threads and {count} ranges")
    ranges = np.frombuffer(data, _RANGE, count, sizes[0])
    sampled = np.frombuffer(data, SAMPLE, samples, sizes[0] + sizes[1])
    text = data[len(data) - sizes[3] :]
    if samples and (int(sampled["slot"].max()) >= slots or not np.isfinite(sampled["rate"]).all()):
        raise ValueError("a sample is of a thread or a rate that cannot be")
    if samples and float(sampled["rate"].min()) < 0:
        raise ValueError("a rate is negative")
    return Profile(
        slots=slots,
        page_bytes=int(header["page_bytes"]),
        ranges=tuple(_range(record, sampled, text, slots) for record in ranges),
        samples=sampled,
        armed=int(header["armed"]),
        touched=int(header["touched"]),
        dropped=int(header["dropped"]),
        time_s=int(header["time_ns"]) * 1e-9,
    )


def _range(record: np.void, samples: npt.NDArray[np.void], text: bytes, slots: int) -> ProfiledRange:
    first, count, pages = (int(record[name]) for name in ("first_sample", "samples", "pages"))
    if first + count > len(samples):
        raise ValueError("a range has samples beyond the last one")
    page = samples["page"][first : first + count]
    if not 1 <= pages <= 1 << 32:  # struct plan_run holds 32 bits
        raise ValueError(f"a range has {pages} pages")
    if count and (int(page[-1]) >= pages or bool((page[1:] < page[:-1]).any())):
        raise ValueError("the pages of a range are not in order, or beyond its end")
    first_slot = int(record["first_slot"])
    if not -1 <= first_slot < slots:
        raise ValueError(f"a range was touched first by thread {first_slot}")
    first_module = _path(text, int(record["first_touch_module"]))
    return ProfiledRange(
        kind=int(record["kind"]),
        site=int(record["site"]),
        slot=int(record["slot"]),
        order=int(record["order"]),
        pages=pages,
        first=first,
        count=count,
        first_slot=first_slot,
        module=_path(text, int(record["module"])),
        offset=int(record["offset"]),
        size_bytes=int(record["bytes"]),
        first_module=first_module,
        # The file has the byte before the instruction: the library takes it for a call's return address.
        first_offset=int(record["first_touch_offset"]) + 1 if first_module else 0,
    )


def _path(text: bytes, start: int) -> str:
    end = text.find(b"\0", start)
    if start >= len(text) or end < 0:
        raise ValueError("a path is missing")
    return text[start:end].decode(errors="replace")
