import json

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.placed_run_record import PlacedRun, json_of, observed_placement
from tests.shapes import shape

MAP = """numaplace-map 1 5
thread 0 0 3 0
thread 1 1 2 1
range 1 00000000000004a2 0 1 9 7f00 4a2 /home/app
at 0 4 10 10
at 4 3 11 10
at 7 2 10 -1
range 2 0000000000000080 0 2 5 7e00 80 /home/app
at 0 5 10 -1
numaplace-map 1 6
thread 0 0 1 0
"""


def test_what_a_map_says_is_added_up() -> None:
    mapping = parse_label("4x2-contiguous-locality")
    placement = observed_placement(parse_map(MAP), resolve(mapping, shape([2, 2, 2])))  # nodes 10, 11 and 12
    threads, pages = placement.threads, placement.pages
    assert (threads.looked_at, threads.right, threads.slots) == (3, 2, 2)
    assert [(thread.slot, thread.wrong) for thread in threads.misplaced] == [(1, 1)]
    assert (pages.looked_at, pages.right, pages.undecided) == (14, 11, 7)
    assert pages.nodes == {10: 11, 11: 3}
    assert pages.allowed == (10, 11)
    assert [(each.pages, each.right, each.elsewhere) for each in pages.misplaced] == [(9, 6, {11: 3})]


def test_bytes_that_are_no_text_are_written_as_their_codes() -> None:
    run = PlacedRun(
        command=(b"caf\xe9 \xc3\xa9".decode(errors="surrogateescape"),),
        mapping="1x1-contiguous-bind",
        machine="x",
        placed_by="library",
        time_s=1.0,
        exit_code=0,
        signal=None,
        placement=None,
        processes=(),
        notes=("\x1b[31m",),
    )
    found = json.loads(json_of(run))
    assert found["command"] == ["caf\\xe9 \u00e9"]
    assert found["notes"] == ["\x1b[31m"]
