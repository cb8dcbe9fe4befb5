"""Without the libraries of the extras: advice, runs, regions and variables go on, and what needs one names it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from numapredict.predictor.command_line.extras import EXTRAS
from tests.openmp import CAN_TRACE, GCC

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.native, pytest.mark.usefixtures("own_folders")]
WITHOUT = f"""import sys
sys.modules.update(dict.fromkeys({sorted(EXTRAS)}))
from numapredict.predictor.command_line.main import main
sys.exit(main(sys.argv[1:]))"""


def asked(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_every_library_of_an_extra_is_known() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {each.partition(">=")[0] for name in ("learn", "figures") for each in extras[name]}
    assert {name.replace("scikit-learn", "sklearn") for name in named} == set(EXTRAS)
    assert set(EXTRAS.values()) <= set(extras)


@pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")
def test_the_main_job_needs_none(tmp_path: Path) -> None:
    source = ROOT / "examples" / "heat.c"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", source, "-o", tmp_path / "heat", "-lm"], check=True)
    for words in (
        ("topology", "--machine", "sandybridge-4x8"),
        ("doctor",),
        ("--machine", "broadwell-2x10", "./heat", "128", "4"),
        ("./heat", "128", "4"),
        ("run", "--mapping", "1x1-contiguous-bind", "./heat", "128", "4"),
        ("regions", "./heat", "256", "40"),
    ):
        done = asked(*words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize(
    ("words", "library"),
    [
        (("evaluate", "broadwell-2x10"), "learn"),
        (("train", "--dataset", "broadwell-2x10", "-o", "m.json"), "learn"),
        (("report", "clustermap", "broadwell-2x10", "-o", "a.png"), "figures"),
    ],
)
def test_what_needs_one_says_which(words: tuple[str, ...], library: str, tmp_path: Path) -> None:
    done = asked(*words, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "which is not installed: pip install 'numapredict[" in line
    assert library in line or "all" in line
    assert not list(tmp_path.iterdir())
