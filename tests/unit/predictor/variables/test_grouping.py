"""Which ranges make a variable, by profiles made up of a module that is not there: offsets stand for lines."""

from dataclasses import replace

import numpy as np

from numapredict.collect.placing.profile_file import BLOCKS, FIRST, OWNER, SAMPLE, CodePlace, Profile, ProfiledRange
from numapredict.collect.source.modules import Modules
from numapredict.predictor.variables.grouping import Found, found_in

HEAP, STATIC, ARENA, FILE = 1, 2, 5, 6


def found(*ranges: tuple[int, int, str, int]) -> tuple[Found, ...]:
    """Return the variables of ranges (kind, offset, module of the first touch, its offset), each touched once."""
    samples = np.zeros(len(ranges), SAMPLE)
    samples["armed"] = samples["touches"] = 1
    samples["rate"] = 10.0
    known = tuple(
        ProfiledRange(
            kind=kind, site=1, slot=0, order=number, pages=16, first=number, count=1, module="/absent/app",
            offset=offset, size_bytes=65536, firsts=np.array([(0, 16, 0, 0, number + 1, 0, 2)][: first != ""], FIRST),
        )
        for number, (kind, offset, first, _) in enumerate(ranges)
    )  # fmt: skip
    stacks = tuple((CodePlace(first, offset),) for _, _, first, offset in ranges)
    return found_in(Profile(2, 4096, known, samples, len(ranges), len(ranges), 0, 1.0, stacks), Modules())


def test_ranges_of_one_allocation_are_one_variable() -> None:
    (one,) = found((HEAP, 64, "/absent/app", 8), (HEAP, 64, "/absent/app", 8))
    assert (one.kind, one.allocations, one.size_bytes, one.touches.first.tolist()) == ("allocated", 2, 131072, [0, 0])
    assert (one.name, one.touches.pages, one.touches.page.tolist()) == (None, 32, [0, 16])


def test_places_and_kinds_tell_variables_apart() -> None:
    kinds = [one.kind for one in found((HEAP, 64, "/a", 8), (HEAP, 72, "/a", 8), (STATIC, 64, "/a", 8))]
    assert kinds == ["allocated", "allocated", "static"]


def test_all_mappings_of_a_file_are_one_variable() -> None:
    (one,) = found((FILE, 0, "/a", 8), (FILE, 65536, "/a", 16))
    assert (one.kind, one.name, one.allocated, one.allocations) == ("file", "app", None, 2)


def test_where_names_are_not_known_the_first_touch_tells_them_apart() -> None:
    assert len(found((HEAP, 64, "/absent/app", 8), (HEAP, 64, "/absent/app", 16))) == 2


def test_small_allocations_are_one_whose_first_touch_is_not_believed() -> None:
    (one,) = found((ARENA, 0, "/absent/app", 8), (ARENA, 0, "", 0))
    assert (one.kind, one.first_touch, one.allocations) == ("small allocations", None, 2)


def test_a_static_object_that_no_file_names_has_its_offset() -> None:
    (one,) = found((STATIC, 0x4040, "", 0))
    assert one.allocated is not None
    assert (one.name, one.allocated.text, one.first_touch) == (None, "app+0x4040", None)


def test_a_region_that_ends_by_a_jump_to_memset_is_named_by_its_number() -> None:
    libc, libgomp, region = (
        CodePlace("/lib/libc.so.6", 1),
        CodePlace("/lib/libgomp.so.1", 2),
        CodePlace("/absent/app", 96),
    )
    samples = np.array([(0, 0, 0, 1, 1, 1, 0, 0, 1.0)], SAMPLE)
    for number, stack, places in (
        (1, (libc, libgomp), [1, 96, 2]),
        (0, (libc, libgomp), [1, 2]),
        (1, (libc, CodePlace("/absent/app", 8)), [1, 8]),
    ):
        firsts = np.array([(0, 16, 0, 0, 1, number, 2)], FIRST)
        known = ProfiledRange(HEAP, 1, 0, 0, 16, 0, 1, "/absent/app", 64, 65536, firsts=firsts)
        (one,) = found_in(Profile(2, 4096, (known,), samples, 1, 1, 0, 1.0, (stack,), (region,)), Modules())
        assert [place.offset for place in one.first_stack] == places
        assert one.first_touch is not None
        assert one.first_touch.offset == places[1]


def test_a_variable_has_as_many_allocations_as_its_ranges_and_its_groups_have_blocks() -> None:
    def one(*ranges: tuple[int, int, int, int]) -> Found:
        known = tuple(
            ProfiledRange(kind, 1, 0, 0, 16, 0, 0, "", 64, size_bytes=size, blocks=blocks, block_bytes=each)
            for kind, size, blocks, each in ranges
        )
        return replace(found((HEAP, 64, "/absent/app", 8))[0], ranges=known)

    same = one((BLOCKS, 30000, 3, 10000), (HEAP, 10000, 0, 0))
    assert (same.allocations, same.block_bytes) == (4, 10000)
    assert one((BLOCKS, 30000, 3, 0)).block_bytes is None
    assert one((BLOCKS, 30000, 3, 10000), (HEAP, 65536, 0, 0)).block_bytes is None
    assert one((BLOCKS, 990000, 99, 10000), (HEAP, 65536, 0, 0)).block_bytes == 10000  # as the row of pointers


def test_what_groups_have_of_the_heap_is_not_among_its_small_allocations() -> None:
    samples = np.zeros(2, SAMPLE)
    samples["armed"] = samples["touches"] = 1
    samples["rate"] = 10.0
    heap = ProfiledRange(ARENA, 1, 0, 0, 16, 0, 1, "[heap]", 0, size_bytes=65536)
    owned = np.array([(0, 2, 5, 1, 0, 0)], OWNER)
    rows = ProfiledRange(BLOCKS, 2, 0, 0, 5, 1, 1, "/absent/app", 64, size_bytes=20480, blocks=5, owned=owned)
    small, group = found_in(Profile(2, 4096, (heap, rows), samples, 2, 2, 0, 1.0), Modules())
    assert (small.kind, small.size_bytes) == ("small allocations", 11 * 4096)
    assert (group.kind, group.size_bytes, group.allocations) == ("allocated", 20480, 5)


def test_an_interpreter_allocates_and_touches_for_what_it_runs() -> None:
    python, own = CodePlace("/usr/lib/libpython3.11.so.1.0", 1), CodePlace("/absent/module.so", 96)
    samples = np.array([(0, 0, 0, 1, 1, 1, 0, 0, 1.0)], SAMPLE)
    for calls, told in (((python, own), own), ((python,), python)):
        firsts = np.array([(0, 16, 0, 0, 1, 0, 2)], FIRST)
        known = ProfiledRange(HEAP, 1, 0, 0, 16, 0, 1, *python, 65536, calls, firsts=firsts)
        (one,) = found_in(Profile(2, 4096, (known,), samples, 1, 1, 0, 1.0, (calls,)), Modules())
        assert one.allocated is not None
        assert one.allocated == one.first_touch
        assert (one.allocated.module, one.allocated.offset) == told
