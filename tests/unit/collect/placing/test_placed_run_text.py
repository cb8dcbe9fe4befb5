from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.placed_run_outcome import placement_found, regions_found
from numapredict.collect.placing.placed_run_text import placement_in_words, profile_in_words
from numapredict.collect.placing.preload import PlacementFiles
from tests.profiles import profile_bytes
from tests.shapes import shape

TOPOLOGY = shape([2, 2, 2])  # nodes 10, 11 and 12 to the operating system
HEAD = "numaplace-map 1 5\n"
THREADS = "".join(f"thread {slot} {slot} 3 0\n" for slot in range(4))


def words(tmp_path: Path, text: str, label: str) -> list[str]:
    path = tmp_path / "map"
    path.write_text(text)
    return reported(path, label)


def reported(path: Path, label: str) -> list[str]:
    lines: list[str] = []
    mapping = parse_label(label)
    found = placement_found(PlacementFiles(map=str(path)), resolve(mapping, TOPOLOGY), lines.append)
    return lines + ([] if found is None else list(placement_in_words(found, mapping)))


def heap(number: int, pages: int, *runs: tuple[int, int]) -> str:
    text = f"range 1 {number:016x} 0 {number} {pages} 7f00 {number:x} /home/app\n"
    return text + "".join(f"at 0 {pages} {node} {wanted}\n" for node, wanted in runs)


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ("1 1 1 1 1", "main thread and 1 of 1 pool threads were bound each to its own PU"),
        ("1 1 5 3 3", "main thread and 3 of 3 pool threads were bound each to its own PU; 2 idle ones left free"),
        ("0 0 2 2 2", "main thread only waits: left unbound; 2 of 2 pool threads were bound each to its own PU"),
        ("0 1 3 0 0", "3 idle pool threads left free"),
        ("0 1 2 2 1", "main thread only waits; 1 of 2 pool threads was bound to its own PU"),
        (
            "1 0 5 4 4",
            "main thread was left unbound; 4 of 4 pool threads were bound each to its own PU; 1 idle one left free",
        ),
    ],
)
def test_a_pool_is_told_of_by_who_works(pool: str, said: str, tmp_path: Path) -> None:
    assert f"verify: {said}" in words(tmp_path, f"{HEAD}{THREADS}pool {pool}\n", "4x2-contiguous-locality")


def test_a_plan_puts_pages_beside_the_only_page_node(tmp_path: Path) -> None:
    text = HEAD + THREADS + heap(1, 300, (12, 12)) + heap(2, 100, (10, 10))
    assert words(tmp_path, text, "2x1-contiguous-bind")[1] == (
        "verify: 400 of 400 pages (100%) were on the node decided for each, or where none was on node 10"
    )
    assert words(tmp_path, HEAD + THREADS + heap(1, 300, (10, 10)), "2x1-contiguous-bind")[1] == (
        "verify: 300 of 300 pages (100%) were on node 10"
    )


def test_all_as_the_mapping_says(tmp_path: Path) -> None:
    text = HEAD + THREADS + heap(1, 500, (10, 10)) + heap(2, 500, (11, 11))
    assert words(tmp_path, text, "4x2-contiguous-locality") == [
        "verify: 4 of 4 threads were bound to their PU at each check",
        "verify: 1000 of 1000 pages (100%) were on the node decided for each, or where none was on any of the "
        "mapping's page nodes (10, 11)",
        "verify: pages by node: node 10 50.0%, node 11 50.0%",
    ]


def test_first_touch_is_judged_by_the_nodes_of_the_threads(tmp_path: Path) -> None:
    lines = words(tmp_path, HEAD + THREADS + heap(1, 8, (10, -1)), "4x2-contiguous-first-touch")
    assert lines[1] == "verify: 8 of 8 pages (100%) were on any of the nodes of the threads (10, 11)"


def test_openmp_that_came_later_is_said(tmp_path: Path) -> None:
    lines = words(tmp_path, HEAD + "late\n" + THREADS + heap(1, 8, (10, 10)), "4x2-contiguous-locality")
    assert lines[1].startswith("verify: the OpenMP runtime was loaded while the program ran: memory from before")


def test_ranges_without_room_are_said(tmp_path: Path) -> None:
    text = HEAD + "left 7\n" + THREADS + heap(1, 8, (10, 10))
    line = words(tmp_path, text, "4x2-contiguous-dataset")[1]
    assert line.startswith("verify: 7 ranges of memory went where the kernel puts new pages: ")
    assert "vm.max_map_count" in line
    assert "1 range of memory" in words(tmp_path, text.replace("left 7", "left 1"), "4x2-contiguous-dataset")[1]


def test_a_process_that_found_the_slots_taken_is_said(tmp_path: Path) -> None:
    other = "numaplace-map 1 6\nunplaced\n"
    (line,) = words(tmp_path, other, "4x2-contiguous-locality")
    assert line.startswith(
        "verify: 1 process of the run found the mapping's PUs taken by another one: it was left free"
    )
    lines = words(
        tmp_path, HEAD + THREADS + heap(1, 8, (10, 10)) + other + other.replace("6", "7"), "4x2-contiguous-mix"
    )
    assert lines[0].startswith("verify: 2 processes of the run found")
    assert lines[1].startswith("verify: 4 of 4 threads")


def test_forked_children_have_rows(tmp_path: Path) -> None:
    children = [f"numaplace-map 1 {number}\nforked 5\n" for number in (6, 7, 8)]
    text = HEAD + THREADS + heap(1, 8, (10, -1)) + "".join(children)
    lines = words(
        tmp_path, text + children[0] + heap(1, 3, (10, -1)) + children[1] + "unplaced\n", "2x1-contiguous-bind"
    )
    assert [line.split()[:6] for line in lines[4:7]] == [
        ["6", "5", "0", "0", "3", "3"],
        ["7", "5", "0", "0", "0", "0"],
        ["8", "5", "0", "0", "0", "0"],
    ]
    assert lines[2].startswith("verify: 11 of 11 pages")
    assert "nothing was checked of 1 that a signal ended" in lines[7]  # the other one was unplaced


def test_what_nobody_decided_or_looked_at_is_counted(tmp_path: Path) -> None:
    unseen = "unseen shared 1024\nunseen private 0\n"
    text = HEAD + THREADS + heap(1, 600, (10, 10)) + heap(2, 400, (11, -1)) + HEAD + unseen + HEAD + unseen
    lines = words(tmp_path, text, "4x2-contiguous-locality")
    assert lines[2] == "verify: for 400 of them (40.0%) no node was decided: any one is right"
    assert lines[-1] == "verify: not placed and not checked: 2048 pages of shared memory"


def test_misplaced_pages_are_listed_by_range(tmp_path: Path) -> None:
    text = HEAD + "thread 0 0 7 2\n" + heap(1, 9999, (10, 10)) + heap(0x4A2, 1, (12, 10))
    lines = words(tmp_path, text, "2x1-contiguous-bind")
    assert lines[0] == (
        "verify: 0 of 1 threads were bound to their PU at each check; the program used 1 of the "
        "mapping's 2; thread 0 was off PU 0 2 times of 9"
    )
    assert lines[1] == "verify: 9999 of 10000 pages (99.9%) were on node 10"
    assert lines[3:] == [
        f"  {'pages':>10} {'misplaced':>10}  range (where they were)",
        f"  {1:>10} {1:>10}  heap app+0x4a2 (node 12: 1)",
    ]


def test_pages_of_a_file_that_others_map_are_told(tmp_path: Path) -> None:
    file = "range 6 00000000000000ef 0 0 96 7f0 1000 /models/a b.gguf\nat 0 96 12 10\nothers 90\n"
    lines = words(tmp_path, HEAD + THREADS + file + file, "2x1-contiguous-bind")
    assert lines[-2:] == [
        f"  {192:>10} {192:>10}  file a b.gguf+0x1000 (node 12: 192)",
        "verify: other processes have 180 pages of file a b.gguf+0x1000 in use, too: the kernel moves none of these "
        "while they do",
    ]


def test_many_ranges_are_cut_short(tmp_path: Path) -> None:
    text = HEAD + THREADS + "".join(heap(number, 2, (12, -1)) for number in range(1, 30))
    lines = words(tmp_path, text, "4x2-contiguous-first-touch")
    assert lines[-1] == "  and 19 more ranges"
    assert len(lines) == 14


@pytest.mark.parametrize("text", ["", "hello\n", HEAD])
def test_a_map_of_nothing_is_said(tmp_path: Path, text: str) -> None:
    lines = words(tmp_path, text, "4x2-contiguous-first-touch")
    assert lines
    assert all(line.startswith("verify: ") for line in lines)
    assert "0 of 0" not in "".join(lines)


def test_absent_files_are_said(tmp_path: Path) -> None:
    (line,) = reported(tmp_path / "none", "1x1-contiguous-bind")
    assert "nothing was written" in line
    assert regions_found(PlacementFiles(report=str(tmp_path / "none"))) == ()
    assert profile_in_words(tmp_path / "none").startswith("profile: ")


def test_a_profile_in_words(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(profile_bytes([(2, [(0, 0, 1.0)]), (3, [])], header_dropped=7))
    assert profile_in_words(tmp_path / "p") == (
        f"profile: {tmp_path / 'p'}: 1 samples of 90 touched pages in 1 of 2 ranges, 4 threads; no room for 7 more"
    )
