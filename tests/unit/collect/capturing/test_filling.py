"""How much each thread writes to, so that nothing of a region's data is left in its caches."""

import msgspec

from numapredict.collect.capturing.filling import fill_bytes
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.topology import Cache
from tests.shapes import shape

SHAPE = shape([4, 4])
PRIVATE = tuple(Cache(level, size, 64, (core,)) for core in range(8) for level, size in ((1, 100), (2, 1000)))
SHARED = tuple(Cache(3, 64_000, 64, cores) for cores in ((0, 1, 2, 3), (4, 5, 6, 7)))


def test_twice_the_private_cache_and_a_share_of_the_last_one() -> None:
    whole = msgspec.structs.replace(SHAPE, caches=PRIVATE + SHARED)
    for label, share in (("8x2-contiguous-first-touch", 16_000), ("2x2-contiguous-interleave", 64_000)):
        assert fill_bytes(resolve(parse_label(label), whole)) == 2000 + share
    private = msgspec.structs.replace(SHAPE, caches=PRIVATE)
    assert fill_bytes(resolve(parse_label("4x1-contiguous-bind"), private)) == 2000
    none = msgspec.structs.replace(SHAPE, caches=())
    assert fill_bytes(resolve(parse_label("4x1-contiguous-bind"), none)) == 0
