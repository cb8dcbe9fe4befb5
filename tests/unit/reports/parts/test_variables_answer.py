import msgspec

from numapredict.predictor.variables.memory_accesses import MemoryAccesses
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.time_cost import TimeCost
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render
from numapredict.reports.parts.subject import Subject
from numapredict.reports.parts.variables_answer import (
    lines_data,
    maps_data,
    misplaced_data,
    subject_of,
    variables_about,
    variables_data,
)
from tests.html_document import Document
from tests.judged import judged_answer

ANSWER = judged_answer()


def test_the_answer_names_what_is_worth_fixing_and_who_serves() -> None:
    data = misplaced_data(ANSWER)
    assert [row.name for row in data.worth] == ["wrong"]
    assert [(node.node, node.colour, node.share) for node in data.nodes] == [(0, 0, 0.75), (1, 1, 0.25)]
    assert data.served == "150 local, 50 remote; node 0 serves 75%, 1.5 times an even part"


def test_by_code_each_line_has_all_that_it_touches_first() -> None:
    first, other = lines_data(ANSWER).lines
    assert (first.place, first.variables, first.cost, first.in_region) == ("main, app.c:8", ("wrong",), 0.25, False)
    assert [(line.number, line.marked) for line in first.source] == [(7, False), (8, True), (9, False)]
    assert (other.place, other.in_region) == ("main (parallel region), app.c:11", True)
    wrong, right = ANSWER.variables
    same = msgspec.structs.replace(right, first_touch=wrong.first_touch, touch_share=0.25)
    (both,) = lines_data(msgspec.structs.replace(ANSWER, variables=(wrong, same))).lines
    assert (both.variables, both.touch_share, both.cost) == (("wrong", "right"), 0.75, 0.25)
    unseen = msgspec.structs.replace(wrong, first_touch=None)
    assert lines_data(msgspec.structs.replace(ANSWER, variables=(unseen,))).unknown == ("wrong",)


def test_by_code_regions_say_how_much_they_touch_from_elsewhere() -> None:
    first, other = lines_data(ANSWER).regions
    assert (first.place, first.touch_share, first.elsewhere_share) == ("main (parallel region), app.c:20", 0.75, 0.25)
    assert first.cost == 0.1875
    assert (other.place, other.elsewhere_share, other.cost) == ("not known", 0.0, 0.0)
    alone = msgspec.structs.replace(ANSWER.regions[1], other_threads_share=None)
    (row,) = lines_data(msgspec.structs.replace(ANSWER, regions=(alone,))).regions
    assert (row.elsewhere_share, row.cost) == (-1, 0.0)


def test_by_data_what_is_not_known_is_told_from_none() -> None:
    wrong = msgspec.structs.replace(ANSWER.variables[0], remote_share=None, other_threads_share=0.0)
    (row,) = variables_data(msgspec.structs.replace(ANSWER, variables=(wrong,))).rows
    assert (row.remote_share, row.other_threads_share, row.worth) == (-1, 0, True)


def test_what_the_processor_sampled_stands_in_the_table_and_with_the_run() -> None:
    served = Requests(local=300, remote=100, nodes=(0, 1), by_node=(300, 100), imbalance=1.5)
    accesses = MemoryAccesses(samples=900, requests=served, remote_cycles=612.4, lpi_numa=0.234)
    wrong, right = ANSWER.variables
    sampled = msgspec.structs.replace(wrong, accesses=accesses)
    answer = msgspec.structs.replace(ANSWER, accesses=accesses, variables=(sampled, right))
    data = variables_data(answer)
    assert data.sampled
    assert not variables_data(ANSWER).sampled
    assert [(row.far_share, row.lpi_numa) for row in data.rows] == [(0.25, 0.234), (-1, -1)]
    said = dict(variables_about(answer))["Accesses"]
    assert said.startswith("300 local, 100 remote; ")
    assert said.endswith("; above 0.1, from which on HPCToolkit calls placement worth a change")
    (head, first, other) = Document(render(page_data(Subject(name="app", variables=answer)))).table(
        "Variables by their"
    )
    at = head.index("lpi_NUMAlpi_NUMA")
    assert [row[at - 1 : at + 1] for row in (first, other)] == [["25%", "0.234"], ["?", "?"]]


def test_by_address_each_variable_with_a_table_is_drawn() -> None:
    assert [drawn.name for drawn in misplaced_data(ANSWER).drawings if drawn is not None] == ["wrong"]
    assert [drawn.name for drawn in maps_data(ANSWER).drawings] == ["right"]
    less = msgspec.structs.replace(ANSWER.variables[1], heat=None)
    data = maps_data(msgspec.structs.replace(ANSWER, variables=(ANSWER.variables[0], less)))
    assert (data.drawings, data.left) == ((), 1)
    wrong = msgspec.structs.replace(ANSWER.variables[0], heat=None)
    shown = misplaced_data(msgspec.structs.replace(ANSWER, variables=(wrong,) * 10))
    assert (shown.drawings, len(shown.worth), shown.more) == ((None,) * 8, 8, 2)


def test_the_run_is_named_by_its_command_or_its_profile() -> None:
    assert subject_of(ANSWER) == "./app"
    assert subject_of(msgspec.structs.replace(ANSWER, command=(), profile="/a/kept")) == "kept"
    assert dict(variables_about(msgspec.structs.replace(ANSWER, exit_code=3)))["Exit code"] == "3"


def test_times_stand_beside_touches_and_say_how_they_were_found() -> None:
    cost = TimeCost(share=0.25, lowest=0.2, highest=0.3, rounds=3)
    wrong, right = ANSWER.variables
    data = variables_data(msgspec.structs.replace(ANSWER, variables=(msgspec.structs.replace(wrong, time=cost), right)))
    assert [(row.time, row.in_time) for row in data.rows] == [(0.25, cost.in_words), (None, "")]
    assert (data.in_time, variables_data(ANSWER).in_time) == (True, False)
    timed = msgspec.structs.replace(ANSWER, severity="measured time")
    assert misplaced_data(timed).time_made == "measured"
    assert dict(variables_about(timed))["Severity"].startswith("measured time of whole runs in turn")
    assert "neither an access nor a time" in dict(variables_about(ANSWER))["Severity"]


def test_what_costs_no_time_is_said_with_its_share() -> None:
    wrong, right = ANSWER.variables
    none = TimeCost(share=0.001, lowest=0.001, highest=0.001, rounds=1)
    timed = msgspec.structs.replace(wrong, time=none, remedy=right.remedy)
    said = misplaced_data(msgspec.structs.replace(ANSWER, variables=(timed, right))).nothing
    assert said.startswith("a better place would save wrong 0.1% (-19.9% to 16.8%) of the time in parallel regions; ")
    assert "; of the others each causes" in said
    assert "others" not in misplaced_data(msgspec.structs.replace(ANSWER, variables=(timed,))).nothing
