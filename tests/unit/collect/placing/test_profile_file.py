import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.placing import profile_file as pf
from numapredict.collect.placing.profile_file import BLOCKS, FIRST, WAIT_BEGINS_S, parse_profile, read_profile
from numapredict.native.errors import InvalidInputError
from tests.profiles import profile_bytes

RANGES = [(10, [(0, 0, 5.0), (0, 3, 2.0), (9, 1, 1.0)]), (4, []), (1, [(0, 2, 0.5)])]


def test_a_profile_is_read(tmp_path: Path) -> None:
    (tmp_path / "profile").write_bytes(profile_bytes(RANGES, first_slot=-1, range_watched=7))
    profile = read_profile(tmp_path / "profile")
    assert (profile.slots, profile.page_bytes, profile.armed, profile.touched) == (4, 4096, 100, 90)
    assert [(r.site, r.pages, r.first, r.count, r.first_slot) for r in profile.ranges] == [
        (1, 10, 0, 3, -1),
        (2, 4, 3, 0, -1),
        (3, 1, 3, 1, -1),
    ]
    assert (profile.ranges[1].module, profile.ranges[1].offset) == ("/home/some one/app", 128)
    assert (profile.ranges[0].stack, profile.ranges[0].watched) == ((("/home/some one/app", 4096),), 7)
    assert profile.stacks == (profile.ranges[0].stack,)
    assert (profile.regions, profile.build_ids) == (
        (("/home/some one/app", 8192),),
        {"/home/some one/app": "abababab"},
    )
    assert profile.ranges[2].firsts[["page", "pages", "slot", "access"]].tolist() == [(0, 1, -1, 2)]
    assert profile.samples["rate"].tolist() == [5.0, 2.0, 1.0, 0.5]


def test_waits_are_those_of_their_range() -> None:
    profile = parse_profile(profile_bytes(RANGES, wait_touches=7, wait_range=2, wait_bin=13))
    assert [one.waits.nonzero()[0].tolist() for one in profile.ranges] == [[], [], [13]]
    assert profile.ranges[2].waits[13] == 7


def test_groups_of_blocks_know_their_pages_in_the_heap() -> None:
    owners = [(0, 1, 2, 1, 2), (0, 5, 1, 1, 0), (0, 7, 1, 2, 0)]
    profile = parse_profile(
        profile_bytes(RANGES, owners=owners, kinds=[5, 7, 7], range_blocks=3, range_block_bytes=5000)
    )
    assert [one.owned[["range", "page", "pages", "group_page"]].tolist() for one in profile.ranges] == [
        [], [(0, 1, 2, 2), (0, 5, 1, 0)], [(0, 7, 1, 0)],
    ]  # fmt: skip
    assert (profile.ranges[1].kind, profile.ranges[1].blocks, profile.ranges[1].block_bytes) == (BLOCKS, 3, 5000)


@pytest.mark.native
def test_bins_of_waits_begin_where_the_library_begins_them(tmp_path: Path) -> None:
    folder = Path(__file__).parents[4] / "native" / "placement" / "profile"
    (tmp_path / "bins.c").write_text(
        '#include "profile_file.h"\n#include <stdio.h>\n'
        "int main(void) { for (unsigned n = 0; n < PROFILE_WAITS; n++)"
        ' printf("%llu\\n", (unsigned long long)profile_wait_ns(n)); }'
    )
    program = tmp_path / "bins"
    subprocess.run(["gcc", f"-I{folder}", tmp_path / "bins.c", "-o", program], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in said.split()] == np.rint(WAIT_BEGINS_S * 1e9).tolist()


DAMAGE = {
    "another magic": profile_bytes(RANGES, header_magic=1),
    "the first version": profile_bytes(RANGES, header_version=1),
    "an older version": profile_bytes(RANGES, header_version=4),
    "a later version": profile_bytes(RANGES, header_version=6),
    "too many samples": profile_bytes(RANGES, header_samples=5),
    "absurdly many samples": profile_bytes(RANGES, header_samples=2**63),
    "absurdly many ranges": profile_bytes(RANGES, header_ranges=2**32 - 1),
    "no threads": profile_bytes(RANGES, header_slots=0),
    "too many threads": profile_bytes(RANGES, header_slots=70000),
    "a thread beyond": profile_bytes(RANGES, slots=3),
    "no pages": profile_bytes(RANGES, range_pages=0),
    "absurdly many pages": profile_bytes(RANGES, range_pages=2**60),
    "a page beyond": profile_bytes([(5, [(5, 0, 1.0)])]),
    "pages out of order": profile_bytes([(5, [(3, 0, 1.0), (2, 0, 1.0)])]),
    "samples beyond": profile_bytes(RANGES, range_first_sample=2**64 - 1),
    "a first toucher beyond": profile_bytes(RANGES, first_slot=4),
    "a first toucher below": profile_bytes(RANGES, first_slot=-2),
    "a first touch behind the end": profile_bytes(RANGES, first_pages=11),
    "first touches beyond": profile_bytes(RANGES, range_first_first=2**64 - 1),
    "first touches out of order": profile_bytes(RANGES[:1] * 2, range_first_first=0, range_firsts=2),
    "a first touch in no region": profile_bytes(RANGES, first_region=2),
    "a first touch by no call": profile_bytes(RANGES, first_stack=2),
    "neither read nor written": profile_bytes(RANGES, first_access=3),
    "an allocation by no call": profile_bytes(RANGES, range_stack=2),
    "a range that stands for none": profile_bytes(RANGES, range_stands_for=0),
    "waits beyond": profile_bytes(RANGES, wait_touches=1, wait_range=3),
    "pages of the heap of no range": profile_bytes(RANGES, owners=[(3, 0, 1, 1, 0)], kinds=[5, 7, 1]),
    "pages of the heap of no group": profile_bytes(RANGES, owners=[(0, 0, 1, 2, 0)], kinds=[5, 7, 1]),
    "pages of a group of a group": profile_bytes(RANGES, owners=[(1, 0, 1, 1, 0)], kinds=[5, 7, 1]),
    "pages of the heap behind its end": profile_bytes(RANGES, owners=[(0, 9, 2, 1, 0)], kinds=[5, 7, 1]),
    "pages of the heap behind a group's end": profile_bytes(RANGES, owners=[(0, 0, 2, 1, 3)], kinds=[5, 7, 1]),
    "a stack too deep": profile_bytes(RANGES, frame_depth=17),
    "a call in no module": profile_bytes(RANGES, frame_module=1),
    "a region in no module": profile_bytes(RANGES, region_module=1),
    "too many stacks": profile_bytes(RANGES, header_stacks=2**32 - 1),
    "a path beyond": profile_bytes(RANGES, module_path=19),
    "a range in no module": profile_bytes(RANGES, range_module=1),
    "a negative rate": profile_bytes([(5, [(0, 0, -1.0)])]),
    "an endless rate": profile_bytes([(5, [(0, 0, float("inf"))])]),
    "no rate": profile_bytes([(5, [(0, 0, float("nan"))])]),
    "nothing": b"",
    "text": b"hello\n" * 100,
    "a byte too many": profile_bytes(RANGES) + b"\0",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_gets_one_line(tmp_path: Path, kind: str) -> None:
    (tmp_path / "profile").write_bytes(DAMAGE[kind])
    with pytest.raises(InvalidInputError) as error:
        read_profile(tmp_path / "profile")
    assert "\n" not in str(error.value)
    assert "numapredict run --profile" in str(error.value)


def test_a_cut_file_is_told_by_its_own_size(tmp_path: Path) -> None:
    whole = profile_bytes(RANGES)
    (tmp_path / "profile").write_bytes(whole[:-3])
    with pytest.raises(InvalidInputError, match=f"it has {len(whole) - 3} bytes and should have {len(whole)};"):
        read_profile(tmp_path / "profile")


def test_every_truncation_is_noticed() -> None:
    whole = profile_bytes(RANGES)
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"."):
            parse_profile(whole[:length])


@given(st.lists(st.tuples(st.integers(0, len(profile_bytes(RANGES)) - 1), st.integers(0, 255)), min_size=1))
def test_any_damage_is_refused_or_harmless(damage: list[tuple[int, int]]) -> None:
    data = bytearray(profile_bytes(RANGES))
    for at, value in damage:
        data[at] = value
    try:
        profile = parse_profile(bytes(data))
    except ValueError:
        return
    for known in profile.ranges:
        sampled = profile.samples[known.first : known.first + known.count]
        assert (sampled["page"] < known.pages).all()


def test_a_missing_file_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_profile(tmp_path / "none")


def test_pages_before_a_threads_own_block_belong_to_the_thread_before() -> None:
    """Parts of 16 pages; the blocks of three threads begin 12 pages into the second and the fourth."""
    parts = [(0, 0, 0), (16, 28, 1), (32, 32, 1), (48, 60, 2)]
    firsts = np.array([(page, 16, touched, slot, 0, 1, 2) for page, touched, slot in parts], FIRST)
    found = pf._from_the_touch_on(firsts)
    assert [tuple(each)[:2] for each in found.tolist()] == [(0, 28), (28, 4), (32, 28), (60, 4)]
    assert found["slot"].tolist() == [0, 1, 1, 2]
    for name, value in (("region", 0), ("slot", -1)):  # outside regions, and where the one before was not seen
        firsts[name][:] = value
        assert pf._from_the_touch_on(firsts).tolist() == firsts.tolist()
        firsts[name][:] = 1


@pytest.mark.parametrize("touched", [3, 2**32 - 1])
def test_a_first_touch_outside_its_part_is_refused(touched: int) -> None:
    with pytest.raises(ValueError, match="not its part's"):
        pf.parse_profile(profile_bytes([(3, [(0, 0, 1.0)])], first_touched=touched))
