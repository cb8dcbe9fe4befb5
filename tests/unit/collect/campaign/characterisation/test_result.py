"""What a characterisation says: against a table written by hand, and against a shipped dataset read another way."""

import json
import math

import msgspec
import pyarrow.parquet as pq
import pytest

import numapredict.training_data as shipped
from numapredict.collect.campaign.characterisation.plan import plan_of
from numapredict.collect.campaign.characterisation.result import Characterisation, characterisation_of
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition, Status
from numapredict.collect.program import Program
from numapredict.predictor.learning.datasets import open_dataset
from tests.shapes import shape

TOPOLOGY = shape([2, 2])
PROGRAM = Program(name="app", command=("./app", "7"))
# Of a machine with two nodes of two cores: every mapping of the plan with its time in seconds.
TIMES_S = {
    "1x1-contiguous-bind": 16.0,
    "2x1-contiguous-bind": 9.0,
    "2x1-contiguous-interleave@2": 10.0,
    "2x1-contiguous-remote": 20.0,
    "2x2-contiguous-first-touch": 8.0,
    "4x2-contiguous-first-touch": 6.0,
    "4x2-contiguous-locality": 3.0,
    "4x2-contiguous-balance": 5.0,
    "4x2-contiguous-interleave": 5.5,
    "4x2-contiguous-mix": 3.5,
    "4x2-contiguous-dataset": 4.0,
    "4x2-contiguous-bind@1": 12.0,
    "4x2-scatter-first-touch": 7.5,
    "4x2-scatter-locality": 4.5,
    "4x2-scatter-balance": 5.25,
    "4x2-scatter-interleave": 5.75,
    "4x2-scatter-mix": 4.25,
    "4x2-scatter-dataset": 6.5,
    "4x2-scatter-bind@1": 12.5,
}
NODES = (NodeCounters(9e6, 1e6, 3.0, 0.5), NodeCounters(6e6, 4e6, 2.0, 1.5))


def measured(
    mapping: Mapping,
    *,
    regions: float | None = 0.5,
    counted: bool = True,
    sampled: float | None = None,
    status: Status = "ok",
    program: str = "app",
) -> Measurement:
    """Return a measurement of three repetitions around the table's time; the regions take a part of it."""
    time_s = TIMES_S[mapping.label]
    counters = Counters(NODES) if counted else None
    repetitions = tuple(
        Repetition(time_s * factor, None if regions is None else time_s * factor * regions, counters, (), sampled)
        for factor in (0.9, 1.0, 1.3)
    )
    return Measurement(
        program=program,
        mapping=mapping,
        machine="two",
        modelled=True,
        status=status,
        repetitions=repetitions if status == "ok" else (),
        message="" if status == "ok" else "exit code 3",
    )


def characterised(**options: object) -> Characterisation:
    plan = plan_of(TOPOLOGY)
    return characterisation_of(PROGRAM, TOPOLOGY, plan, [measured(m, **options) for m in plan.mappings])  # type: ignore[arg-type]


def test_the_table_by_hand_has_every_mapping_of_the_plan() -> None:
    assert {mapping.label for mapping in plan_of(TOPOLOGY).mappings} == set(TIMES_S)


def test_times_stand_where_the_thesis_has_them() -> None:
    found = characterised(regions=None)
    assert found.clock == "process"
    contiguous, scatter = found.tables
    assert (contiguous.thread_policy, contiguous.page_policy) == ("contiguous", "first-touch")
    assert (contiguous.threads, contiguous.thread_nodes) == ((1, 2, 4), (1, 2))
    assert contiguous.times_s == ((16.0, None), (9.0, 8.0), (None, 6.0))
    assert scatter.thread_policy == "scatter"
    assert scatter.times_s == ((16.0, None), (9.0, 8.0), (None, 7.5))
    assert scatter.mappings[1] == ("2x1-contiguous-bind", "2x2-contiguous-first-touch")
    assert [(p.page_policy, p.page_nodes, p.time_s) for p in found.one_node] == [
        ("bind", 1, 9.0),
        ("interleave", 2, 10.0),
        ("remote", 1, 20.0),
    ]
    balance = next(p for p in found.whole if (p.thread_policy, p.page_policy) == ("scatter", "balance"))
    assert (balance.threads, balance.thread_nodes, balance.time_s) == (4, 2, 5.25)


def test_the_fastest_and_the_slow_are_reported() -> None:
    found = characterised()
    assert found.clock == "regions"
    assert (found.fastest, found.slowest) == ("4x2-contiguous-locality", "2x1-contiguous-remote")
    assert (found.default, found.speedup) == ("4x2-contiguous-first-touch", pytest.approx(2.0))
    slowdowns = [run.slowdown for run in found.runs]
    assert slowdowns == pytest.approx(sorted(time_s / 3.0 for time_s in TIMES_S.values()))
    fastest = found.runs[0]
    assert (fastest.time_s, fastest.region_time_s, fastest.process_time_s) == (1.5, 1.5, 3.0)
    assert fastest.spread == pytest.approx(0.4)
    assert fastest.local_share == 0.75
    assert fastest.nodes == NODES


def test_each_choice_is_judged_with_all_others_equal() -> None:
    effects = {e.choice: (e.faster, e.slower, round(e.ratio, 6)) for e in characterised().effects}
    assert effects == {
        "threads": ("2x1-contiguous-bind", "1x1-contiguous-bind", round(16 / 9, 6)),
        "thread nodes": ("2x2-contiguous-first-touch", "2x1-contiguous-bind", 1.125),
        "thread policy": ("4x2-contiguous-dataset", "4x2-scatter-dataset", 1.625),
        "pages": ("4x2-contiguous-locality", "4x2-contiguous-bind@1", 4.0),
    }


def test_what_failed_or_was_not_possible_has_no_time_and_spoils_nothing() -> None:
    plan = plan_of(TOPOLOGY)
    left_out, failed = "4x2-contiguous-first-touch", "4x2-contiguous-locality"
    found = characterisation_of(
        PROGRAM,
        TOPOLOGY,
        plan,
        [measured(m, status="crashed" if m.label == failed else "ok") for m in plan.mappings if m.label != left_out],
    )
    assert found.not_possible == (left_out,)
    assert (found.default, found.speedup) == (None, None)
    assert found.fastest == "4x2-contiguous-mix"
    assert found.tables[0].times_s[2] == (None, None)
    assert found.runs[-1] == msgspec.structs.replace(found.runs[-1], mapping=failed, status="crashed", time_s=None)
    assert found.runs[-1].message == "exit code 3"


def test_without_counters_nothing_is_counted() -> None:
    found = characterised(counted=False)
    assert not found.counted
    assert all(run.nodes == () and run.local_share is None for run in found.runs)
    sampled = characterised(counted=False, sampled=0.6)
    assert not sampled.counted
    assert all(run.nodes == () and run.local_share == 0.6 for run in sampled.runs)


def test_one_run_without_region_times_makes_all_count_by_the_process() -> None:
    plan = plan_of(TOPOLOGY)
    mixed = [measured(m, regions=None if m.threads == 1 else 0.5) for m in plan.mappings]
    found = characterisation_of(PROGRAM, TOPOLOGY, plan, mixed)
    assert (found.clock, found.runs[0].time_s) == ("process", 3.0)


def test_others_measurements_are_left_aside() -> None:
    plan = plan_of(TOPOLOGY)
    with pytest.raises(ValueError, match="no measurement of 'app'"):
        characterisation_of(PROGRAM, TOPOLOGY, plan, [measured(m, program="other") for m in plan.mappings])


def test_the_json_is_numbers_and_nulls() -> None:
    document = msgspec.json.encode(characterised())
    data = json.loads(document)
    assert data["tables"][0]["times_s"][0] == [8.0, None]
    assert data["runs"][0]["nodes"][1]["remote_accesses"] == 4e6
    assert data["modelled"] is True
    assert msgspec.json.decode(document, type=Characterisation) == characterised()


def test_a_shipped_dataset_is_characterised_as_its_table_says() -> None:
    """The table is read by pyarrow alone, not by our reader."""
    dataset = open_dataset("sandybridge-4x8")
    assert dataset.topology is not None
    name = "line-solve-z.medium.parallel"
    plan = plan_of(dataset.topology)
    found = characterisation_of(dataset.program(name), dataset.topology, plan, dataset.measurements)
    table = pq.read_table(f"{next(iter(shipped.__path__))}/sandybridge-4x8/measurements.parquet")
    rows = {row["mapping"]: row for row in table.to_pylist() if row["program"] == name}
    assert found.not_possible == ()
    assert len(found.runs) == 32
    for run in found.runs:
        row = rows[run.mapping]
        assert run.time_s == row["region_time_s"]
        assert [node.local_accesses for node in run.nodes] == row["node_local_accesses"]
        local, remote = sum(row["node_local_accesses"]), sum(row["node_remote_accesses"])
        assert run.local_share == pytest.approx(local / (local + remote))
    scatter = next(t for t in found.tables if t.thread_policy == "scatter")
    at = scatter.threads.index(16), scatter.thread_nodes.index(2)
    assert scatter.times_s[at[0]][at[1]] == rows["16x2-scatter-first-touch"]["region_time_s"]
    assert found.fastest == min((label for label in rows if found.run(label)), key=lambda m: rows[m]["region_time_s"])
    assert math.isclose(
        found.speedup or 0,
        rows["32x4-contiguous-first-touch"]["region_time_s"] / rows[found.fastest or ""]["region_time_s"],
    )


def test_threads_a_core_have_tables_of_their_own_and_an_effect() -> None:
    topology = shape([2, 2], pus=2)
    plan = plan_of(topology)
    known = set(TIMES_S)
    runs = []
    for mapping in plan.mappings:
        alone = mapping.replaced(threads_per_core=1, threads=min(mapping.threads, 4)).label
        time_s = TIMES_S[alone] if alone in known else 10.0
        repetition = Repetition(2 * time_s if mapping.threads_per_core > 1 else time_s)
        runs.append(Measurement(program="app", mapping=mapping, machine="m", modelled=False, repetitions=(repetition,)))
    found = characterisation_of(PROGRAM, topology, plan, runs)
    tables = {(table.thread_policy, table.threads_per_core): table for table in found.tables}
    assert list(tables) == [("contiguous", 1), ("scatter", 1), ("contiguous", 2), ("scatter", 2)]
    assert tables["contiguous", 1].threads == (1, 2, 4)
    shared = tables["contiguous", 2]
    assert (shared.threads, shared.thread_nodes) == ((2, 4, 8), (1, 2))
    assert shared.mappings == (
        ("2x1-contiguous-bind-smt2", None),
        ("4x1-contiguous-bind-smt2", "4x2-contiguous-first-touch-smt2"),
        (None, "8x2-contiguous-first-touch-smt2"),
    )
    effects = {effect.choice: (effect.faster, effect.slower, effect.ratio) for effect in found.effects}
    slower = "2x1-contiguous-bind-smt2"
    assert effects["threads a core"] == ("2x1-contiguous-bind", slower, 2.0)
    assert {each.asked.threads_per_core for each in found.whole} == {1}
