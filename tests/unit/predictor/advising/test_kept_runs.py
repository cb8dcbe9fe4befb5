import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.limits import Limits
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.predictor.advising import kept_runs
from numapredict.predictor.advising.advice import advise
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.search import Runner, Search, search
from numapredict.predictor.advising.search_options import SearchOptions, comparing
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import Prior
from tests.searches import GAINS, LOCAL, ONE, PRIOR, SPREAD, TOPOLOGY, Computer, Printing, times

METRIC = Figure(metric="rate ([0-9]+)")

LOAD = "other programs used 1.0 of its 2 PUs"
TRUE = program_of(("/bin/true",))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    return tmp_path / "searches"


def kept(**options: bool) -> KeptRuns:
    return KeptRuns(TRUE, TOPOLOGY, **options)


def searched(computer: Computer, runs: int, **options: bool) -> Search:
    runner = replace(computer.runner(), kept=kept(**options))
    return search(runner, PRIOR, TOPOLOGY, SearchOptions(runs=runs))


def test_a_search_goes_on_where_the_last_one_stopped_as_if_it_had_been_one() -> None:
    whole = times(8.0, local=4.0, spread=-1.0, one=6.0, half=3.0)
    whole_search, computer = searched(Computer(whole), 5, fresh=True), Computer(whole)
    for runs in (2, 3, 5):
        found = searched(computer, runs, fresh=runs == 2)
    assert found.kept == 3
    assert found.records() == whole_search.records()
    assert computer.ran[:3] == [AS_IT_IS, LOCAL, SPREAD]
    assert len(computer.ran) == len(set(computer.ran)) == len(found.made)
    assert {run.outcome for run in found.records()} == {"done", "ended", "failed"}
    assert [made.bound for made in found.made] == [made.bound for made in whole_search.made]


def test_runs_compared_by_another_figure_are_not_used_and_those_of_the_same_are() -> None:
    computer = Printing(times(8.0, local=4.0), {AS_IT_IS: [10.0], LOCAL: [12.0]})
    for figure, before in ((TIME, 0), (METRIC, 0), (METRIC, 2), (Figure(metric="x([0-9])"), 0), (TIME, 2)):
        runner = replace(computer.runner(), kept=KeptRuns(TRUE, TOPOLOGY, figure=figure))
        found = search(runner, PRIOR, TOPOLOGY, comparing(SearchOptions(runs=2), figure))
        assert (found.kept, len(found.made)) == (before, 2)
        assert found.records()[1].speedup == pytest.approx(2.0 if figure.is_time else 1.2)


def test_a_kept_metric_that_does_not_come_again_is_told() -> None:
    for figures, said in (([10.0], False), ([10.0, 13.0], True)):
        computer = Printing(times(8.0, local=8.0), {AS_IT_IS: figures, LOCAL: [16.0]})
        answers = [
            advise(
                TRUE,
                computer,  # type: ignore[arg-type]
                replace(computer.runner(), kept=KeptRuns(TRUE, TOPOLOGY, figure=METRIC, fresh=fresh)),
                PRIOR,
                comparing(SearchOptions(runs=2), METRIC),
            )
            for fresh in (True, False)
        ]
        text = "the program as it is now had metric 10 in the kept run and metric 13 on average now: "
        assert any(line.startswith(text) for line in answers[1].warnings) == said


def test_a_file_whose_runs_lost_their_metric_is_not_used(folder: Path) -> None:
    computer = Printing(times(8.0), {AS_IT_IS: [10.0]})
    runs = KeptRuns(TRUE, TOPOLOGY, figure=METRIC)
    runs.add(computer.run(AS_IT_IS))
    assert len(KeptRuns(TRUE, TOPOLOGY, figure=METRIC).runs) == 1
    file = next(folder.glob("*.json"))
    file.write_text(file.read_text().replace('"figure"', '"another"'))
    assert KeptRuns(TRUE, TOPOLOGY, figure=METRIC).runs == ()


def test_every_run_is_in_the_file_before_the_next_one_begins(folder: Path) -> None:
    computer = Computer(times(8.0, local=4.0))
    counts: list[int] = []

    def run(*arguments: object) -> object:
        counts.append(len(kept().runs))
        return computer.run(*arguments)  # type: ignore[arg-type]

    search(Runner("app", AS_IT_IS, lambda: run(AS_IT_IS), run, kept()), PRIOR, TOPOLOGY, SearchOptions(runs=4))  # type: ignore[arg-type, return-value]
    assert counts == [0, 1, 2, 3]
    assert [file.suffix for file in folder.iterdir()] == [".json"]


def test_a_run_of_a_mapping_that_is_no_longer_known_is_left_out_and_stays_in_the_file() -> None:
    searched(Computer(times(8.0, local=4.0, spread=3.0)), 3)
    prior = Prior(PRIOR.mappings[:2], known_gains(GAINS[:, :2], list("abcd")), 0, "")
    computer = Computer(times(8.0))
    runner = Runner("app", AS_IT_IS, lambda: computer.run(AS_IT_IS), computer.run, kept())
    found = search(runner, prior, TOPOLOGY, SearchOptions(runs=3))
    assert [made.measurement.mapping for made in found.made] == [AS_IT_IS, LOCAL]
    assert [run.measurement.mapping for run in kept().runs] == [AS_IT_IS, LOCAL, SPREAD]


def test_a_kept_run_beyond_the_limits_is_left_out() -> None:
    searched(Computer(times(8.0, local=1.0)), 2)
    computer, limits = Computer(times(8.0, one=4.0)), Limits(threads=(ONE.threads,))
    runner = Runner("app", AS_IT_IS, lambda: computer.run(AS_IT_IS), computer.run, kept())
    found = search(runner, PRIOR, TOPOLOGY, SearchOptions(runs=3, limits=limits))
    assert {made.measurement.mapping for made in found.made} == {AS_IT_IS, ONE}


def test_ended_runs_are_left_out_where_runs_must_not_be_ended() -> None:
    searched(Computer(times(8.0, local=100.0)), 2)
    assert [run.ended for run in kept().runs] == [False, True]
    assert [run.ended for run in kept(cut=False).runs] == [False]


def test_ended_runs_that_are_left_out_stay_in_the_file_until_the_mapping_has_run_to_its_end() -> None:
    searched(Computer(times(8.0, local=100.0)), 2)
    whole = kept(cut=False)
    other = Computer(times(8.0, spread=3.0))
    whole.add(other.run(SPREAD))
    assert [(run.measurement.mapping, run.ended) for run in kept().runs] == [
        (AS_IT_IS, False),
        (SPREAD, False),
        (LOCAL, True),
    ]
    whole.add(Computer(times(8.0, local=7.0)).run(LOCAL))
    assert [run.ended for run in kept().runs] == [False, False, False]


def test_runs_that_were_started_otherwise_are_said_to_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    assert kept().runs == ()
    assert caplog.messages == []
    searched(Computer(times(8.0, local=4.0)), 2)
    caplog.clear()
    monkeypatch.setenv("SOME_VARIABLE", "1")
    assert kept().runs == ()
    assert "started otherwise, with other variables" in caplog.messages[-1]
    caplog.clear()
    assert KeptRuns(program_of(("/bin/false",)), TOPOLOGY).runs == ()
    assert caplog.messages == []


@pytest.mark.parametrize(("hours", "used"), [(23, 2), (25, 0)])
def test_runs_are_used_for_a_day(hours: float, used: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched(Computer(times(8.0, local=4.0)), 2)
    (file,) = folder.iterdir()
    later(3600 * hours)(file, monkeypatch)
    assert len(kept().runs) == used


def rewritten(change: Callable[[str], str]) -> Callable[[Path, pytest.MonkeyPatch], None]:
    return lambda file, _patch: file.write_text(change(file.read_text())) and None


def later(seconds: float) -> Callable[[Path, pytest.MonkeyPatch], None]:
    now = time.time()
    return lambda _file, patch: patch.setattr(time, "time", lambda: now + seconds)


def after_a_restart(_file: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept_runs, "_BOOT", Path("/proc/sys/kernel/ostype"))


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (later(90_000.0), "its kept runs are not of the last day: all runs are made anew"),
        (later(-60.0), "its kept runs are not of the last day"),
        (after_a_restart, "of another computer, or of before its restart: all runs are made anew"),
        (rewritten(lambda text: text.replace('"schema_version":1', '"schema_version":2')), "(schema_version 2)"),
        (rewritten(lambda text: text[:-9]), "the kept runs in it are made anew"),
        (rewritten(lambda text: text.replace('"time_s":8.0', '"time_s":-8.0')), "make no sense (time_s is -8.0"),
        (rewritten(lambda text: text.replace("as-it-is", LOCAL.label)), "its kept runs lack the first"),
        (rewritten(lambda _: "[" * 100_000), "the kept runs in it are made anew"),
        (rewritten(lambda _: "\xff" * (17 << 20)), "more than 16 MiB"),
    ],
)
def test_runs_that_cannot_be_compared_are_made_anew_and_it_is_said(
    happens: Callable[[Path, pytest.MonkeyPatch], None],
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    searched(Computer(times(8.0, local=4.0)), 2)
    (file,) = folder.iterdir()
    caplog.set_level("INFO")
    happens(file, monkeypatch)
    assert kept().runs == ()
    assert said in caplog.messages[-1]
    assert "\n" not in caplog.messages[-1]
    monkeypatch.undo()
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(folder.parent))
    assert searched(Computer(times(8.0)), 2).kept in (0, 2)  # and never a fault


def test_files_that_will_not_be_used_again_are_removed(folder: Path) -> None:
    searched(Computer(times(8.0)), 2)
    (old,) = folder.iterdir()
    (folder / ".left.1.tmp").touch()
    for file in folder.iterdir():
        os.utime(file, (0, time.time() - 8 * 86_400))
    KeptRuns(program_of(("/bin/false",)), TOPOLOGY).add(Computer(times(1.0)).run(AS_IT_IS))
    assert old not in folder.iterdir()
    assert len(list(folder.iterdir())) == 1


def test_what_an_interrupted_search_leaves_is_said() -> None:
    runs = kept()
    assert runs.left_in_words() == ""
    runs.add(Computer(times(1.0)).run(AS_IT_IS), math.inf)
    assert runs.left_in_words() == "finished runs are kept"


def test_what_others_disturbed_is_not_kept_nor_anything_after_it() -> None:
    computer = Computer(times(8.0, local=4.0))
    computer.busy = {2: LOAD}
    assert len(searched(computer, 4).made) == 3
    assert [run.measurement.mapping for run in kept().runs] == [AS_IT_IS, LOCAL]
    again = Computer(times(8.0, local=4.0))
    assert searched(again, 4).disturbed() == ""
    assert again.ran[0] == computer.ran[2], "made anew, quietly"


@pytest.mark.parametrize(("busy", "looks"), [({0: LOAD}, []), ({}, [LOAD])], ids=["in its run", "before a short run"])
def test_a_disturbed_first_run_keeps_nothing(busy: dict[int, str], looks: list[str]) -> None:
    computer = Computer({mapping: time_s / 100 for mapping, time_s in times(8.0, local=4.0).items()})
    computer.busy, computer.looks = busy, looks
    assert searched(computer, 3).disturbed() == LOAD
    assert kept().runs == ()
