"""The Python interface as a whole: what it names, what importing it loads, its examples, its reference."""

import ast
import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import numapredict
from tests.guide import ROOT
from tests.openmp import GCC

MODULES = sorted(
    file.stem for file in (ROOT / "predictor" / "api").glob("*.py") if file.stem not in {"__init__", "placed_process"}
)
WITH_EXAMPLES = {"asking", "dataset", "gain_regressor", "model", "placed_run"}


def printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_loads_nothing() -> None:
    """Nor does listing the names; each loads what it needs."""
    loaded = "sorted(set(sys.modules) & {'numpy', 'pandas', 'sklearn', 'typing', 'importlib.metadata'} - before)"
    code = f"import sys; before = set(sys.modules); import numapredict; dir(numapredict); print({loaded})"
    assert printed(code) == "[]"
    assert "sklearn" not in printed(
        "import numapredict, sys; numapredict.Mapping, numapredict.parse_label; print(*sys.modules)"
    )


def test_every_name_is_there_and_type_checkers_know_it() -> None:
    tree = ast.parse((ROOT / ".import/numapredict/__init__.py").read_text())
    typed = {
        (node.module, name.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    }
    for name in numapredict.__all__:
        found = getattr(numapredict, name)
        assert (found.__module__, name) in typed
        assert name in dir(numapredict)
    assert sorted(numapredict.__all__) == sorted(
        name for module, name in typed if str(module).startswith("numapredict")
    )
    assert (ROOT / ".import/numapredict/py.typed").exists()


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "asking":
        subprocess.run(
            [GCC or "gcc", "-O2", "-fopenmp", ROOT / "examples/heat.c", "-o", tmp_path / "heat", "-lm"], check=True
        )
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(f"numapredict.predictor.api.{name}"))
    assert found.failed == 0
    assert (found.attempted > 0) == (name in WITH_EXAMPLES)


def test_the_reference_describes_every_name(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "numapredict.predictor.api.reference", str(tmp_path / "reference")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "reference" / "numapredict.html").read_text()
    for name in numapredict.__all__:
        assert f'<section id="{name}">' in page
    assert page.count('<section id="') == len(numapredict.__all__)
    assert "the mapping that should be best" in page


def test_without_pdoc_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pdoc.py").write_text("raise ImportError('no pdoc')\n")
    done = subprocess.run(
        [sys.executable, "-m", "numapredict.predictor.api.reference", tmp_path / "reference"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1, "numapredict: pdoc writes the reference: install numapredict[dev]\n",
    )  # fmt: skip
