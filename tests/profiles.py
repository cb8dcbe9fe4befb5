"""Page-access profiles made by hand, byte by byte as native/placement/profile/profile_file.h has them."""

import struct
from collections.abc import Sequence

MAGIC = 0x31464F525050554E


def profile_bytes(
    ranges: Sequence[tuple[int, Sequence[tuple[int, int, float]]]], slots: int = 4, **changes: int
) -> bytes:
    """Return a profile; each range is its pages and its samples (page, slot, rate), sorted by page.

    Ranges are heap ranges of the sites 1, 2 ...; ``changes`` are fields to set otherwise: of every
    range those whose names begin with ``range_``, of the header those that begin with ``header_``.
    """
    text = b"/home/some one/app\0"
    records, samples = b"", b""
    count = 0
    for site, (pages, sampled) in enumerate(ranges, 1):
        fields = {
            "site": site, "offset": 64 * site, "bytes": pages * 4096, "pages": pages,
            "first_sample": count, "samples": len(sampled), "first_touch_offset": 0,
            "module": 0, "first_touch_module": 0, "first_slot": 0, "slot": 0, "order": 0, "kind": 1,
        }  # fmt: skip
        fields |= _changed(changes, "range_")
        records += struct.pack("<7Q2Ii3I", *fields.values())
        samples += b"".join(struct.pack("<IHHIId", page, slot, 0, 1, 1, rate) for page, slot, rate in sampled)
        count += len(sampled)
    header = {
        "magic": MAGIC, "version": 1, "slots": slots, "page_bytes": 4096, "ranges": len(ranges),
        "samples": count, "text_bytes": len(text), "armed": 100, "touched": 90, "dropped": 0, "time_ns": 10**9,
    }  # fmt: skip
    header |= _changed(changes, "header_")
    return struct.pack("<Q4I6Q", *header.values()) + records + samples + text


def _changed(changes: dict[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): value for name, value in changes.items() if name.startswith(prefix)}
