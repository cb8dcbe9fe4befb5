from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import (
    PageRun,
    PlacedPool,
    PlacedThread,
    RegionMoves,
    pages_once,
    parse_map,
    read_map,
    tally,
)
from numapredict.native.errors import InvalidInputError

TEXT = """numaplace-map 1 77
thread 0 4 10 0
thread 1 5 9 1
range 1 00000000000000ab 0 0 10 7f00 4a2 /home/a b/app
at 0 4 0 0
at 4 3 1 0
at 7 3 -1 0
range 2 00000000000000ac 0 0 4 7f80 80 /home/a b/app
at 0 4 1 -1
numaplace-map 1 78
range 4 0000000000000000 0 0 2 10 0 [heap]
at 0 2 0 -1
"""


def test_a_map_is_read() -> None:
    found = parse_map(TEXT)
    assert found.threads == (PlacedThread(77, 0, 4, 10, 0), PlacedThread(77, 1, 5, 9, 1))
    heap, static, rest = found.ranges
    assert (heap.name, heap.pages, heap.start) == ("heap app+0x4a2", 10, 0x7F00)
    assert heap.runs == (PageRun(0, 4, 0, 0), PageRun(4, 3, 1, 0), PageRun(7, 3, -1, 0))
    assert (static.name, static.pages, static.runs) == ("static app+0x80", 4, (PageRun(0, 4, 1, -1),))
    assert (rest.process, rest.name, rest.runs) == (78, "rest [heap]", (PageRun(0, 2, 0, -1),))


def test_what_was_left_out_is_read() -> None:
    found = parse_map(
        TEXT
        + "unplaced\nfree 2\nbrief 40\nunasked 9\nunseen shared 3\n"
        + "unseen private 5\nnumaplace-map 1 79\nunseen shared 4\n"
    )
    assert (found.free, found.brief, found.unasked) == (2, 40, 9)
    assert (found.unplaced, found.unseen) == (1, (("private", 5), ("shared", 7)))
    assert (parse_map(TEXT).unplaced, parse_map(TEXT).unseen) == (0, ())


def test_what_was_moved_for_a_region_is_read() -> None:
    found = parse_map(TEXT + "moves ffffffffffffffff 3 4096\nmoves 00000000000000cd 0 0\n")
    assert found.moves == (RegionMoves(78, 2**64 - 1, 3, 4096), RegionMoves(78, 0xCD, 0, 0))
    with pytest.raises(InvalidInputError, match="moves cd 1"):
        parse_map(TEXT + "moves cd 1\n")


def test_what_became_of_a_pool_is_read() -> None:
    assert parse_map(TEXT + "pool 1 0 9 3 2\n").pools == (PlacedPool(78, True, False, 9, 3, 2),)
    with pytest.raises(InvalidInputError, match="pool 1 0 9 3"):
        parse_map(TEXT + "pool 1 0 9 3\n")


def test_pages_are_judged_by_the_decided_node_or_else_by_the_allowed_ones() -> None:
    worst, *others = tally(parse_map(TEXT).ranges, frozenset({0}))
    assert (worst.name, worst.pages, worst.right, worst.elsewhere) == ("static app+0x80", 4, 0, {1: 4})
    assert [(t.name, t.pages, t.right) for t in others] == [("heap app+0x4a2", 7, 4), ("rest [heap]", 2, 2)]
    allowed = tally(parse_map(TEXT).ranges, frozenset({0, 1}))
    assert {t.name: t.pages - t.right for t in allowed} == {"heap app+0x4a2": 3, "static app+0x80": 0, "rest [heap]": 0}


def test_the_ranges_of_one_name_are_counted_together() -> None:
    again = TEXT + TEXT
    assert next((t.pages, t.right) for t in tally(parse_map(again).ranges, frozenset({0}))) == (8, 0)


FILE = """numaplace-map 1 77
range 6 00000000000000ab 0 0 8 7f00 0 /home/a/data
file 65024 3
at 0 8 1 0
others 8
range 6 00000000000000ac 0 0 8 7f00 4000 /home/a/data
file 65024 3
at 0 2 -1 0
at 2 6 0 0
range 6 00000000000000ab 0 1 8 7f00 0 /home/a/data
file 65024 3
at 0 1 0 0
at 1 4 -1 0
at 5 2 1 0
at 7 1 -1 0
others 2
range 6 00000000000000ab 0 2 8 7f00 0 /home/a/data
file 65024 4
at 0 8 1 1
range 1 00000000000000ab 0 0 8 7f00 0 /home/a/app
at 0 8 0 0
"""


def test_a_page_of_a_file_counts_where_it_was_last_seen_in_memory_alone() -> None:
    first, part, again, other, heap = pages_once(parse_map(FILE).ranges)
    assert first.runs == (PageRun(1, 4, 1, 0),)
    assert part.runs == (PageRun(3, 5, 0, 0),)  # pages 6 to 11 of the file, of which 6 is in the one behind
    assert again.runs == (PageRun(0, 1, 0, 0), PageRun(5, 2, 1, 0))
    assert (other.file, other.runs) == ((65024, 4), (PageRun(0, 8, 1, 1),))
    assert (heap.file, heap.runs) == ((), (PageRun(0, 8, 0, 0),))
    counted = {one.name: (one.pages, one.right, one.others) for one in tally((first, part, again), frozenset({0}))}
    assert counted == {"file data": (7, 1, 6), "file data+0x4000": (5, 5, 0)}


@pytest.mark.parametrize(
    "text",
    [
        "numaplace-map 2 1\n",
        "thread 0 0 0 0\n",
        "numaplace-map 1 1\nthread 0 0 0\n",
        "numaplace-map 1 1\nleft\n",
        "numaplace-map 1 1\nat 0 1 0 0\n",
        "numaplace-map 1 1\nrange 1 ab 0 0\n",
        "numaplace-map 1 1\nrange 1 ab 0 0 1 1 xyz /app\n",
        "numaplace-map 1 x\n",
        "numaplace-map 1 1\nrange 6 ab 0 0 1 1 0 /data\nfile 65024\n",
        "numaplace-map 1 1\nunseen shared\n",
        "numaplace-map 1 1\nunseen shared many\n",
        "numaplace-map 1 1\n\n",
    ],
)
def test_another_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_map(text)
    assert "\n" not in str(error.value)


def test_ranges_that_were_left_are_counted_over_processes() -> None:
    assert parse_map(TEXT).left == 0
    assert parse_map("numaplace-map 1 1\nleft 3\n" + TEXT + "numaplace-map 1 2\nleft 4\n").left == 7


def test_no_file_is_no_map(tmp_path: Path) -> None:
    assert read_map(tmp_path / "none") is None
    (tmp_path / "empty").write_text("")
    assert read_map(tmp_path / "empty") is not None
