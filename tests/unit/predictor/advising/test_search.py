import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.limits import Limits
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.native.errors import UnrunnableProgramError
from numapredict.predictor.advising.search import Runner, resembled, search
from numapredict.predictor.advising.search_options import MOST_RUNS, SearchOptions
from numapredict.predictor.advising.search_run import outcome_in_words
from numapredict.predictor.advising.search_state import Search
from numapredict.predictor.advising.worth import Worth
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import Prior, prior_of
from tests.searches import DEFAULT, GAINS, HALF, LOCAL, ONE, PRIOR, SPREAD, TOPOLOGY, Computer, Described, times
from tests.shapes import shape


def test_runs_follow_what_should_add_most_and_the_baseline_is_the_first() -> None:
    computer = Computer(times(8.0, local=4.0, spread=5.0, one=6.0))
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3))
    assert computer.ran == [AS_IT_IS, LOCAL, SPREAD]
    assert found.gains() == pytest.approx([0.0, 1.0, math.nan], nan_ok=True)
    assert found.best() == 1
    assert [run.speedup for run in found.records()] == [1.0, 2.0, None]


def test_a_run_is_ended_once_it_has_taken_as_long_as_the_best_and_still_tells_something() -> None:
    computer = Computer(times(8.0, local=100.0, spread=6.0))
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=4))
    assert [run.outcome for run in found.records()][:3] == ["done", "ended", "done"]
    assert computer.limits_s[1] == pytest.approx(8.0, abs=0.2)
    assert computer.limits_s[3] == pytest.approx(6.0, abs=0.2)
    assert found.records()[1].time_s == pytest.approx(8.0, abs=0.2)
    assert found.records()[1].speedup is None
    # Programs that gain from LOCAL are now unlikely: what helps the others comes next, and SPREAD is best.
    assert computer.ran[2] == SPREAD
    assert found.best() == 2


def test_without_cutting_no_run_is_ended() -> None:
    computer = Computer(times(8.0, local=100.0))
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3, cut=False))
    assert computer.limits_s == [math.inf] * 3
    assert found.records()[1].speedup == pytest.approx(0.08)


def test_a_search_stops_when_no_run_is_worth_it() -> None:
    same = Prior(PRIOR.mappings, known_gains(GAINS[:2], ["a", "b"]), 0, "")
    computer = Computer(times(8.0, local=4.0))
    found = search(computer.runner(), same, TOPOLOGY, SearchOptions(runs=5))
    assert computer.ran == [AS_IT_IS, LOCAL]
    following = found.following()
    assert following is not None
    assert following.expected_gain == 0.0


def test_all_mappings_may_run() -> None:
    known = known_gains(np.diag([0.0, 1.0, 2.0, 3.0, 4.0]), list("abcde"))
    computer = Computer(times(8.0))
    found = search(computer.runner(), Prior(PRIOR.mappings, known, 0, ""), TOPOLOGY, SearchOptions(runs=9, cut=False))
    assert sorted(map(str, computer.ran)) == sorted(map(str, (AS_IT_IS, LOCAL, SPREAD, HALF, ONE)))
    assert found.following() is None
    assert found.best() == 0  # nothing won


@pytest.mark.parametrize("cores", [4, 8, 16, 64])
def test_on_hyperthreads_of_one_node_the_second_run_is_on_the_cores(cores: int) -> None:
    """A public report has 2.3 times the run time with a thread a PU."""
    topology = shape((cores,), pus=2)
    prior = prior_of("desktop", topology, Path("absent"), lambda _: True, modelled=False)
    ran: list[AnyMapping] = []

    def run(mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        ran.append(mapping)
        seconds = {cores: 1.0}.get(mapping.threads if isinstance(mapping, Mapping) else 2 * cores, 2.3)
        notes = () if isinstance(mapping, Mapping) else (("teams", f"{2 * cores}:1.000"),)
        status: Status = "timeout" if seconds > limit.whole_s else "ok"
        times = (Repetition(seconds, seconds),) if status == "ok" else ()
        return Measurement(
            program="app",
            mapping=mapping,
            machine="desktop",
            modelled=False,
            status=status,
            repetitions=times,
            provenance=notes,
        )

    found = search(Runner("app", AS_IT_IS, lambda: run(AS_IT_IS), run), prior, topology, SearchOptions())
    assert ran[:2] == [AS_IT_IS, Mapping(cores, 1, "contiguous", 1, "bind")]
    assert found.best() == 1


def test_a_run_that_fails_is_said_and_never_made_again() -> None:
    computer = Computer(times(8.0, local=-1.0, spread=4.0))
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=4))
    assert computer.ran.count(LOCAL) == 1
    failed = found.records()[1]
    assert (failed.mapping, failed.outcome, failed.message, failed.time_s) == (LOCAL, "failed", "it crashed", None)
    assert SPREAD in computer.ran[2:]


def test_a_mapping_that_cannot_be_applied_costs_no_run() -> None:
    computer = Computer(times(8.0, spread=4.0))
    computer.refused = {LOCAL}
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3))
    assert LOCAL not in computer.ran
    assert len(found.made) == 3


def test_a_program_that_fails_as_it_is_gets_no_search() -> None:
    with pytest.raises(UnrunnableProgramError, match="as it is now: it crashed; make it run first"):
        search(Computer(times(-1.0)).runner(), PRIOR, TOPOLOGY, SearchOptions())


def test_regions_are_the_clock_where_the_baseline_has_some_else_the_whole_run() -> None:
    whole = times(8.0, local=7.0)
    with_regions = Computer(
        whole, {mapping: 2 * time_s if mapping == AS_IT_IS else 1.0 for mapping, time_s in whole.items()}
    )
    found = search(with_regions.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=2))
    assert (found.clock, found.gains()) == ("regions", [0.0, 4.0])
    assert found.whole_gains() == pytest.approx([0.0, math.log2(8 / 7)])  # by which they are ranked
    assert found.records()[1].region_speedup == 16.0
    found = search(Computer(whole).runner(), PRIOR, TOPOLOGY, SearchOptions(runs=2))
    assert (found.clock, found.gains()[1]) == ("process", pytest.approx(math.log2(8 / 7)))
    some = Computer(whole, {AS_IT_IS: 1.0})  # placed runs tell no time in regions
    found = search(some.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3, cut=False))
    assert [run.message for run in found.records()[1:]] == ["no time was read"] * 2
    assert len(set(some.ran)) == 3


def test_mappings_beyond_the_limits_are_not_tried() -> None:
    """Nor is the default, if it is beyond."""
    computer = Computer(times(8.0, local=1.0))
    options = SearchOptions(runs=9, cut=False, limits=Limits(threads=(HALF.threads, ONE.threads)))
    search(computer.runner(), PRIOR, TOPOLOGY, options)
    assert computer.ran[1:]
    assert set(computer.ran[1:]) <= {HALF, ONE}


def test_only_mappings_with_the_programs_own_number_of_threads_compete() -> None:
    computer = Computer(times(8.0))
    computer.teams = "8:1.000"
    found = search(computer.runner(DEFAULT), PRIOR, TOPOLOGY, SearchOptions(runs=4))
    assert set(computer.ran) <= {DEFAULT, ONE}
    assert "only mappings of 8 are considered" in found.threads_text
    computer = Computer(times(8.0))
    computer.teams = "7:1.000"
    found = search(computer.runner(DEFAULT), PRIOR, TOPOLOGY, SearchOptions(runs=3))
    assert computer.ran[1] == LOCAL
    assert "no mapping of 7: all are considered" in found.threads_text


@pytest.mark.parametrize(("teams", "nearest"), [("", DEFAULT), ("32:1.0", DEFAULT), ("16:1.0", HALF), ("12:1.0", HALF)])
def test_the_baseline_resembles_a_mapping_with_as_many_threads(teams: str, nearest: Mapping) -> None:
    computer = Computer(times(8.0))
    computer.baseline_teams = teams
    assert PRIOR.mappings[resembled(computer.run(AS_IT_IS), PRIOR, TOPOLOGY)] == nearest


def test_gains_are_over_the_mapping_that_the_baseline_resembles_so_that_the_default_may_run() -> None:
    computer = Computer(times(16.0, default=8.0, local=4.0))
    computer.baseline_teams = "16:1.0"
    gains = np.array([[0, 0.5, -1.0, -2.0, -3.0], [0, -1.0, -2.0, -1.0, -2.0]])
    prior = Prior(PRIOR.mappings, known_gains(gains, ["a", "b"]), 0, "")
    found = search(computer.runner(), prior, TOPOLOGY, SearchOptions(runs=5, cut=False))
    assert computer.ran == [AS_IT_IS, DEFAULT, LOCAL]
    assert found.best() == 2


def searched_for(runs: int, computer: Computer, most: int = MOST_RUNS, cut: bool = True) -> Search:
    return search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=most, cut=cut, expected_runs=runs))


def worth(found: Search, cut: bool = True) -> Worth:
    following = found.following()
    assert following is not None
    return found.worth(following, cut)


def test_for_a_single_run_of_the_program_only_the_baseline_runs() -> None:
    found = searched_for(1, Computer(times(8.0, local=0.1)))
    assert len(found.made) == 1
    following = found.following()
    assert following is not None
    what = worth(found)
    assert what.confirming_s == pytest.approx(6 * 8.0)  # three rounds of two runs as long as the best
    assert what.cost_s == pytest.approx(8.1 + 6 * 8.0)
    assert what.saving_s == pytest.approx(8.0 * (1 - 2**-following.expected_gain))


def test_a_run_is_made_from_the_number_of_runs_on_that_it_pays_for() -> None:
    first = worth(searched_for(1, Computer(times(8.0)))).from_runs
    assert first is not None
    assert len(searched_for(first - 1, Computer(times(8.0))).made) == 1
    assert len(searched_for(first, Computer(times(8.0))).made) > 1


def test_once_there_is_a_winner_a_further_run_costs_no_more_than_that_takes() -> None:
    found = searched_for(20, Computer(times(8.0, local=2.0)), most=2)
    assert found.best() == 1
    assert worth(found).confirming_s == 0.0
    assert worth(found).cost_s == pytest.approx(2.1)
    assert worth(found, cut=False).cost_s == pytest.approx(8.1)  # as long as the longest


def test_only_the_time_in_regions_is_saved_where_that_is_the_clock() -> None:
    whole = times(8.0)
    found = searched_for(1, Computer(whole, dict.fromkeys(whole, 2.0)))
    following = found.following()
    assert following is not None
    assert worth(found).saving_s == pytest.approx(2.0 * (1 - 2**-following.expected_gain))


def test_for_very_many_runs_all_are_made_that_should_add_anything_and_no_more_than_stated() -> None:
    computer = Computer(times(8.0, local=4.0))
    found = searched_for(10**5, computer)
    following = found.following()
    assert following is None or following.expected_gain < 1e-4
    assert len(found.made) > len(search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=9)).made) - 1
    assert len(searched_for(10**5, Computer(times(8.0)), most=2).made) == 2


def test_runs_are_ranked_by_the_whole_run_and_programs_compared_by_the_regions() -> None:
    """LOCAL shortens the regions, and what the program does outside of them takes longer by more than that."""
    whole = times(8.0, local=8.05, spread=7.5)
    regions: dict[AnyMapping, float] = {AS_IT_IS: 2.0, LOCAL: 1.0, SPREAD: 1.5}
    computer = Computer(whole, regions)
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3))
    assert [run.outcome for run in found.records()] == ["done"] * 3
    assert found.gains() == pytest.approx([0.0, 1.0, math.log2(2 / 1.5)])
    assert found.best() == 2
    assert [run.region_speedup for run in found.records()] == pytest.approx([1.0, 2.0, 2 / 1.5])


def test_a_run_that_is_ended_is_slower_and_its_regions_tell_what_they_gain_at_most() -> None:
    whole = times(8.0, local=14.0, spread=13.0)
    regions: dict[AnyMapping, float] = {AS_IT_IS: 2.0, LOCAL: 7.5, SPREAD: 3.0}
    computer = Computer(whole, regions)
    found = search(computer.runner(), PRIOR, TOPOLOGY, SearchOptions(runs=3))
    assert computer.limits_s[1] == pytest.approx(8.1)
    assert [run.outcome for run in found.records()] == ["done", "ended", "ended"]
    assert found.records()[1].time_s == pytest.approx(8.1)
    assert found.made[1].bound == pytest.approx(math.log2(2.0 / 1.6))  # of 7.5 s, 5.9 s would have come later
    assert found.made[2].bound is None  # it had come to no region
    assert outcome_in_words(found.records()[2]) == "ended after 8.10 s, slower than the best"
    assert LOCAL not in computer.ran[2:]


def test_the_gain_of_a_part_is_that_of_the_whole_by_amdahls_law() -> None:
    whole = times(8.0, local=7.0)
    found = search(Computer(whole, dict.fromkeys(whole, 2.0)).runner(), PRIOR, TOPOLOGY, SearchOptions(runs=1))
    assert found.whole_speedup(0, 4.0) == pytest.approx(8.0 / 6.5)
    following = found.following()
    assert following is not None
    assert found.adds(following) == pytest.approx(math.log2(8 / (6 + 2 / 2**following.expected_gain)))


# ---- on a described machine, where all mappings of a number of threads that was traced are known ----


def traced(computer: Computer, runs: int = 4, limits: Limits | None = None, expected_runs: int | None = None) -> Search:
    runner = replace(computer.runner(DEFAULT), traced=True)
    return search(runner, PRIOR, TOPOLOGY, SearchOptions(runs, False, False, expected_runs, limits or Limits()))


def test_all_mappings_of_a_traced_number_of_threads_are_computed_and_the_fastest_is_a_run() -> None:
    computer = Described(times(8.0, default=8.0, local=6.0, spread=4.0, half=7.0, one=3.0))
    found = traced(computer, runs=2)
    assert [made.measurement.mapping for made in found.made] == [DEFAULT, SPREAD, ONE]
    assert [made.computed for made in found.made] == [False, True, False]
    assert (found.runs, len(found.computed)) == (2, 2)
    assert found.best() == 2
    assert found.speedups() == pytest.approx({DEFAULT: 1.0, LOCAL: 8 / 6, SPREAD: 2.0, ONE: 8 / 3})


def test_the_next_number_of_threads_is_what_should_add_most_to_all_that_is_known() -> None:
    computer = Described(times(8.0, default=8.0, local=6.0, spread=4.0, half=7.0, one=9.0))
    found = traced(computer, expected_runs=10**9)
    assert [mapping for mapping in computer.ran if mapping in (HALF, ONE)] == [ONE]
    following = found.following()  # HALF gained none of the known programs more than what is known
    assert following is not None
    assert (found.prior.mappings[following.column], following.expected_gain) == (HALF, 0.0)
    assert found.best() == 1


def test_of_mappings_that_are_as_fast_the_one_that_ran_or_the_simplest_is_taken() -> None:
    same = traced(Described(times(8.0, default=8.0, local=7.93, spread=7.93)), runs=1)
    assert [made.measurement.mapping for made in same.made] == [DEFAULT]
    near = traced(Described(times(8.0, default=8.0, local=4.0, spread=4.07)), runs=1)
    assert near.made[1].measurement.mapping == SPREAD
    apart = traced(Described(times(8.0, default=8.0, local=4.0, spread=4.09)), runs=1)
    assert apart.made[1].measurement.mapping == LOCAL


def test_a_page_policy_that_cannot_be_applied_and_mappings_beyond_the_limits_are_not_computed() -> None:
    computer = Described(times(8.0, default=8.0, local=2.0, spread=4.0))
    computer.refused = {LOCAL}
    assert [made.measurement.mapping for made in traced(computer, runs=1).made] == [DEFAULT, SPREAD]
    limited = Described(times(8.0, default=8.0, local=2.0, spread=4.0))
    found = traced(limited, runs=1, limits=Limits(page_policies=("interleave",)))
    assert [made.measurement.mapping for made in found.made] == [DEFAULT, SPREAD]
    assert LOCAL not in limited.ran
