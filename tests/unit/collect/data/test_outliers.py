"""Which times are outliers, and what becomes of them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset, read_dataset, write_dataset
from numapredict.collect.data.outliers import FACTOR, Outlier, outliers_in_words, outliers_of, without_outliers
from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.program import Program
from numapredict.predictor.learning.features import observe
from tests.golden.evaluations.measured import DEFAULTS, imported
from tests.planted import planted_dataset

CORRUPT_S = 55 * 3600.0


def table_of(times_s: np.ndarray, clock: str = "process") -> Dataset:
    """Return a dataset of other people's mappings; NaN is a pair that was not measured."""
    names = [f"p{row}" for row in range(len(times_s))]
    return Dataset(
        machine="box",
        modelled=False,
        topology=None,
        made_by="x",
        created="now",
        programs=tuple(Program(name=name, command=(name,)) for name in names),
        measurements=tuple(
            Measurement(
                program=name,
                mapping=AnyMapping(f"m{column}"),
                machine="box",
                modelled=False,
                repetitions=(Repetition(time_s) if clock == "process" else Repetition(1e6, time_s),),
            )
            for name, row in zip(names, times_s, strict=True)
            for column, time_s in enumerate(map(float, row))
            if not np.isnan(time_s)
        ),
    )


def usual(programs: int = 18, mappings: int = 47, noise: float = 0.2) -> np.ndarray:
    generator = np.random.default_rng(1)
    lengths, effects = generator.normal(0, 2, (programs, 1)), generator.normal(0, 0.5, (1, mappings))
    return np.asarray(2 ** (lengths + effects + generator.normal(0, noise, (programs, mappings))))


@pytest.mark.parametrize("clock", ["process", "regions"])
@pytest.mark.parametrize("holes", [False, True])
def test_a_corrupt_cell_is_found_and_said(clock: str, holes: bool) -> None:
    times_s = usual()
    before = float(times_s[3, 0])
    times_s[3, 0] = CORRUPT_S
    times_s[7, 5] /= 1000
    if holes:
        times_s[3, 4] = times_s[9, :40] = np.nan
    dataset = table_of(times_s, clock)
    found = outliers_of(dataset)
    assert [(each.program, each.mapping) for each in found] == [("p3", "m0"), ("p7", "m5")]
    assert found[0].time_s == CORRUPT_S
    assert found[0].usual_s == pytest.approx(before, rel=0.6)
    cleaned, left_out = without_outliers(dataset)
    assert left_out == found
    failed = {m.program: m for m in cleaned.measurements if m.status != "ok"}
    assert sorted(failed) == ["p3", "p7"]
    assert failed["p3"].message.startswith("left out as an outlier: 198000 s, where")
    assert len(cleaned.measurements) == len(dataset.measurements)
    assert outliers_of(cleaned) == ()


def test_a_program_without_its_default_is_left_out_as_a_whole() -> None:
    times_s = usual()
    times_s[3, 0] = CORRUPT_S
    cleaned, found = without_outliers(table_of(times_s))
    observed = observe(cleaned, mapping_named("m0"))
    assert observed.dropped_programs == ("p3",)
    assert observed.dropped_mappings == ()
    text = outliers_in_words(found, "box", "m0")
    assert text.startswith("box: 1 outlier left out of the times: p3 under m0 (1.98e+05 s, usual ")
    assert text.endswith("; without its default p3 cannot be judged; --keep-outliers keeps them")
    assert "judged" not in outliers_in_words(found, "box", "m1")
    assert "\n" not in text


def test_many_outliers_are_counted_and_the_first_are_named() -> None:
    found = tuple(Outlier(program=f"p\n{n}", mapping="m", time_s=1e5, usual_s=1.0) for n in range(7))
    text = outliers_in_words(found, "box")
    assert "7 outliers" in text
    assert text.count(" under m ") == 5
    assert "and 2 more" in text
    assert "\n" not in text


def test_a_true_effect_of_placement_is_no_outlier() -> None:
    """Ten times slower on the wrong node, one program that scales otherwise than all, mappings that all suffer from."""
    times_s = usual()
    times_s[2, 4] *= 10
    times_s[5] = 2.0 ** np.linspace(-3, 3, times_s.shape[1])
    times_s[:, 7] *= 100
    times_s[11] *= 1e6
    assert outliers_of(table_of(times_s)) == ()


def test_too_little_says_nothing_of_what_is_usual() -> None:
    for shape in ((2, 40), (40, 2)):
        times_s = usual(*shape)
        times_s[0, 0] = CORRUPT_S
        assert outliers_of(table_of(times_s)) == ()
    assert outliers_of(table_of(np.full((3, 3), np.nan))) == ()
    times_s = usual(3, 3)
    times_s[0, 0] = CORRUPT_S
    assert len(outliers_of(table_of(times_s))) == 1


@pytest.mark.shared
@pytest.mark.parametrize("machine", DEFAULTS)
def test_measured_times_have_none_until_one_is_corrupt(machine: str, tmp_path: Path) -> None:
    dataset = imported(machine, tmp_path / "x", together=False)
    assert outliers_of(dataset) == ()
    first = dataset.measurements[0]
    corrupt = msgspec.structs.replace(first, repetitions=(Repetition(first.time_s * 2 * FACTOR),))
    changed = msgspec.structs.replace(dataset, measurements=(corrupt, *dataset.measurements[1:]))
    assert [(each.program, each.mapping) for each in outliers_of(changed)] == [(first.program, first.mapping.label)]


def test_what_was_left_out_is_written_and_read(tmp_path: Path) -> None:
    dataset = planted_dataset(6)
    first = msgspec.structs.replace(dataset.measurements[4], repetitions=(Repetition(CORRUPT_S),))
    changed = msgspec.structs.replace(
        dataset, measurements=(*dataset.measurements[:4], first, *dataset.measurements[5:])
    )
    cleaned, found = without_outliers(changed)
    assert len(found) == 1
    write_dataset(cleaned, tmp_path)
    assert read_dataset(tmp_path) == cleaned
