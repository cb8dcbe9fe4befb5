"""What decisions compute without libm is what libm says."""

import subprocess
from pathlib import Path

import pytest

from tests.adapting import ROOT
from tests.preloaded import GCC

pytestmark = pytest.mark.skipif(not GCC, reason="gcc is not installed")


def test_errors_are_those_of_rounding_and_nothing_is_infinite(tmp_path: Path) -> None:
    source, placement = ROOT / "tests" / "native" / "arithmetic.c", ROOT / "native" / "placement"
    command = [GCC, "-O2", "-Wall", "-Wextra", "-Werror", f"-I{placement}", source, "-o", tmp_path / "app", "-lm"]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "app"], check=True, capture_output=True, text=True)
    errors, ends = (list(map(float, line.split())) for line in done.stdout.splitlines())
    assert max(errors[:3]) < 1e-13
    assert errors[3] == 0
    assert ends == [0, 0, 2.0**1023, -1022, 3]
