"""On a computer with one memory node a program's mapped files are left alone, and counted once where that is asked."""

import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import pages_once, parse_map, tally
from tests.preloaded import GCC, placed

SOURCE = Path(__file__).parents[1] / "guest" / "programs" / "mapped_file.c"
WITH_MEMORY = Path("/sys/devices/system/node/has_memory")
PAGES = 2048
MAPPING = "cpus=0,0;homes=0,0;nodes=0;threads=contiguous;pages=bind"

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(
        not WITH_MEMORY.exists() or WITH_MEMORY.read_text().strip() != "0", reason="not known to have one memory node"
    ),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    subprocess.run([GCC, "-O1", "-fopenmp", "-o", folder / "mapped_file", SOURCE], check=True)
    (folder / "data").write_bytes(bytes(PAGES * 4096))
    return folder / "mapped_file"


def said(program: Path, mode: str, settings: str) -> list[str]:
    words = [program, program.with_name("data"), mode]
    return subprocess.run(
        words, env=placed(settings, 2), check=True, capture_output=True, text=True, timeout=300
    ).stdout.splitlines()


@pytest.mark.parametrize("mode", ["mapped", "again"])
@pytest.mark.parametrize("also", ["", ";map={folder}/map"], ids=["", "verified"])
def test_no_page_of_a_mapped_file_is_put_in_the_page_table(program: Path, tmp_path: Path, mode: str, also: str) -> None:
    assert said(program, mode, MAPPING + also.format(folder=tmp_path)) == ["nodes 0 0 0 0"]


def test_a_page_that_is_mapped_twice_is_counted_once(program: Path, tmp_path: Path) -> None:
    assert said(program, "twice", f"{MAPPING};map={tmp_path}/map")[-1] == f"nodes {PAGES} 0 0 0"
    ranges = tuple(one for one in parse_map((tmp_path / "map").read_text()).ranges if one.file)
    assert [sum(run.count for run in one.runs) for one in ranges] == [PAGES, PAGES]
    (counted,) = tally(pages_once(ranges), frozenset({0}))
    assert (counted.pages, counted.right) == (PAGES, PAGES)
