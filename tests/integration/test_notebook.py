"""The repository's notebook runs from its first cell to its last, and shows what it says."""

import shutil
from pathlib import Path

import pytest

from tests.guide import ROOT
from tests.html_document import Document

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOK = ROOT / "examples" / "mapping.ipynb"


def test_it_is_kept_without_what_it_printed() -> None:
    code = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert code
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the libraries that start a kernel
def test_it_runs_and_shows_answer_and_dataset(tmp_path: Path) -> None:
    for name in ("heat.c", NOTEBOOK.name):
        shutil.copy(NOTEBOOK.parent / name, tmp_path)
    notebook = nbformat.read(tmp_path / NOTEBOOK.name, 4)
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert {output.output_type for output in shown} == {"execute_result"}  # nothing is printed
    answer, _values, dataset, *_, gains = [output["data"] for output in shown]
    table = Document(answer["text/html"])
    assert table.texts["caption"] == ["./heat on sandybridge-4x8 (modelled)"]
    assert table.texts["code"] == ["numapredict run --mapping 32x4-scatter-locality -- ./heat"]
    assert Document(dataset["text/html"]).texts["td"][0] == "128"
    chosen, best = map(float, gains["text/plain"].strip("()").split(","))
    assert 1 < chosen < best
