from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.warm_up import Look, files_for_a_look, local_share, look
from numapredict.collect.placement import resolve
from numapredict.collect.placing.placed_pages import PageRun, PlacedRange, parse_map
from numapredict.collect.placing.profile_file import parse_profile
from tests.profiles import profile_bytes
from tests.samples import topology_of

TOPOLOGY = topology_of((2, 2))
MAPPING = parse_label("4x2-contiguous-first-touch")
MAP = """numaplace-map 1 7
thread 0 0 3 0
thread 1 1 3 1
range 1 0000000000000001 0 0 4 10 40 /app
at 0 3 0 0
at 3 1 1 0
"""


def written(folder: Path, text: str | None, profile: bytes | None) -> Look:
    files = files_for_a_look(folder)
    assert files.map is not None
    assert files.profile is not None
    if text is not None:
        Path(files.map).write_text(text)
    if profile is not None:
        Path(files.profile).write_bytes(profile)
    return look(files, resolve(MAPPING, TOPOLOGY))


def test_the_file_says_where_threads_and_pages_were(tmp_path: Path) -> None:
    found = written(tmp_path, MAP, profile_bytes([(4, [(0, 0, 1.0), (2, 2, 2.0), (3, 3, 1.0)])]))
    assert found == Look(threads=6 / 7, pages=3 / 4, local_share=0.5)
    assert not found.held


def test_a_program_that_is_hardly_seen_is_not_accused(tmp_path: Path) -> None:
    assert written(tmp_path, None, None) == Look()
    assert Look().held
    assert Look(threads=1.0, pages=0.985).held
    assert not Look(threads=0.9).held
    assert not Look(pages=0.97).held


def test_a_damaged_profile_costs_the_share_alone(tmp_path: Path) -> None:
    assert written(tmp_path, MAP, b"NUPPROF1") == Look(threads=6 / 7, pages=3 / 4)
    (tmp_path / "profile").unlink()
    assert written(tmp_path, MAP, None) == Look(threads=6 / 7, pages=3 / 4)


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


def test_samples_of_blocks_are_of_the_pages_that_they_have_in_the_heap() -> None:
    profile = parse_profile(
        profile_bytes(
            [(4, []), (2, [(0, 0, 1.0), (1, 1, 3.0)])], owners=[(0, 1, 1, 1, 1), (0, 3, 1, 1, 0)], kinds=[5, 7]
        )
    )
    heap = PlacedRange(5, (5, 1, 0, 0), "", 64, 4, 0, (PageRun(0, 2, 0, -1), PageRun(2, 2, 1, -1)))
    assert local_share(profile, [heap], HOMES) == pytest.approx(3 / 4)  # page 0 is on node 1, page 1 on node 0


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
