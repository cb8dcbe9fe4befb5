import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numapredict.collect.host.tasks import Tasks, check_one_asker, of_this_node, tasks_here
from numapredict.native.errors import UsageError

STEP = {"SLURM_STEP_ID": "0", "SLURM_NODEID": "1"}


@pytest.mark.parametrize(
    ("variables", "count"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}, 2),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "1", "OMPI_COMM_WORLD_SIZE": "8"}, 1),
        ({"MPI_LOCALNRANKS": "4", "MPI_LOCALRANKID": "0"}, 4),
        ({"MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "3"}, 4),  # MPICH until 3.2
        ({"PMI_RANK": "5", "PMI_SIZE": "8", "PMI_LOCAL_RANK": "1"}, 2),
        ({"MV2_COMM_WORLD_LOCAL_SIZE": "3"}, 3),
        ({"FLUX_TASK_LOCAL_ID": "0", "FLUX_JOB_SIZE": "4", "FLUX_JOB_NNODES": "2"}, 2),
        ({"FLUX_TASK_LOCAL_ID": "0", "FLUX_JOB_SIZE": "2", "FLUX_JOB_NNODES": "2"}, 1),
        (STEP | {"SLURM_STEP_TASKS_PER_NODE": "2(x2)"}, 2),
        (STEP | {"SLURM_STEP_TASKS_PER_NODE": "3,1"}, 1),  # one here, whatever another node has
        ({"SLURM_NTASKS": "4", "SLURM_TASKS_PER_NODE": "4", "SLURM_LOCALID": "0"}, None),  # a batch script
        # mpirun starts its own process on each node by srun, and that starts the ranks.
        (STEP | {"SLURM_STEP_TASKS_PER_NODE": "1(x2)", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "many", "OMPI_COMM_WORLD_LOCAL_RANK": "-1"}, None),
    ],
)
def test_how_many_tasks_a_start_put_here(variables: dict[str, str], count: int | None) -> None:
    found = tasks_here(variables)
    assert (found and found.count) == count
    if count is None or count < 2:
        check_one_asker(variables)
    else:
        with pytest.raises(UsageError, match=f"one of {count} tasks"):
            check_one_asker(variables)


def test_the_line_says_what_to_type_instead() -> None:
    step = STEP | {"SLURM_STEP_TASKS_PER_NODE": "1,2"}
    assert tasks_here(step) == Tasks(2, "srun", "srun --ntasks=1")
    assert tasks_here(step | {"SLURM_CPUS_ON_NODE": "8"}) == Tasks(2, "srun", "srun --ntasks=1 --cpus-per-task=8")
    with pytest.raises(UsageError) as error:
        check_one_asker({"OMPI_COMM_WORLD_LOCAL_SIZE": "2"})
    assert "mpirun -n 1 numapredict" in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


@given(st.text(max_size=40), st.text(max_size=8))
@example("5", "\x1f0")
def test_any_text_is_read(counts: str, place: str) -> None:
    found = of_this_node({"X": counts, "SLURM_NODEID": place}, "X")
    assert found is None or found >= 0
