import msgspec
import pytest

from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.space import full_space
from numapredict.native.errors import InvalidMappingError, UnrunnableProgramError, UnsupportedMappingError
from tests.samples import dataset_of, measurement_of, programs_of, topology_of

DATASET = dataset_of()
MACHINE = RecordedMachine(DATASET)
PROGRAM = DATASET.programs[0]


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def test_it_answers_with_what_was_recorded() -> None:
    for measurement in DATASET.measurements:
        assert MACHINE.run(DATASET.program(measurement.program), measurement.mapping) == measurement
        assert MACHINE.supports(measurement.mapping)
    assert (MACHINE.name, MACHINE.topology, MACHINE.modelled) == ("sample-2x4", DATASET.topology, True)


def test_equal_mappings_find_each_other() -> None:
    asked = parse_label("1x1-scatter-first-touch")
    assert MACHINE.supports(asked)
    found = MACHINE.run(PROGRAM, asked)
    assert found.mapping == asked
    assert found.repetitions == MACHINE.run(PROGRAM, parse_label("1x1-contiguous-bind")).repetitions


def test_a_program_is_the_same_in_another_folder_only() -> None:
    moved = msgspec.structs.replace(PROGRAM, command=("/usr/local/bin/p0", *PROGRAM.command[1:]))
    assert MACHINE.run(moved, DATASET.measurements[0].mapping) == DATASET.measurements[0]
    resized = msgspec.structs.replace(PROGRAM, command=(PROGRAM.command[0], "--size", "2"))
    with pytest.raises(UnrunnableProgramError, match="'p0' was recorded on sample-2x4 with other arguments"):
        MACHINE.run(resized, DATASET.measurements[0].mapping)


def test_an_unknown_program_gets_the_nearest_names() -> None:
    with pytest.raises(UnrunnableProgramError) as error:
        MACHINE.run(programs_of("p1x")[0], DATASET.measurements[0].mapping)
    assert "'p1x' was not recorded on sample-2x4; nearest names: p1, " in one_line(error)


def test_an_unknown_mapping_gets_the_nearest_labels() -> None:
    asked = full_space(DATASET.topology)[-1]
    assert not MACHINE.supports(asked)
    with pytest.raises(UnsupportedMappingError) as error:
        MACHINE.run(PROGRAM, asked)
    text = one_line(error)
    assert asked.label in text
    assert "nearest of its 6 recorded mappings: " in text


def test_an_impossible_mapping_is_called_so() -> None:
    with pytest.raises(InvalidMappingError):
        MACHINE.run(PROGRAM, Mapping(99, 2, "scatter", 2, "interleave"))


def test_a_foreign_mapping_that_does_not_fit_the_topology_is_answered_as_it_is() -> None:
    topology = topology_of((2,), "sample-2x4")
    mapping = parse_label("16x2-scatter-locality")
    foreign = msgspec.structs.replace(
        DATASET, topology=topology, measurements=(measurement_of("p0", mapping, topology),)
    )
    machine = RecordedMachine(foreign)
    assert machine.supports(mapping)
    assert machine.run(PROGRAM, mapping) == foreign.measurements[0]


def test_an_empty_dataset_has_no_nearest_names() -> None:
    empty = RecordedMachine(msgspec.structs.replace(DATASET, programs=(), measurements=()))
    with pytest.raises(UnrunnableProgramError, match="nearest names: none"):
        empty.run(PROGRAM, DATASET.measurements[0].mapping)
