"""`import numapredict`: what its docstrings and notebook show is so, and its answers are the command's."""

import ast
import doctest
import importlib
import json
import pkgutil
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbclient
import nbformat
import pytest

import numapredict
import numapredict.predictor.api
from tests.command import numapredict as command
from tests.openmp import CAN_TRACE, GCC

ROOT = Path(__file__).parents[2]
API = "numapredict.predictor.api"
MODULES = [f"{API}.{each.name}" for each in pkgutil.iter_modules(numapredict.predictor.api.__path__)]
pytestmark = [pytest.mark.native, pytest.mark.usefixtures("own_folders")]
traced = pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")


@pytest.mark.thorough
@traced
@pytest.mark.parametrize("name", MODULES)
def test_what_docstrings_show_is_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: ModuleType = importlib.import_module(name)
    if name.endswith(".asking"):
        build_heat(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.failed == 0
    assert (found.attempted > 0) == (name.rpartition(".")[2] not in {"found", "notebook", "own_process"})


def build_heat(folder: Path) -> None:
    source = ROOT / "examples" / "heat.c"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", source, "-o", folder / "heat", "-lm"], check=True)


def test_every_name_is_there_documented_and_known_to_type_checkers() -> None:
    tree = ast.parse((ROOT / ".import" / "numapredict" / "__init__.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {(str(node.module), name.name) for node in imports for name in node.names}
    for name in numapredict.__all__:
        found = getattr(numapredict, name)
        assert found.__doc__, name
        assert (found.__module__, name) in typed
        assert name in dir(numapredict)
    named = {name for module, name in typed if module.startswith("numapredict.") and name != "version"}
    assert named == set(numapredict.__all__)
    assert (ROOT / ".import" / "numapredict" / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'predicts'"):
        numapredict.predicts  # type: ignore[attr-defined] # noqa: B018


def test_importing_it_loads_nothing_that_takes_time() -> None:
    heavy = "{'numpy', 'pandas', 'sklearn', 'scipy', 'msgspec', 'click'} & set(sys.modules)"
    code = f"import sys, numapredict; assert not {heavy}, {heavy}; numapredict.Mapping; print(sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['msgspec']\n"


def test_the_reference_describes_every_name(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "pdoc", "-o", str(tmp_path), "!numapredict[.].*", "numapredict"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "numapredict.html").read_text()
    assert [name for name in numapredict.__all__ if f'<section id="{name}">' not in page] == []
    for name in ("predict", "run", "Dataset", "GainRegressor"):
        first = getattr(numapredict, name).__doc__.splitlines()[0]
        assert first.partition("`")[0].partition("'")[0].strip() in page, name
    assert not list(tmp_path.glob("numapredict/*"))


@traced
def test_its_answers_are_the_commands(foreign: Path) -> None:
    words = [foreign, "exit", "26"]
    for machine_words, answer in (
        (["predict"], numapredict.predict(words, machine="broadwell-2x10")),
        (["predict", "--runs", "3"], numapredict.predict(words, machine="broadwell-2x10", runs=3)),
    ):
        done = command(*machine_words, "--json", "--machine", "broadwell-2x10", *map(str, words))
        assert done.returncode == 0, done.stderr
        assert answer.to_dict() == json.loads(done.stdout)
        again = numapredict.Answer.from_json(done.stdout)
        assert again.to_dict() == answer.to_dict()
        assert (again.mapping, again.speedup, again.interval) == (answer.mapping, answer.speedup, answer.interval)
        assert str(again.mapping) in again._repr_html_()
        assert f"{again.speedup:.2f}x" in str(again)
        assert "exit code 26" in " ".join(again.explain().split())


def test_a_program_runs_as_it_does_without_us(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", "kept")
    script = 'echo "$MARK ${PYTHONPATH-none}"; echo away >&2; exit 26'
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = numapredict.run(["sh", "-c", script], "close:1", capture=True)
    assert (done.exit_code, done.stdout) == (26, b"kept none\n")
    assert done.stderr == b"away\n"
    assert done.mapping == "1x1-contiguous-first-touch"
    killed = numapredict.run(["sh", "-c", "kill -KILL $$"], "close:1", capture=True)
    assert (killed.exit_code, killed.record["signal"]) == (128 + signal.SIGKILL, "SIGKILL")
    mapping = numapredict.parse_label("1x1-contiguous-first-touch")
    placed = numapredict.run([foreign, "exit", "0"], mapping, capture=True)
    assert placed.record["placement"]["threads"]["looked_at"] == 1
    assert placed.time_s > 0


@pytest.mark.skipif(not GCC, reason="no gcc")
def test_regions_and_variables_are_asked_in_a_process_or_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_heat(tmp_path)
    monkeypatch.chdir(tmp_path)
    regions = numapredict.regions(["./heat", "512", "400"])
    names, counts = (list(regions.frame()[column]) for column in ("name", "count"))
    assert counts[0] == 400
    assert set(regions.gains().get("region", [])) <= set(names)
    assert names[0] in regions._repr_html_()
    assert "in regions" in str(regions)
    variables = numapredict.variables(["./heat", "1024", "400"])
    assert {"heat", "next"} <= set(variables.frame()["name"])
    assert "heat" in str(variables)
    assert variables.to_dict()["threads"] >= 1
    with pytest.raises(numapredict.NumapredictError, match="no such file"):
        numapredict.regions("./nothing")
    with pytest.raises(numapredict.NumapredictError, match="seconds=0 is no time for replays"):
        numapredict.regions("./heat", seconds=0)


def test_without_advice_there_is_nothing_to_apply(foreign: Path) -> None:
    with pytest.raises(numapredict.NumapredictError, match="no mapping was advised for"):
        numapredict.run([foreign])
    with pytest.raises(numapredict.NumapredictError, match="no such file"):
        numapredict.run("./none", "close")
    with pytest.raises(numapredict.NumapredictError, match="needs 9999 cores"):
        numapredict.run([foreign], "close:9999")


@pytest.mark.thorough
@traced
def test_a_notebook_shows_answers_as_tables(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "answers.ipynb", tmp_path)
    build_heat(tmp_path)
    notebook = nbformat.read(tmp_path / "answers.ipynb", as_version=4)
    assert [cell.outputs for cell in notebook.cells if cell.cell_type == "code" and cell.outputs] == []
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, timeout=240).execute()
    shown = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output["output_type"] == "execute_result"
    ]
    assert sum("<caption>" in html for html in shown) == 3
    assert "./heat on sandybridge-4x8 (modelled)" in shown[0]
    assert "numapredict run --mapping 32x4-contiguous-locality -- ./heat" in shown[0]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"execute_result"}  # nothing is printed
    chosen, best = map(float, outputs[3]["data"]["text/plain"].strip("()").split(","))
    assert 1.1 < chosen < best, (chosen, best)
