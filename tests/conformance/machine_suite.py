"""What every machine promises: inherit the suite, say in fixtures what to run, and it is checked."""

import math
import pickle
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.data.dataset import Dataset, read_dataset, write_dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.machine import Machine, TracesToTake
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from numapredict.native.errors import NumapredictError


class MachineConformance:
    """The suite. A subclass overrides the first four fixtures, with scope "class" where running is expensive.

    ``machine`` is what is tested; ``program`` runs to its end on it; ``mapping`` is one it supports, with as much of
    the topology as it can; ``crashing_program`` ends with an exit code other than 0.
    """

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Machine:
        """Return the machine to test."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def program(cls) -> Program:
        """Return a program that the machine can run."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def mapping(cls) -> Mapping:
        """Return a mapping that the machine supports."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def crashing_program(cls) -> Program:
        """Return a program that the machine can start and that fails."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def measurement(cls, machine: Machine, program: Program, mapping: Mapping) -> Measurement:
        """Return the program's measurement, made once."""
        return machine.run(program, mapping)

    def test_the_machine_has_a_name_and_a_topology(self, machine: Machine) -> None:
        assert machine.name
        assert "\n" not in machine.name
        assert machine.topology.core_count > 0
        assert isinstance(machine.modelled, bool)

    def test_what_a_campaign_and_the_advice_ask_beforehand_has_an_answer(
        self, machine: Machine, program: Program, mapping: Mapping, measurement: Measurement
    ) -> None:
        assert machine.executions >= 1
        assert len(machine.controllers_GBps) in {0, len(machine.topology.nodes)}
        assert all(math.isfinite(rate) and rate >= 0 for rate in machine.controllers_GBps)
        estimate_s = machine.estimate_s(program, [mapping])
        assert estimate_s is None or estimate_s > 0
        # The measurement was made, so a trace with its thread count is there; a new program has none.
        assert machine.traces_to_take(program, [mapping]) in {None, TracesToTake((), 0.0)}
        other = msgspec.structs.replace(program, command=(*program.command, "another"))
        one = Mapping(1, 1, "contiguous", 1, "bind")
        wanted = machine.traces_to_take(other, [mapping, one, mapping])
        assert wanted is None or (wanted.threads == tuple(sorted({1, mapping.threads})) and wanted.most_s > 0)

    def test_a_measurement_says_what_was_run_where(
        self, machine: Machine, program: Program, mapping: Mapping, measurement: Measurement
    ) -> None:
        assert machine.supports(mapping)
        assert measurement.program == program.name
        assert measurement.mapping == mapping
        assert parse_label(measurement.mapping.label) == mapping
        assert measurement.machine == machine.name
        assert measurement.modelled == machine.modelled

    def test_a_measurement_has_positive_times(self, measurement: Measurement) -> None:
        assert (measurement.status, measurement.message) == ("ok", "")
        assert measurement.repetitions
        for repetition in measurement.repetitions:
            assert math.isfinite(repetition.time_s)
            assert repetition.time_s > 0
            assert repetition.region_time_s is None or 0 <= repetition.region_time_s <= repetition.time_s * 1.0001
        times = [repetition.time_s for repetition in measurement.repetitions]
        assert min(times) <= measurement.time_s <= max(times)

    def test_provenance_is_words_in_one_line(self, measurement: Measurement) -> None:
        assert measurement.provenance
        for name, value in measurement.provenance:
            assert name
            assert "\n" not in name + value

    def test_counters_have_an_entry_a_node_and_add_up(self, machine: Machine, measurement: Measurement) -> None:
        for repetition in measurement.repetitions:
            counters = repetition.counters
            if counters is None:
                continue
            assert len(counters.nodes) == len(machine.topology.nodes)
            for total, name in (
                (counters.local_accesses, "local_accesses"),
                (counters.remote_accesses, "remote_accesses"),
                (counters.local_bandwidth_GBps, "local_bandwidth_GBps"),
                (counters.remote_bandwidth_GBps, "remote_bandwidth_GBps"),
            ):
                values = [getattr(node, name) for node in counters.nodes]
                assert all(math.isfinite(value) and value >= 0 for value in values)
                assert total == pytest.approx(math.fsum(values))
            for node in machine.topology.nodes:
                if not node.cores:  # an access belongs to the node of the core that makes it
                    made = counters.nodes[node.index]
                    assert (made.local_accesses, made.remote_accesses) == (0, 0)

    def test_a_second_run_is_of_the_same_program_and_mapping(
        self, machine: Machine, program: Program, mapping: Mapping, measurement: Measurement
    ) -> None:
        again = machine.run(program, mapping)
        for field in ("program", "mapping", "machine", "modelled", "status"):
            assert getattr(again, field) == getattr(measurement, field)
        assert len(again.repetitions) == len(measurement.repetitions)
        if machine.modelled:
            assert again.repetitions == measurement.repetitions

    def test_too_many_threads_are_refused_in_one_line(self, machine: Machine, program: Program) -> None:
        threads = machine.topology.core_count + 1
        mapping = Mapping(threads, 1, "contiguous", 1, "bind")
        assert not machine.supports(mapping)
        self.check_refused(machine, program, mapping, mentions=str(threads))

    def test_too_many_nodes_are_refused_in_one_line(self, machine: Machine, program: Program) -> None:
        nodes = len(machine.topology.nodes) + 1
        mapping = Mapping(nodes, nodes, "scatter", nodes, "interleave")
        assert not machine.supports(mapping)
        self.check_refused(machine, program, mapping, mentions=str(nodes))

    def test_mappings_that_are_not_supported_are_refused_in_one_line(self, machine: Machine, program: Program) -> None:
        for mapping in full_space(machine.topology):
            if not machine.supports(mapping):
                self.check_refused(machine, program, mapping, mentions=mapping.label)

    def test_a_missing_program_is_refused_in_one_line(self, machine: Machine, mapping: Mapping, tmp_path: Path) -> None:
        missing = Program(name="no-such-app", command=(str(tmp_path / "no-such-app"),))
        self.check_refused(machine, missing, mapping, mentions="no-such-app")

    def check_refused(self, machine: Machine, program: Program, mapping: Mapping, mentions: str) -> None:
        """Check that a run raises our error, in one line that mentions what is wrong."""
        with pytest.raises(NumapredictError) as error:
            machine.run(program, mapping)
        assert mentions in str(error.value)
        assert "\n" not in str(error.value)

    def test_a_crashing_program_is_said_to_have_crashed(
        self, machine: Machine, crashing_program: Program, mapping: Mapping
    ) -> None:
        failed = machine.run(crashing_program, mapping)
        assert failed.status == "crashed"
        assert failed.repetitions == ()
        assert math.isnan(failed.time_s)
        assert failed.message
        assert "\n" not in failed.message
        assert (failed.program, failed.mapping) == (crashing_program.name, mapping)

    def test_a_recording_answers_with_an_equal_measurement(
        self, machine: Machine, program: Program, mapping: Mapping, measurement: Measurement, tmp_path: Path
    ) -> None:
        dataset = Dataset(
            machine=machine.name,
            modelled=machine.modelled,
            topology=machine.topology,
            made_by="the conformance suite",
            created="2024-01-01T00:00:00+00:00",
            programs=(program,),
            measurements=(measurement,),
        )
        write_dataset(dataset, tmp_path)
        twin = RecordedMachine(read_dataset(tmp_path))
        assert (twin.name, twin.topology, twin.modelled) == (machine.name, machine.topology, machine.modelled)
        assert twin.run(program, mapping) == measurement

    def test_a_campaign_records_what_it_answers(
        self, machine: Machine, program: Program, mapping: Mapping, crashing_program: Program, tmp_path: Path
    ) -> None:
        programs = (msgspec.structs.replace(program, group="g"), crashing_program)
        campaign = Campaign(machine, tmp_path, programs, [mapping], "the conformance suite")
        summary = campaign.run()
        assert (summary.finished, summary.failed, summary.refused) == (2, 1, ())
        made = campaign.finish()
        assert made.programs == programs
        assert [(m.program, m.mapping, m.status) for m in made.measurements] == [
            (program.name, mapping, "ok"),
            (crashing_program.name, mapping, "crashed"),
        ]
        assert read_dataset(tmp_path) == made

    def test_a_modelled_machine_can_be_sent_to_a_worker(self, machine: Machine) -> None:
        if not machine.modelled:
            pytest.skip("only modelled machines run in several processes")
        copy = pickle.loads(pickle.dumps(machine))  # noqa: S301 - between our own processes
        assert (copy.name, copy.topology) == (machine.name, machine.topology)
