"""The estimate of a campaign's time against processor times that were measured on a busy computer with two cores."""

from pathlib import Path

import pytest

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.modelled.campaign_time import campaign_time_s
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from numapredict.collect.space import full_space

ROME = load_description("rome-2x64")
SPACE = full_space(ROME.topology)
FACTOR = 1.5  # programs and the load of the computer change a time as much


def machine_in(folder: Path) -> ModelledMachine:
    return ModelledMachine(ROME, TraceStore(ROME, folder=folder))


@pytest.mark.native
def test_a_program_on_a_machine_of_256_hardware_threads_takes_what_was_measured(tmp_path: Path) -> None:
    # rhs-3d.medium.parallel: 11 traces of 67.1 s together, 177 runs of 2.6 s.
    (program,) = codelet_programs(["rhs-3d"], ["medium"], ["parallel"])
    machine = machine_in(tmp_path)
    assert len(machine.traces_to_take(program, SPACE).threads) == 11
    assert len(SPACE) == 339
    whole_s = machine.estimate_s(program, SPACE)
    assert 69.7 / FACTOR < whole_s < 69.7 * FACTOR
    # With the traces in the cache only the runs are left.
    for mapping in SPACE:
        machine.store._trace_path(program, mapping.threads, mapping.threads_per_core).touch()
    runs_s = machine.estimate_s(program, SPACE)
    assert 2.6 / FACTOR < runs_s < 2.6 * FACTOR
    assert whole_s > 10 * runs_s


def test_a_whole_campaign_takes_what_was_measured_for_each_trace() -> None:
    # 256 traces of the codelets on broadwell-2x10 took 3.7 s each, with all runs.
    machine = load_description("broadwell-2x10")
    space = full_space(machine.topology)
    teams = {(mapping.threads, mapping.threads_per_core) for mapping in space}
    each_s = campaign_time_s([threads for threads, _ in teams], space, len(machine.nodes)) / len(teams)
    assert 3.7 / FACTOR < each_s < 3.7 * FACTOR


@pytest.mark.native
@pytest.mark.parametrize("name", ["rome-2x64", "rome-8x16"])
def test_a_machine_estimates_with_its_own_number_of_nodes(name: str, tmp_path: Path) -> None:
    (program,) = codelet_programs(["rhs-3d"], ["medium"], ["parallel"])
    description = load_description(name)
    machine = ModelledMachine(description, TraceStore(description, folder=tmp_path))
    mappings = [each for each in full_space(description.topology) if (each.threads, each.threads_per_core) == (32, 1)]
    expected_s = campaign_time_s([32], mappings, {"rome-2x64": 2, "rome-8x16": 8}[name])
    assert machine.estimate_s(program, mappings) == expected_s


@pytest.mark.parametrize(
    ("name", "threads", "measured_s"),
    [("rome-2x64", 32, 0.012), ("rome-2x64", 256, 0.021), ("rome-8x16", 32, 0.021), ("rome-8x16", 256, 0.025)],
)
def test_a_run_takes_what_seven_codelets_took_on_average(name: str, threads: int, measured_s: float) -> None:
    machine = load_description(name)
    mappings = [mapping for mapping in full_space(machine.topology) if mapping.threads == threads]
    each_s = campaign_time_s((), mappings, len(machine.nodes)) / len(mappings)
    assert measured_s / FACTOR < each_s < measured_s * FACTOR


@pytest.mark.parametrize(("threads", "measured_s"), [(4, 6.2), (32, 5.9), (256, 6.3)])
def test_a_trace_takes_what_eleven_codelets_took_on_average(threads: int, measured_s: float) -> None:
    assert measured_s / FACTOR < campaign_time_s([threads], (), 2) < measured_s * FACTOR


def test_more_threads_and_nodes_take_longer() -> None:
    one, *_, most = sorted(SPACE, key=lambda mapping: mapping.threads)
    assert campaign_time_s([1], [one], 2) < campaign_time_s([256], [one], 2) < campaign_time_s([256], [most], 2)
    assert campaign_time_s((), [most], 2) < campaign_time_s((), [most], 8)


def test_a_program_that_cannot_run_has_an_estimate_all_the_same(tmp_path: Path) -> None:
    missing = Program(name="missing", command=(str(tmp_path / "missing"),))
    assert machine_in(tmp_path).estimate_s(missing, SPACE) == campaign_time_s((), SPACE, 2)
