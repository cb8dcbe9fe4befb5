import msgspec
import pytest

from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.memory_accesses import MemoryAccesses
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import Remedy
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.time_cost import RegionCost, RunSaving, TimeCost
from numapredict.predictor.variables.timing import by_time
from numapredict.predictor.variables.variable import Variable, Variables
from numapredict.predictor.variables.variables_text import pattern_in_words, requests_in_words, variables_in_words
from tests.judged import judged_answer


def answer(size_bytes: int) -> Variables:
    variable = Variable(
        name="grid",
        kind="allocated",
        size_bytes=size_bytes,
        allocations=1,
        allocated=None,
        through="",
        by_container=False,
        touches=40,
        touch_share=1.0,
        first_touch=None,
        first_thread=None,
        first_manner="supposed",
        first_schedule="",
        pattern=Pattern("shared", 4),
        other_threads_share=0.75,
        remote_share=None,
        cost=0.75,
        remedy=Remedy("interleave", "interleave this one"),
    )
    return Variables(
        command=("./app",),
        profile=None,
        threads=4,
        machine=None,
        mapping=None,
        modelled=False,
        exit_code=0,
        region_time_s=1.0,
        touches=40,
        variables=(variable,),
    )


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(65_536, "64 KiB"), (96 << 20, "96 MiB"), (1040 << 20, "1.02 GiB"), (24 << 30, "24 GiB")]
)
def test_sizes_are_written_in_the_unit_that_reads_best(size_bytes: int, text: str) -> None:
    assert f"grid, {text}\n" in variables_in_words(answer(size_bytes))


def test_requests_name_the_node_that_serves_most() -> None:
    served = Requests(local=20.4, remote=79.6, nodes=(0, 5), by_node=(10.0, 90.0), imbalance=1.8)
    assert requests_in_words(served) == "20 local, 80 remote; node 5 serves 90%, 1.8 times an even part"


def test_a_variable_is_judged_by_time_where_that_is_known() -> None:
    regions = (RegionCost(Place("app", 7, (Frame("main", "app.c", 7),)), 0.4, 0.25),)
    run = RunSaving(2.0, 0.125, 0.1, 0.15)
    cost = TimeCost(share=0.25, lowest=0.2, highest=0.3, rounds=3, regions=regions, run=run)
    asked = answer(1 << 20)
    timed = msgspec.structs.replace(asked.variables[0], time=cost)
    said = variables_in_words(msgspec.structs.replace(asked, severity="measured time", variables=(timed,)))
    lines = [line.strip() for line in said.splitlines()]
    at = lines.index("should save       12.5% (10.0% to 15.0%) of the run's time, 0.25 s of 2 s")
    assert lines[at + 1] == "25.0% (20.0% to 30.0%) of the time in parallel regions"
    assert "40% of that of main, app.c:7\n" in said
    assert "measured in 3 rounds of runs in turn" in " ".join(said.split())
    assert "not worth fixing" not in said


def test_a_variable_that_costs_touches_and_no_time_is_not_worth_fixing() -> None:
    cost = TimeCost(share=-0.002, lowest=-0.01, highest=0.001, rounds=3)
    asked = answer(1 << 20)
    timed = msgspec.structs.replace(asked.variables[0], time=cost, remedy=Remedy("nothing", "not worth fixing"))
    said = variables_in_words(msgspec.structs.replace(asked, severity="measured time", variables=(timed,)))
    assert "not worth fixing: grid, with 75% of all touches to it from elsewhere" in said
    assert "-0.2% (-1.0% to 0.1%)" in said


def test_a_gain_that_is_not_sure_is_called_so_and_promised_to_nobody() -> None:
    cost = TimeCost(share=0.1, lowest=0.05, highest=0.2, rounds=3, run=RunSaving(2.0, 0.05, -0.01, 0.1))
    asked = answer(1 << 20)
    judged = by_time(asked.variables[0], cost)
    said = variables_in_words(msgspec.structs.replace(asked, severity="measured time", variables=(judged,)))
    assert "saves 5.0% (-1.0% to 10.0%) of the run's time, 0.1 s of 2 s, which is not sure" in " ".join(said.split())
    assert "should save" not in said


def test_time_is_not_advised_to_those_who_asked_for_it() -> None:
    asked = msgspec.structs.replace(answer(1 << 20), machine="mine", mapping="4x2-contiguous-first-touch")
    assert "what time it takes off, `--time` says" in " ".join(variables_in_words(asked).split())
    assert "--time" not in variables_in_words(asked, time_asked=True)


def test_pages_and_small_allocations_are_told_in_whole_numbers_that_mean_something() -> None:
    pattern = Pattern("strided", 4, period_pages=3958.4, turns=40)
    assert pattern_in_words(pattern) == "in turn by 4 threads, again every 3,958 pages"
    asked = answer(1 << 20)
    small = msgspec.structs.replace(asked.variables[0], name=None, kind="small allocations", allocations=3)
    said = variables_in_words(msgspec.structs.replace(asked, variables=(small,)))
    assert "  small allocations, 1 MiB\n" in said


def test_traffic_stands_before_and_after_beside_each_other() -> None:
    said = variables_in_words(judged_answer())
    lines = said.splitlines()
    at = lines.index("  all touches, from the threads of each node (lines) to the memory of each node (columns)")
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["as", "it", "is", "with", "what", "would", "help"],
        ["0", "1", "0", "1"],
        ["0", "50%", "-", "50%", "-"],
        ["1", "25%", "25%", "-", "50%"],
    ]
    assert lines[at + 5].strip() == (
        "local: 75% as it is, 100% with what would help; the busiest node serves 75%, then 50%"
    )
    assert "with that         100 local, 0 remote; node 0 serves 50%, 1.0 times an even part" in said


def test_several_variables_of_one_name_are_counted() -> None:
    asked = answer(1 << 20)
    one = msgspec.structs.replace(asked.variables[0], remedy=Remedy("nothing", "not worth fixing"), cost=0.0)
    other = msgspec.structs.replace(one, name="rows", remedy=Remedy("interleave", "interleave this one"))
    said = variables_in_words(msgspec.structs.replace(asked, variables=(other, one, one)))
    assert "not worth fixing: grid (2 of them);" in said


def test_accesses_stand_beside_the_touches_and_are_named() -> None:
    served = Requests(local=300, remote=100, nodes=(0, 1), by_node=(300, 100), imbalance=1.5)
    accesses = MemoryAccesses(samples=900, requests=served, remote_cycles=612.4, lpi_numa=0.234)
    said = answer(1 << 20)
    (one,) = said.variables
    with_both = msgspec.structs.replace(
        said, accesses=accesses, variables=(msgspec.structs.replace(one, accesses=accesses),)
    )
    text = " ".join(variables_in_words(with_both).split())
    assert (
        "accesses, sampled by the processor: 300 local, 100 remote; node 0 serves 75%, 1.5 times an even part, of 900 "
        "samples; remote ones take 612 cycles; lpi_NUMA 0.234 cycles an instruction; above 0.1, from which on "
        "HPCToolkit calls placement worth a change"
    ) in text
    assert "accesses 300 local, 100 remote; node 0 serves 75%, 1.5 times an even part; remote ones" in text
    little = msgspec.structs.replace(accesses, lpi_numa=0.05)
    assert "; not above 0.1, " in " ".join(
        variables_in_words(msgspec.structs.replace(with_both, accesses=little)).split()
    )
    uncounted = msgspec.structs.replace(accesses, lpi_numa=None, remote_cycles=None)
    assert "lpi_NUMA" not in variables_in_words(msgspec.structs.replace(said, accesses=uncounted))
