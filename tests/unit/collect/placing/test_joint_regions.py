"""Region times of ranks and of forked children: one table over all of them."""

import msgspec

from numapredict.collect.placing.joint_regions import in_groups, joint
from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.collect.placing.region_times_text import regions_in_words


def region(offset: int, count: int, time_s: float, team: int = 4) -> RegionTime:
    return RegionTime(f"f{offset}", "/bin/app", offset, count, time_s, team, at_work=float(team))


def rank(number: int | None, *regions: RegionTime, program: str = "/bin/app", parent: int | None = None) -> RegionTimes:
    return RegionTimes(regions, 10.0, True, 100 + (number or 0), parent, program, number)


def test_the_ranks_of_a_program_are_together_and_all_else_is_alone() -> None:
    one, other = region(1, 1, 1.0), region(2, 1, 1.0)
    again, child = rank(0, other), rank(1, one, parent=101)
    processes = [rank(1, one), rank(None, one), rank(0, one), rank(0, one, program="/bin/pre"), again, child]
    first, alone, pre, second, forked = in_groups(processes)
    assert first == (processes[2], processes[0])  # by rank
    assert (alone, pre, second, forked) == ((processes[1],), (processes[3],), (again,), (child,))


def test_a_region_has_the_mean_time_and_the_slowest_ins() -> None:
    found = joint([rank(0, region(1, 5, 2.0), region(2, 1, 0.5)), rank(1, region(1, 7, 6.0, team=2))])
    first, second = found.regions
    assert (first.counts, first.teams, first.mean.time_s, first.slowest.time_s) == ((5, 7), (2, 4), 4.0, 6.0)
    assert (first.slowest_in, first.mean.at_work) == (1, 3.0)
    assert (second.counts, second.mean.time_s, second.slowest_in) == ((0, 1), 0.25, 0)
    assert (found.slowest_s, found.slowest_in, found.mean.region_time_s) == (6.0, 1, 4.25)


def test_what_all_processes_have_together() -> None:
    half = msgspec.structs.replace(region(1, 3, 1.0), unfinished=1, at_work=None)
    same_offset = msgspec.structs.replace(region(1, 2, 1.0), module="/lib/other")
    ended = msgspec.structs.replace(rank(1, half), complete=False, wall_s=30.0)
    found = joint([rank(0, half, same_offset), ended])
    assert (found.mean.complete, found.mean.wall_s) == (False, 20.0)
    assert [each.mean.module for each in found.regions] == ["/bin/app", "/lib/other"]
    assert (found.regions[0].mean.unfinished, found.regions[0].mean.at_work) == (2, None)
    assert joint([rank(0, half), rank(1, half)]).mean.complete
    two = [rank(0, half), rank(0, half, program="/bin/pre"), rank(1, half), rank(1, half, program="/bin/pre")]
    assert [len(group) for group in in_groups(two)] == [2, 2]


def test_ranks_share_a_table_and_uneven_ones_a_remark() -> None:
    lines = list(regions_in_words([rank(1, region(1, 7, 9.0)), rank(0, region(1, 5, 1.0))]))
    assert lines[0].startswith(
        "regions: 2 ranks of app: 5.000000 s of 10.000000 s in 1 parallel region on average, 9.0"
    )
    assert lines[2].split()[:6] == ["5..7", "5.000000", "9.000000", "1", "4", "4.0"]
    assert "rank 1 is 1.8 times as long in regions as the mean rank" in lines[-1]
    even = list(regions_in_words([rank(1, region(1, 5, 9.5)), rank(0, region(1, 5, 9.5))]))
    assert len(even) == 3
    assert even[2].split()[0] == "5"


def test_the_children_of_a_process_share_a_table_without_remarks_on_what_they_wait_for() -> None:
    children = [
        RegionTimes(
            (region(1, count, time_s),), 10.0, complete=True, process=process, forked_from=5, program="/bin/app"
        )
        for process, count, time_s in ((7, 2, 4.0), (6, 1, 1.0))
    ]
    (group,) = in_groups(children)
    assert [times.process for times in group] == [6, 7]
    lines = list(regions_in_words(children))
    assert len(lines) == 3
    assert lines[0].startswith("regions: 2 children of app, forked by 5: 2.500000 s of 10.000000 s")
    assert lines[0].endswith("4.000000 s in child 7")
    assert lines[2].split()[:4] == ["1..2", "2.500000", "4.000000", "7"]
    assert len(in_groups([*children, msgspec.structs.replace(children[0], forked_from=6)])) == 2
