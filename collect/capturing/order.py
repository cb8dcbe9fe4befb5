"""In which order the regions of a process came, as the capture library tells when the process ends.

The contract is native/capture/order.h; this is its other side.
"""

import struct
from collections.abc import Sequence

import msgspec

MOST_REGIONS = 64

_SUCCESSION = struct.Struct(f"=QQII{MOST_REGIONS}Q")


class Succession(msgspec.Struct, frozen=True):
    """``count`` instances of a region that began after the same ``others``, the latest of these first.

    These are the regions that came since its last instance, or since the first instance of all. Regions are keys of
    native/regions/region_file.h, or numbers. A ``count`` of 0: in the ``process``, the order is not known.
    """

    region: int
    others: tuple[int, ...]
    count: int
    process: int = 0


def succession_of(packet: bytes) -> Succession | None:
    """Return what a packet tells of a region, None where it is another packet."""
    if len(packet) != _SUCCESSION.size:
        return None
    count, key, process, others, *keys = _SUCCESSION.unpack(packet)
    return Succession(key, tuple(keys[:others]), count, process)


def order_of(told: Sequence[Succession]) -> tuple[Succession, ...] | None:
    """Return the order of a run's regions; None where it is not known, or several processes had some."""
    if not told or any(not one.count for one in told) or len({one.process for one in told}) > 1:
        return None
    return tuple(told)
