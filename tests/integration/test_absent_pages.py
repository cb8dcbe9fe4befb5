"""Replays of regions that are the first to touch pages: these are absent again, unless the region needs them kept."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.command import numapredict
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and CLANG), reason="no gcc or clang"),
]
SOURCE = Path(__file__).parent / "capturing" / "temporaries.c"


@pytest.fixture(scope="module", params=[GCC, CLANG])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("absent") / "temporaries"
    options = ("-g", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror")
    subprocess.run([request.param, *options, "-o", path, SOURCE], check=True)
    return path


@pytest.mark.parametrize(
    ("shape", "asleep"),
    [("temporaries", True), ("lists", False), ("marks", True), ("endless", False), ("pools", False)],
)
def test_pages_are_absent_in_each_replay_unless_the_region_needs_them(
    shape: str, asleep: bool, program: Path, tmp_path: Path
) -> None:
    for _ in range(4):  # a busy computer may put a replay to sleep, too
        done = numapredict("regions", "--seconds", "10", "-o", "answer.json", str(program), shape, cwd=tmp_path)
        assert done.returncode == 0
        (region,) = json.loads((tmp_path / "answer.json").read_text())["regions"]
        base = region["gains"][0] if region["gains"] else {"problem": "not replayed", "warm_s": 0}
        if is_as_in_its_run(region) and (base["warm_s"] > 0.03) == asleep:
            break
    assert not base["problem"]
    assert len(region["gains"]) > 1  # one that does not end leaves time for others: alone it would have 20 s
    assert (base["warm_s"] > 0.03) == asleep  # 60 ms; where a page is absent, but for marks
    assert is_as_in_its_run(region)


def is_as_in_its_run(region: dict[str, Any]) -> bool:
    return bool(region["gains"]) and abs(region["replay_ratio"] - 1) <= 0.5
