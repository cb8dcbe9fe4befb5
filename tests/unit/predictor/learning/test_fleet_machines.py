from pathlib import Path

import msgspec

from numapredict.collect.data.dataset import Dataset, write_dataset
from numapredict.collect.data.dataset_store import LeftOut, opened_store
from numapredict.predictor.learning.fleet_machines import kinds_of, machine_of
from tests.planted import planted_dataset


def part(dataset: Dataset, first: int, last: int, created: str, faster: float = 1.0) -> Dataset:
    """Return some programs of a dataset, with their times divided by a factor."""
    programs = dataset.programs[first:last]
    runs = tuple(
        msgspec.structs.replace(
            run,
            repetitions=tuple(msgspec.structs.replace(r, time_s=r.time_s / faster) for r in run.repetitions),
        )
        for run in dataset.measurements
        if run.program in {program.name for program in programs}
    )
    return msgspec.structs.replace(dataset, programs=programs, measurements=runs, created=created)


def machines_in(folder: Path, named: dict[str, Dataset]) -> tuple[list[tuple[Dataset, int]], dict[str, str]]:
    """Return the machines in a store of these datasets, and by their names why others were left out."""
    for name, dataset in named.items():
        write_dataset(dataset, folder / name)
    left_out: list[LeftOut] = []
    with opened_store(str(folder)) as store:
        found = [machine_of(kind, left_out) for kind in kinds_of(store.datasets, left_out)]
    return [each for each in found if each is not None], {Path(each.path).name: each.reason for each in left_out}


def test_datasets_of_a_kind_are_one_machine_and_of_two_runs_the_newer_counts(tmp_path: Path) -> None:
    whole = planted_dataset(6)
    new, old = part(whole, 2, 6, "2025-02-01", faster=2.0), part(whole, 0, 4, "2025-01-01")
    found = machines_in(tmp_path / "one", {"new": new, "old": old})
    (((together, count),), left_out) = found
    assert (count, left_out) == (2, {})
    assert {program.name for program in together.programs} == {program.name for program in whole.programs}
    expected = {(r.program, r.mapping): r for r in (*old.measurements, *new.measurements)}
    assert {(r.program, r.mapping): r for r in together.measurements} == expected
    assert machines_in(tmp_path / "two", {"old": old, "new": new}) == found


def test_another_shape_is_another_machine_and_what_cannot_join_is_named(tmp_path: Path) -> None:
    whole = planted_dataset(4)
    assert whole.topology is not None
    far = tuple(tuple(10.0 if a == b else 30.0 for b in range(4)) for a in range(4))
    other = msgspec.structs.replace(whole, topology=msgspec.structs.replace(whole.topology, distances=far))
    foreign = msgspec.structs.replace(planted_dataset(4, counters=False), topology=None)
    renamed = tuple(msgspec.structs.replace(program, command=("./other",)) for program in whole.programs)
    clash = msgspec.structs.replace(whole, programs=renamed, created="2026-01-01")
    torn = msgspec.structs.replace(whole, machine="torn", measurements=())
    write_dataset(torn, tmp_path / "e")
    (tmp_path / "e" / "measurements.parquet").write_bytes(b"")
    found, left_out = machines_in(tmp_path, {"a": whole, "b": other, "c": foreign, "d": clash})
    assert [count for _, count in found] == [1, 1]
    assert sorted(left_out) == ["c", "d", "e"]
    assert "foreign" in left_out["c"]
    assert "another command" in left_out["d"]
    assert "belongs to another file" in left_out["e"]
