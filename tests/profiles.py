"""Page-access profiles made by hand, byte by byte as native/placement/profile/profile_file.h has them."""

import struct
from collections.abc import Sequence

MAGIC = 0x31464F525050554E
SAMPLE = "<I2H3I2Hd"
RANGE_BYTES, HEADER_BYTES = 128, 120


def profile_bytes(
    ranges: Sequence[tuple[int, Sequence[tuple[int, int, float]]]],
    slots: int = 4,
    owners: Sequence[tuple[int, int, int, int, int]] = (),
    kinds: Sequence[int] = (),
    **changes: int,
) -> bytes:
    """Return a profile; each range is its pages and its samples (page, slot, rate), sorted by page.

    ``owners`` are pages of the heap (range, page, pages, group, its page). Ranges are, unless ``kinds`` has others,
    heap ranges of the sites 1, 2 ..., touched first by thread 0 outside regions, whole; ``changes`` are
    fields to set otherwise: of every range those whose names begin with ``range_``, of its first touch, its stack,
    its region and its module those that begin with ``first_``, ``frame_``, ``region_`` and ``module_``, of the
    header those that begin with ``header_``; ``wait_touches`` came after the waits of bin ``wait_bin``, 9 unless told.
    """
    text = b"/home/some one/app\0"
    records, samples, firsts = b"", b"", b""
    count = 0
    for site, (pages, sampled) in enumerate(ranges, 1):
        fields = {
            "site": site, "offset": 64 * site, "bytes": pages * 4096, "pages": pages,
            "first_sample": count, "samples": len(sampled), "first_first": site - 1, "firsts": 1,
            "start": site << 32, "since_ns": 10**9, "until_ns": 0,
            "module": 0, "stack": 1, "slot": 0, "order": 0,
            "kind": kinds[site - 1] if kinds else 1, "stands_for": 1, "watched": 0, "written": 0,
            "blocks": 0, "block_bytes": 0,
        }  # fmt: skip
        fields |= _changed(changes, "range_")
        records += struct.pack("<11Q10I", *fields.values())
        first = {
            "page": 0,
            "pages": min(pages, 2**32 - 1),
            "touched": 0,
            "slot": 0,
            "stack": 1,
            "region": 0,
            "access": 2,
        }
        firsts += struct.pack("<3Ii3I", *(first | _changed(changes, "first_")).values())
        samples += b"".join(struct.pack(SAMPLE, page, slot, 1, 1, 1, 1, 0, 0, rate) for page, slot, rate in sampled)
        count += len(sampled)
    frame = {"depth": 1, "offset": 4096, "module": 0} | _changed(changes, "frame_")
    stack = struct.pack("<2IQ2I", frame["depth"], 0, frame["offset"], frame["module"], 0) + bytes(16 * 15)
    wait = {"range": 0, "bin": 9, "touches": 0} | _changed(changes, "wait_")
    waits = struct.pack("<2I", wait["range"], 0) + struct.pack("<I", wait["touches"]).join(
        (bytes(4 * wait["bin"]), bytes(4 * (63 - wait["bin"])))
    )
    region = {"offset": 8192, "module": 0, "reserved": 0} | _changed(changes, "region_")
    module = {"path": 0, "build_id_bytes": 4} | _changed(changes, "module_")
    tail = (
        struct.pack("<Q2I", *region.values())
        + waits * bool(wait["touches"])
        + b"".join(struct.pack("<6I", *one, 0) for one in owners)
        + struct.pack("<2I", *module.values())
        + b"\xab" * 32
    )
    header = {
        "magic": MAGIC, "version": 5, "slots": slots, "page_bytes": 4096, "ranges": len(ranges), "stacks": 1,
        "regions": 1, "modules": 1, "placed": 0, "samples": count, "firsts": len(ranges), "text_bytes": len(text),
        "armed": 100, "touched": 90, "dropped": 0, "time_ns": 10**9,
        "waits": int(wait["touches"] > 0), "owners": len(owners), "pid": 77,
    }  # fmt: skip
    header |= _changed(changes, "header_")
    return struct.pack("<Q8I10Q", *header.values()) + records + samples + firsts + stack + tail + text


def _changed(changes: dict[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): value for name, value in changes.items() if name.startswith(prefix)}
