import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.learning.fleet_machines import machines_of
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


def test_datasets_of_a_kind_are_one_machine_and_of_two_runs_the_newer_counts() -> None:
    whole = planted_dataset(6)
    new, old = part(whole, 2, 6, "2025-02-01", faster=2.0), part(whole, 0, 4, "2025-01-01")
    found = machines_of([("new", new), ("old", old)])
    ((together, count),) = found.machines
    assert (count, found.left_out) == (2, ())
    assert {program.name for program in together.programs} == {program.name for program in whole.programs}
    expected = {(r.program, r.mapping): r for r in (*old.measurements, *new.measurements)}
    assert {(r.program, r.mapping): r for r in together.measurements} == expected
    assert machines_of([("old", old), ("new", new)]) == found


def test_another_shape_is_another_machine_and_what_cannot_join_is_named() -> None:
    whole = planted_dataset(4)
    assert whole.topology is not None
    far = tuple(tuple(10.0 if a == b else 30.0 for b in range(4)) for a in range(4))
    other = msgspec.structs.replace(whole, topology=msgspec.structs.replace(whole.topology, distances=far))
    foreign = msgspec.structs.replace(whole, topology=None)
    renamed = tuple(msgspec.structs.replace(program, command=("./other",)) for program in whole.programs)
    clash = msgspec.structs.replace(whole, programs=renamed, created="2026-01-01")
    found = machines_of([("a", whole), ("b", other), ("c", foreign), ("d", clash)])
    assert [count for _, count in found.machines] == [1, 1]
    assert {each.path for each in found.left_out} == {"c", "d"}
