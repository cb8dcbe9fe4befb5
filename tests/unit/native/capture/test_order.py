"""What the capture library counts of the order of regions is what a search through the whole order finds."""

import subprocess
from pathlib import Path

import pytest

from tests.preloaded import GCC

ROOT = Path(__file__).parents[4]
SOURCES = (ROOT / "tests" / "native" / "order_counts.c", ROOT / "native" / "capture" / "order.c")

pytestmark = pytest.mark.skipif(not GCC, reason="gcc is not installed")


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("order") / "order_counts"
    options = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
    subprocess.run([GCC, *options, "-o", program, *SOURCES], check=True)
    return program


def told(program: Path, *words: int) -> int:
    done = subprocess.run([program, *map(str, words)], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


@pytest.mark.parametrize("seed", range(8))
def test_each_instance_is_told_with_the_others_before_it(counts: Path, seed: int) -> None:
    assert told(counts, 1 + seed % 5, 500, seed) == 500


def test_as_many_regions_as_there_is_room_for_are_told_and_no_more(counts: Path) -> None:
    assert told(counts, 64, 64, 1) == 64
    assert told(counts, 65, 65, 1) == 0


def test_an_order_without_a_pattern_is_given_up(counts: Path) -> None:
    assert told(counts, 30, 20000, 1) == 0
