"""Searches in a timed guest, as far as they need none: what a sweep says of their runs, and the table."""

import math

import msgspec
import pytest

from numapredict.collect.mapping import AnyMapping, to_label
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import Program
from numapredict.predictor.advising.advice import advise
from numapredict.predictor.advising.search_options import SearchOptions
from tests.benchmarks.timed_against_modelled import MEASURED
from tests.benchmarks.timed_gains import read_sweep
from tests.benchmarks.timed_search import PROGRAMS, Recorded, recorded, rows
from tests.guest.timed_session import Said
from tests.searches import LOCAL, PRIOR, SPREAD, Computer, times

SWEEP = Recorded({LOCAL: 2.0, SPREAD: 4.0})


def search_of(whole_s: dict[AnyMapping, float]) -> str:
    """Return what a search prints of a program that takes these seconds."""
    computer: object = Computer(whole_s)
    app = Program(name="app", command=("/f/app", "serial"))
    found = advise(app, computer, Computer(whole_s).runner(), PRIOR, SearchOptions(runs=3))  # type: ignore[arg-type]
    return msgspec.json.encode(found, enc_hook=to_label).decode()


def test_the_gain_captured_is_that_of_the_best_recorded_run() -> None:
    runs: list[AnyMapping] = [AS_IT_IS, LOCAL, SPREAD]
    assert [SWEEP.captured(runs[:count]) for count in (1, 2, 3)] == pytest.approx([0.0, 0.5, 1.0])
    assert Recorded({LOCAL: 0.5, SPREAD: 1.01}).captured(runs) is None
    assert SWEEP.of(AS_IT_IS) == 1.0


def test_a_sweep_has_the_programs_that_are_searched_for_and_their_speedups() -> None:
    for machine, names in PROGRAMS.items():
        dataset = read_sweep(MEASURED / machine, machine)
        best = {name: recorded(dataset, name).best for name in names}
        assert max(best.values()) > 2
        assert min(best.values()) < 1.02
        assert all(
            math.isclose(min(abs(math.log(s)) for s in recorded(dataset, n).speedups.values()), 0) for n in names
        )


def test_the_table_has_the_last_search_of_each_program() -> None:
    dataset = read_sweep(MEASURED / "guest-2x2", "guest-2x2")
    words, output = ("--json", "/f/app", "serial"), search_of(times(8.0, local=4.0))
    session = [
        Said(("--runs", "2", *words), 0, 1.0, search_of(times(8.0)), ""),
        Said(("--runs", "4", *words), 0, 1.0, output, ""),
        Said(("--runs", "4", "--json", "/f/other"), 2, 1.0, "", "no such file"),
    ]
    lines = {"stream-triad.tiny.serial": "/f/app serial", "gather.serial": "/f/other"}
    (row,) = rows(lines, session, dataset)
    assert row[0] == "stream-triad.tiny.serial"
    assert row[1].startswith(f"8.000 s; {LOCAL} 2.00x (not in the sweep), ")
    assert row[2] == f"{LOCAL}, 2.00x (2.00 to 2.00)"


def test_a_program_that_nothing_makes_faster_is_kept() -> None:
    found = msgspec.json.decode(search_of(times(8.0)), type=dict)
    assert found["keep"]
    dataset = read_sweep(MEASURED / "guest-2x2", "guest-2x2")
    said = Said(("--runs", "4", "--json", "/f/app"), 0, 1.0, search_of(times(8.0)), "")
    (row,) = rows({"stream-triad.tiny.serial": "/f/app"}, [said], dataset)
    assert row[2] == "keep"
    assert row[3].startswith("1.00 of 2.2")
