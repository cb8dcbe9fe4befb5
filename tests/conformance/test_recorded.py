import pytest

from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping
from numapredict.collect.program import Program
from tests.conformance.machine_suite import MachineConformance
from tests.samples import dataset_of

DATASET = dataset_of()


class TestRecordedMachine(MachineConformance):
    """A recording of a modelled machine."""

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Machine:
        return RecordedMachine(DATASET)

    @pytest.fixture(scope="class")
    @classmethod
    def program(cls) -> Program:
        return DATASET.programs[0]

    @pytest.fixture(scope="class")
    @classmethod
    def mapping(cls) -> Mapping:
        return DATASET.measurements[-1].mapping

    @pytest.fixture(scope="class")
    @classmethod
    def crashing_program(cls) -> Program:
        return DATASET.programs[-1]


class TestRecordedHardware(TestRecordedMachine):
    """A recording of measured times: the same programs and mappings."""

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Machine:
        return RecordedMachine(dataset_of(modelled=False))
