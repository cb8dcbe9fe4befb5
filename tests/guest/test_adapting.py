"""A run that adapts, in a guest of four nodes: threads and pages move where it says, and output stays the same.

Times mean nothing in a guest, but sleeping does: the program sleeps longer where a thread's pages are elsewhere.
"""

import shlex
import signal
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
    "8x4-contiguous-mix",
)
DATASET, LOCALITY, MIX = 1, 2, 5
SHARE, QUIET_S = 0.5, 0.3
"""Moving pages is dear under emulation."""


@dataclass(frozen=True)
class Run:
    """The program's words, the column that known programs gain most from, and whether it begins under it."""

    words: str
    best: int
    begins: bool = False


RUNS = {
    "gcc": {
        "dataset": Run("40 where", DATASET),
        "locality": Run("40 where", LOCALITY),
        "mix": Run("40 where", MIX),
        "home": Run("300 home", DATASET),
        "from dataset": Run("3 where", DATASET, begins=True),
        "from locality": Run("3 where", LOCALITY, begins=True),
        "short": Run("2 where", DATASET),
        "tiny": Run("200 tiny", DATASET),
        "nested": Run("50 nested", DATASET),
        "exit": Run("5 exit", DATASET),
        "stops": Run("5 stops", DATASET),
    },
    "clang": {
        "locality": Run("40 where", LOCALITY),
        "home": Run("300 home", LOCALITY),
        "from locality": Run("3 where", LOCALITY, begins=True),
        "exit": Run("5 exit", DATASET),
    },
}
ALL = [(compiler, name) for compiler, runs in RUNS.items() for name in runs]
PLAIN = ("short", "tiny", "nested", "exit", "stops")
"""These also run without the library."""


@dataclass(frozen=True)
class Ran:
    """What a program said and ended with, and what the library did."""

    output: str
    plain: str
    exit_code: int
    result: AdaptResult


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Ran]:
    """Run all programs in one guest, with the library and some without it too."""
    folder = tmp_path_factory.mktemp("adapting")
    written = folder / "guest"
    written.mkdir()
    base = resolve(parse_label("16x4-contiguous-locality"), TOPOLOGY)
    columns = tuple((resolve(parse_label(label), TOPOLOGY), n) for n, label in enumerate(LABELS[:3], 1))
    columns += ((resolve(parse_label(LABELS[3]), TOPOLOGY), 0), (resolve(parse_label(LABELS[4]), TOPOLOGY), 4))
    lines = ["export OMP_NUM_THREADS=8 OMP_WAIT_POLICY=passive"]
    places = {}
    for compiler, name in ALL:
        (folder / compiler).mkdir(exist_ok=True)
        program = compiled(SOURCE, folder / compiler, compiler)
        run = RUNS[compiler][name]
        place = places[compiler, name] = written / f"{compiler}-{name.replace(' ', '-')}"
        gains = (0.0, *(2.0 if column == run.best else 0.25 for column in range(1, len(LABELS) + 1)))
        table = AdaptTable(
            share=SHARE, quiet_s=QUIET_S, columns=columns, known=((1.0, gains),), start=run.best if run.begins else 0
        )
        write_table(table, base, place)
        environment = adapting_environment({}, base, str(placement_library()), PlacementFiles(adapt=str(place)))
        set_here = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        if name in PLAIN:
            lines.append(f"{program} {run.words} > {place}.plain")
        lines.append(f"env {set_here} {program} {run.words} > {place}.out; echo $? > {place}.code")
    guest = Guest(Shape.parse("4x4"), ("numa_balancing=disable", "transparent_hugepage=never"))
    result = guest.run(["sh", "-c", "\n".join(lines)], written, timeout_s=900)
    assert result.exit_code == 0, result.stderr.decode()
    return {
        key: Ran(
            output=Path(f"{place}.out").read_text(),
            plain=Path(f"{place}.plain").read_text() if key[1] in PLAIN else "",
            exit_code=int(Path(f"{place}.code").read_text()),
            result=read_result(Path(f"{place}.result")),
        )
        for key, place in places.items()
    }


def named(*names: str) -> pytest.MarkDecorator:
    """Return the parameters: each of these runs, by compiler and name."""
    return pytest.mark.parametrize("key", [key for key in ALL if key[1] in names], ids="-".join)


@named("dataset", "locality", "mix")
def test_pages_are_where_a_kept_mapping_has_them(ran: dict[tuple[str, str], Ran], key: tuple[str, str]) -> None:
    """Whether it is kept depends on times, which a busy computer changes."""
    one = ran[key]
    assert one.result.end
    if one.result.column in (DATASET, LOCALITY, MIX):
        assert "8 of 8 parts" in one.output


@named("home")
def test_what_makes_it_slower_is_left_and_its_pages_go_back(
    ran: dict[tuple[str, str], Ran], key: tuple[str, str]
) -> None:
    """Whether anything is tried depends on times."""
    one = ran[key]
    assert one.result.column == 0
    assert "kept" not in [trial.outcome for trial in one.result.trials]
    assert "1024 of 1024 pages at home" in one.output
    assert "16 PUs" in one.output


@named("from dataset", "from locality")
def test_the_next_run_has_its_threads_and_pages_so_from_the_start(
    ran: dict[tuple[str, str], Ran], key: tuple[str, str]
) -> None:
    one = ran[key]
    assert one.result.trials == ()
    assert one.result.column == RUNS[key[0]][key[1]].best
    assert "8 of 8 parts" in one.output


@named(*PLAIN)
def test_changes_no_output(ran: dict[tuple[str, str], Ran], key: tuple[str, str]) -> None:
    one = ran[key]
    assert one.output.splitlines()[0] == one.plain.splitlines()[0]
    assert one.exit_code == {"exit": 26, "stops": 128 + signal.SIGALRM}.get(key[1], 0)


def test_tries_nothing_in_the_first_time(ran: dict[tuple[str, str], Ran]) -> None:
    short = ran["gcc", "short"]
    assert short.result.trials == ()
    assert short.output == short.plain
    assert all(trial.at_s > QUIET_S for one in ran.values() for trial in one.result.trials)
