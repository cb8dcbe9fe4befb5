"""A program is started by the name that was typed: some act by it, and many say it in their messages."""

from pathlib import Path

import pytest

from numapredict.collect.modelled.tracing import take_census, take_trace
from numapredict.collect.placing.census import parse_census
from numapredict.collect.program import Program
from tests.command import cold
from tests.openmp import BUDGET, GCC, MACHINE, build

pytestmark = pytest.mark.native

WAYS = {
    "in its place": ("run", "--mapping", "1x1-contiguous-bind", "--"),
    "as a child": ("run", "--mapping", "1x1-contiguous-bind", "--regions", "--"),
    "adapting": ("run", "--adapt"),
    "replayed": ("regions",),
}


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Build the program, in PATH, and return the file that it writes to."""
    path = build("named.c", tmp_path, GCC)
    path.rename(tmp_path / "named")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path / "names"


@pytest.mark.parametrize("way", WAYS)
def test_a_run_keeps_the_name(named: Path, way: str) -> None:
    done = cold(*WAYS[way], "named", str(named), PATH=f"{named.parent}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert set(named.read_text().split()) == {"named"}  # regions run it twice


def test_a_census_and_a_trace_keep_the_name(named: Path) -> None:
    program = Program(name="named", command=("named", str(named)))
    census = parse_census(take_census(program, BUDGET))
    assert census is not None
    take_trace(program, 2, MACHINE, census, BUDGET)
    assert named.read_text().split() == ["named", "named"]


def test_a_program_of_ours_which_is_in_no_path_is_found() -> None:
    done = cold("run", "--mapping", "1x1-contiguous-bind", "--", "numapredict-codelets", "--list")
    assert done.returncode == 0, done.stderr
    assert "stream-triad" in done.stdout
