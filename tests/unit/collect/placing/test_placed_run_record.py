import json

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.placed_run_record import MoveTally, PlacedRun, observed_placement
from numapredict.collect.placing.placed_run_text import placement_in_words
from numapredict.collect.placing.plan_file import Plan, PlannedRegion
from numapredict.collect.terminal.record_json import json_of
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


def test_moves_of_all_processes_are_added_up_for_each_region_of_the_plan() -> None:
    moved = MAP.replace("range 1", "moves cd 2 10\nrange 1") + "moves cd 1 6\nmoves ff 9 9\n"
    regions = (
        PlannedRegion(0xAB, "/nowhere/app", 4, (0,)),
        PlannedRegion(0xCD, "/nowhere/app", 8, wants=(0,)),
        PlannedRegion(0xCE, "/nowhere/app", 9, (1,), wants=(1,)),
    )
    placement = resolve(parse_label("4x2-contiguous-locality"), shape([2, 2, 2]))
    plan = Plan("", "", "4x2-contiguous-locality", regions=regions)
    found = observed_placement(parse_map(moved), placement, plan)
    assert found.moves == (MoveTally("app+0x8", 3, 16), MoveTally("app+0x9", 0, 0))
    assert [(team.region, team.threads) for team in found.teams] == [("app+0x4", 1), ("app+0x9", 1)]
    lines = "\n".join(placement_in_words(found, placement.mapping))
    assert "verify: app+0x8: arrays were moved for it 3 times, 16 pages in all" in lines
    assert "verify: app+0x9: what it wants was there whenever it began" in lines


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
