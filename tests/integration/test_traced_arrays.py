"""Under the dataset policy the model cuts what the preload library cuts, whichever routine filled it."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.placement import resolve
from tests.openmp import BUDGET, CAN_TRACE, CLANG, GCC, build, program_of
from tests.traces import machine_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]
PAGE_BYTES = 4096
ROWS_BYTES = 20000 * 100  # as arrays.c has them


@pytest.mark.parametrize(
    "compiler", [GCC, pytest.param(CLANG, marks=pytest.mark.skipif(not CLANG, reason="clang is not installed"))]
)
@pytest.mark.parametrize("label", ["8x4-contiguous-dataset", "8x4-scatter-dataset", "8x2-contiguous-dataset@4"])
def test_each_allocation_is_cut_by_itself(tmp_path: Path, compiler: str, label: str) -> None:
    description = machine_of((4, 4, 4, 4))
    budget = msgspec.structs.replace(BUDGET, instances=10)  # of the one region that reads all arrays but one
    machine = ModelledMachine(description, TraceStore(description, budget, folder=tmp_path / "cache"))
    output, mapping = tmp_path / "arrays", parse_label(label)
    address, node = machine.placement(program_of(build("arrays.c", tmp_path, compiler), output), mapping)
    where = dict(zip(address.tolist(), node.tolist(), strict=True))
    chunks = resolve(mapping, machine.topology).chunks
    # The last run to write there is the emulated one, whose addresses are those of the trace.
    lines = [line.split() for line in output.read_text().splitlines()]
    pieces = [each for each in lines if each[0] != "row"]
    assert [name for name, _, _ in pieces] == ["one", "other", "static", "mapped", *["listed"] * 3, "grown"]
    for name, start, size in pieces:
        first, end = -(-int(start, 16) // PAGE_BYTES), (int(start, 16) + int(size)) // PAGE_BYTES
        expected = [chunks[page * mapping.threads // (end - first)] for page in range(end - first)]
        assert [where[page] for page in range(first, end)] == expected, name
    rows = np.array(
        [where[page] for page in sorted({int(start, 16) // PAGE_BYTES for _, start, _ in lines[len(pieces) :]})]
    )
    assert len(rows) >= ROWS_BYTES // PAGE_BYTES
    assert set(rows.tolist()) == set(chunks)
    assert np.bincount(rows).min() > 0.8 * len(rows) / 4  # the rest was in the heap before the program began


@pytest.mark.parametrize("label", ["8x4-contiguous-dataset", "8x4-scatter-dataset"])
def test_rows_that_one_call_allocates_are_cut_as_one_array(tmp_path: Path, label: str) -> None:
    description, mapping = machine_of((4, 4, 4, 4)), parse_label(label)
    machine = ModelledMachine(description, TraceStore(description, BUDGET, folder=tmp_path / "cache"))
    address, node = machine.placement(program_of(build("block_rows.c", tmp_path, GCC), tmp_path / "rows"), mapping)
    where = dict(zip(address.tolist(), node.tolist(), strict=True))
    chunks = resolve(mapping, machine.topology).chunks
    rows: dict[str, list[int]] = {}
    for array, start in (line.split() for line in (tmp_path / "rows").read_text().splitlines()):
        rows.setdefault(array, []).append(where[(int(start, 16) + 10000) // PAGE_BYTES])
    assert [len(found) for found in rows.values()] == [160] * 3
    for array, found in rows.items():
        wanted = [chunks[row * mapping.threads // len(found)] for row in range(len(found))]
        # The first rows are in the heap that the program began with.
        assert np.equal(found, wanted).mean() > 0.95, (array, found)
