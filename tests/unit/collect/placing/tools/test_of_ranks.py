import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.of_ranks import mpirun_of_ranks
from numapredict.collect.program import program_of
from numapredict.collect.rank_share import shared, split_label
from tests.samples import topology_of

FOUR = topology_of((4, 4, 4, 4))  # PUs alternate: node 0 has 0, 4, 8, 12
OMP = "-x OMP_PLACES=cores -x OMP_PROC_BIND=close -x OMP_DYNAMIC=false"


def told(label: str) -> tuple[str, str]:
    mapping, ranks = split_label(label)
    assert ranks is not None
    return mpirun_of_ranks(shared(resolve(parse_label(mapping), FOUR), ranks), label, program_of(("./app", "a b")))


@pytest.mark.parametrize(
    ("label", "count", "place", "threads"),
    [
        ("16x4-contiguous-first-touch-2pernode", 8, "ppr:2:numa:pe=2", 2),
        ("16x4-contiguous-locality-1pernode", 4, "ppr:1:numa:pe=4", 4),
        ("8x4-scatter-first-touch-1pernode", 4, "ppr:1:numa:pe=2", 2),
    ],
)
def test_open_mpi_places_ranks_that_have_cores_in_a_row(label: str, count: int, place: str, threads: int) -> None:
    text, note = told(label)
    start = f"mpirun -n {count} --map-by {place} --bind-to core -x OMP_NUM_THREADS={threads}"
    assert text == f"{start} {OMP} ./app 'a b'"
    assert note.endswith(f"for MPICH: numapredict run --mapping {label} -- mpirun -n {count} ./app 'a b'")


@pytest.mark.parametrize(
    "label",
    [
        "8x2-contiguous-first-touch-1pernode",
        "4x2-contiguous-first-touch-2pernode",
    ],
)
def test_other_ranks_have_a_line_each(label: str) -> None:
    text, _ = told(label)
    lines = text.split(" : \\\n  ")
    mapping, ranks = split_label(label)
    assert ranks is not None
    assert len(lines) == ranks.count * parse_label(mapping).thread_nodes
    assert lines[0].startswith("mpirun --bind-to none -n 1 env OMP_NUM_THREADS=")
    assert all("numactl --physcpubind=" in line and line.endswith("./app 'a b'") for line in lines)
