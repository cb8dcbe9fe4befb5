"""Runs the checks of private_cache.c with the address and undefined-behaviour sanitizers."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.modelled import shared_caches

HERE = Path(__file__).parent
TRACER = Path(__file__).parents[4] / "native" / "tracer"
GCC = shutil.which("gcc") or ""
NAMES = (
    "capacity",
    "write_back",
    "least_recently_used",
    "sampling",
    "sharing",
    "private_lines",
    "shared_readers",
    "stale_is_clean",
    "many_writers",
    "streaming",
    "dependent",
    "null_pointers",
    "hashing",
)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not GCC:
        pytest.skip("gcc is not installed")
    program = tmp_path_factory.mktemp("private_cache") / "checks"
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [GCC, "-std=gnu11", "-O1", "-g", *warnings, *sanitizers, f"-I{TRACER}", "-o", program]
    subprocess.run([*command, HERE / "private_cache.c"], check=True)
    return program


def test_every_check_is_run(checks: Path) -> None:
    listed = subprocess.run([checks], capture_output=True, text=True, check=True).stdout.split()
    assert tuple(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_check(checks: Path, name: str) -> None:
    finished = subprocess.run([checks, name], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_the_tracer_and_the_model_hash_lines_alike() -> None:
    hashed = shared_caches._hash(np.array([1], np.uint64), 0)
    assert hashed.tolist() == [0xB456BCFC34C2CB2C]
