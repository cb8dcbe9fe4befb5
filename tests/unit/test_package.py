"""The package itself: its version, and the links by which a checkout stands for an installation."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import numapredict

ROOT = Path(__file__).parents[2]
LINKS = ROOT / ".import" / "numapredict"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def printed(*words: str) -> str:
    """Return what Python prints that sees the checkout alone, no installed package."""
    environment = {**os.environ, "PYTHONPATH": str(LINKS.parent)}
    done = subprocess.run([sys.executable, "-S", *words], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_the_version_is_that_of_what_is_installed() -> None:
    assert numapredict.__version__ == importlib.metadata.version("numapredict") == PROJECT["project"]["version"]


@pytest.mark.parametrize("file", ["CITATION.cff", ".packaging/conda/recipe.yaml", ".packaging/spack/package.py"])
def test_other_files_that_tell_the_version_tell_the_same(file: str) -> None:
    told = re.findall(r"(?:(?<!cff-)\bversion[:(] ?\"?|numapredict-)(\d+(?:\.\d+)+)", (ROOT / file).read_text())
    assert set(told) == {PROJECT["project"]["version"]}


def test_without_an_installation_there_is_none() -> None:
    assert printed("-c", "import numapredict; print(numapredict.__version__)") == "not installed"


def test_it_is_looked_up_when_it_is_asked_for() -> None:
    """`numapredict --help` imports the package and asks for no version."""
    assert printed("-c", "import sys, numapredict; print('importlib.metadata' in sys.modules)") == "False"


def test_there_is_nothing_else_in_the_package() -> None:
    with pytest.raises(AttributeError, match="module 'numapredict' has no attribute 'version'"):
        _ = numapredict.version  # type: ignore[attr-defined]


def test_a_checkout_has_the_folders_of_a_wheel() -> None:
    folders = PROJECT["tool"]["scikit-build"]["wheel"]["packages"]
    found = {f"numapredict/{path.name}": path.resolve() for path in LINKS.iterdir() if path.is_symlink()}
    assert found == {name: (ROOT / folder).resolve() for name, folder in folders.items()}
    others = {path.name for path in LINKS.iterdir() if not path.is_symlink()}
    assert others <= {"__init__.py", "py.typed", "__pycache__"}
