"""A program's own cycles an instruction, from a real native run and trace: the order of two programs alone."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.native_cycles import PROVENANCE
from numapredict.collect.modelled.trace_store import TraceStore
from tests.openmp import BUDGET, CAN_TRACE, GCC, MACHINE, build, program_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.thorough,
    pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed"),
]


def test_an_instruction_costs_what_it_cost_in_the_native_run(tmp_path: Path) -> None:
    # A cycle holds at least one of the additions and three instructions that do nothing; a division takes several.
    asks = msgspec.structs.replace(MACHINE, cycles_per_instruction=0.5, cycles_from_native_run=True)
    path = build("long_instructions.c", tmp_path, GCC)
    found = {}
    for kind in ("add", "divide"):
        machine = ModelledMachine(asks, TraceStore(asks, BUDGET, tmp_path / "cache"))
        run = machine.run(program_of(path, kind), parse_label("4x1-contiguous-bind"))
        found[kind] = dict(run.provenance)[PROVENANCE]
    assert "here on" in found["divide"]
    cycles = {kind: float(text.split(",")[0].split()[0]) for kind, text in found.items()}
    assert cycles["divide"] > cycles["add"]
