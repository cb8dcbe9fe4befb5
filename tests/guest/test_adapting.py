"""A run that adapts, in a guest of four nodes: threads and pages move where it says, and output stays the same.

Times mean nothing in a guest, but sleeping does: the program sleeps longer where a thread's pages are elsewhere.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.adapt_table import AdaptResult, AdaptTable, read_result, write_table
from numapredict.collect.placing.preload import PlacementFiles, adapting_environment
from numapredict.native.library import placement_library
from tests.benchmarks.programs import compiled
from tests.guest.machine import Guest
from tests.guest.shape import Shape
from tests.openmp import CLANG, GCC
from tests.shapes import shape

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]

SOURCE = Path(__file__).parent / "programs" / "sleeper.c"
_SHAPE = shape((4, 4, 4, 4))
TOPOLOGY = replace(_SHAPE, nodes=tuple(replace(node, os_index=node.index) for node in _SHAPE.nodes))
"""The guest's."""
LABELS = (
    "8x4-contiguous-dataset",
    "8x4-contiguous-locality",
    "8x4-contiguous-interleave",
    "4x4-contiguous-first-touch",
)
DATASET, LOCALITY = 1, 2
SHARE = 0.5
"""Moving pages is dear under emulation."""
RUNS = {  # the program's words, and which column known programs gain most from
    "dataset": ("80 where", DATASET),
    "locality": ("80 where", LOCALITY),
    "wrong": ("80 where", 3),
    "short": ("5 where", DATASET),
    "tiny": ("2000 tiny", DATASET),
    "nested": ("300 nested", DATASET),
    "exit": ("20 exit", DATASET),
    "stops": ("5 stops", DATASET),
}


@dataclass(frozen=True)
class Ran:
    """What a program said and ended with, and what the library did."""

    output: str
    plain: str
    exit_code: int
    result: AdaptResult


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Ran]:
    """Run all programs in one guest, each without the library and with it."""
    folder = tmp_path_factory.mktemp("adapting")
    written = folder / "guest"
    written.mkdir()
    base = resolve(parse_label("16x4-contiguous-locality"), TOPOLOGY)
    lines = ["export OMP_NUM_THREADS=8 OMP_WAIT_POLICY=passive"]
    runs = [(compiler, name) for compiler in ("gcc", "clang") for name in RUNS]
    for compiler, name in runs:
        (folder / compiler).mkdir(exist_ok=True)
        program = compiled(SOURCE, folder / compiler, compiler)
        words, best = RUNS[name]
        table = written / f"{compiler}-{name}"
        gains = [0.0, *(2.0 if column == best else 0.25 for column in range(1, len(LABELS) + 1))]
        columns = tuple((resolve(parse_label(label), TOPOLOGY), n) for n, label in enumerate(LABELS[:3], 1))
        columns += ((resolve(parse_label(LABELS[3]), TOPOLOGY), 0),)
        known = ((1.0, tuple(gains)),)
        write_table(AdaptTable(share=SHARE, quiet_s=1.0, columns=columns, known=known), base, folder / f"{table.name}")
        lines.append(f"cp {folder / table.name} {table}")
        environment = adapting_environment({}, base, str(placement_library()), PlacementFiles(adapt=str(table)))
        limit = "timeout -s TERM 8 " if name == "stops" else ""
        set_here = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        lines.append(f"{limit}{program} {words} > {table}.plain; {limit}env {set_here} {program} {words} > {table}.out")
        lines.append(f"echo $? > {table}.code")
    guest = Guest(Shape.parse("4x4"), ("numa_balancing=disable", "transparent_hugepage=never"))
    result = guest.run(["sh", "-c", "\n".join(lines)], written, timeout_s=900)
    assert result.exit_code == 0, result.stderr.decode()
    return {
        (compiler, name): Ran(
            output=Path(f"{written / f'{compiler}-{name}'}.out").read_text(),
            plain=Path(f"{written / f'{compiler}-{name}'}.plain").read_text(),
            exit_code=int(Path(f"{written / f'{compiler}-{name}'}.code").read_text()),
            result=read_result(Path(f"{written / f'{compiler}-{name}'}.result")),
        )
        for compiler, name in runs
    }


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
class TestARunThatAdapts:
    @pytest.mark.parametrize("name", ["dataset", "locality", "wrong"])
    def test_pages_are_where_the_mapping_at_the_end_has_them(
        self, ran: dict[tuple[str, str], Ran], compiler: str, name: str
    ) -> None:
        """Which one that is depends on times, which a busy computer changes."""
        one = ran[compiler, name]
        assert one.result.end
        if one.result.column in (DATASET, LOCALITY):
            assert "8 of 8 parts" in one.output
        elif one.result.column in (0, 4):  # under first touch pages stay, or go back
            assert one.output == one.plain

    @pytest.mark.parametrize("name", ["short", "tiny", "nested", "exit", "stops"])
    def test_changes_no_output(self, ran: dict[tuple[str, str], Ran], compiler: str, name: str) -> None:
        one = ran[compiler, name]
        assert one.output.splitlines()[0] == one.plain.splitlines()[0]
        assert one.exit_code == {"exit": 26, "stops": 124}.get(name, 0)

    def test_tries_nothing_in_the_first_second(self, ran: dict[tuple[str, str], Ran], compiler: str) -> None:
        short = ran[compiler, "short"]
        assert short.result.trials == ()
        assert short.output == short.plain
        assert all(trial.at_s > 1 for one in ran.values() for trial in one.result.trials)
