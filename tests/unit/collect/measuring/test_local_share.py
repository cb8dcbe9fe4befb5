import numpy as np
import pytest

from numapredict.collect.measuring.local_share import local_share
from numapredict.collect.placing.placed_pages import PageRun, PlacedRange, parse_map
from numapredict.collect.placing.profile_file import parse_profile
from tests.profiles import profile_bytes

HOMES = [0, 0, 1, 1]  # of four slots


def placed(site: int, *runs: tuple[int, int, int], order: int = 0) -> PlacedRange:
    pages = sum(count for _, count, _ in runs)
    return PlacedRange(1, (1, site, 0, order), "/app", 64 * site, pages, 0, tuple(PageRun(*run, -1) for run in runs))


def test_touches_of_pages_on_the_touchers_node_are_local_by_their_rates() -> None:
    profile = parse_profile(profile_bytes([(4, [(0, 0, 6.0), (1, 1, 2.0), (2, 2, 1.0), (3, 0, 3.0)])]))
    ranges = [placed(1, (0, 2, 0), (2, 2, 1))]
    # Slots 0 and 1 are at home on node 0, 2 on node 1: pages 0, 1 and 2 are local, page 3 is not.
    assert local_share(profile, ranges, HOMES) == pytest.approx(9 / 12)
    assert local_share(profile, [placed(1, (0, 4, 0))], HOMES) == pytest.approx(11 / 12)
    assert local_share(profile, [placed(1, (0, 4, 1))], HOMES) == pytest.approx(1 / 12)


def test_ranges_are_matched_by_what_names_them() -> None:
    profile = parse_profile(profile_bytes([(2, [(0, 0, 1.0)]), (2, [(1, 0, 3.0)])]))
    ranges = [placed(2, (0, 2, 1)), placed(1, (0, 2, 0))]
    assert local_share(profile, ranges, HOMES) == pytest.approx(1 / 4)
    assert local_share(profile, [placed(1, (0, 2, 0), order=1), placed(2, (0, 2, 0))], HOMES) == 1.0


def test_what_is_not_known_is_not_counted() -> None:
    profile = parse_profile(profile_bytes([(4, [(0, 0, 5.0), (3, 2, 5.0)])]))
    assert local_share(profile, [placed(1, (0, 1, 0), (1, 3, -1))], HOMES) == 1.0  # page 3 is nowhere
    assert local_share(profile, [placed(1, (0, 4, -1))], HOMES) is None
    assert local_share(profile, [], HOMES) is None
    untouched = parse_profile(profile_bytes([(4, [(0, 0, 0.0)])]))
    assert local_share(untouched, [placed(1, (0, 4, 0))], HOMES) is None


def test_a_range_that_shrank_is_read_as_far_as_it_goes() -> None:
    profile = parse_profile(profile_bytes([(8, [(1, 0, 1.0), (7, 0, 1.0)])]))
    assert local_share(profile, [placed(1, (0, 4, 0))], HOMES) == 1.0
    assert local_share(profile, [placed(1, (0, 2, 0))], [0]) == 1.0


def test_the_map_names_ranges_as_the_profile_does() -> None:
    text = "numaplace-map 1 7\nrange 1 00000000000000ab 3 5 2 10 40 /app\nat 0 2 1 -1\n"
    (found,) = parse_map(text).ranges
    assert found.key == (1, 0xAB, 3, 5)
    assert found.kind == 1


@pytest.mark.parametrize("seed", range(20))
def test_sums_that_are_rounded_are_still_a_share(seed: int) -> None:
    """Pages that are nowhere count as 0 in one sum and are left out of the other, which is rounded otherwise."""
    rates = np.random.default_rng(seed).exponential(1.0, 300)
    profile = parse_profile(profile_bytes([(300, [(page, 0, float(rate)) for page, rate in enumerate(rates)])]))
    runs = [(page, 1, -1 if page % 3 == 0 else 0) for page in range(300)]
    share = local_share(profile, [placed(1, *runs)], HOMES)
    assert share is not None
    assert share == pytest.approx(1.0)
    assert share <= 1
