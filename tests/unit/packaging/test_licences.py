import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / ".packaging/licences.py"


@pytest.fixture(scope="module")
def licences() -> Iterator[ModuleType]:
    """Load a module that lies in a hidden folder, and so has no name to import it by."""
    spec = importlib.util.spec_from_file_location("licences", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["licences"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["licences"]


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0", True),
        ("GPL-2.0-only OR MIT", True),
        ("MIT License; BSD License", True),
        ("GPL-2.0-only", False),
        ("MIT AND GPL-3.0-or-later", False),
        ("MIT License; GNU General Public License v3 (GPLv3)", False),
        ("LGPL-2.1", False),
        ("UNKNOWN", False),
        ("", False),
        ("MIT AND (GPL-3.0 OR BSD-3-Clause)", False),
    ],
)
def test_a_licence_is_allowed_where_each_part_is(licences: ModuleType, licence: str, allowed: bool) -> None:
    assert licences.is_allowed(licence) is allowed


def run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), str(file), *words], capture_output=True, text=True, check=False)


def test_what_came_and_what_went_and_what_is_not_allowed_is_said(licences: ModuleType, tmp_path: Path) -> None:
    names = licences.listed(licences.LIST.read_text())
    found = [{"Name": name, "License": "MIT", "URL": ""} for name in sorted(names - {"numpy"})]
    found.append({"Name": "newcomer", "License": "AGPL-3.0", "URL": ""})
    found.append({"Name": "pip", "License": "whatever", "URL": ""})
    (tmp_path / "found.json").write_bytes(msgspec.json.encode(found))
    done = run(tmp_path / "found.json")
    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["newcomer", "newcomer", "numpy"]


def test_every_dependency_that_is_stated_is_listed_with_an_allowed_licence(licences: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    stated = (*project["dependencies"], *extras["learn"], *extras["figures"])
    shipped = licences.LIST.read_text().partition(licences.FOOT)[0]
    rows = [line.split("|") for line in shipped.splitlines() if line.startswith("|")][2:]
    # Names of packages are the same in any case (PEP 503).
    assert {Requirement(text).name.lower() for text in stated} <= {row[1].strip().lower() for row in rows}
    assert [row[1] for row in rows if not licences.is_allowed(row[2].strip())] == []


def test_the_list_is_what_writing_it_makes(licences: ModuleType, tmp_path: Path) -> None:
    """The list is not written by hand: its head and its form are the script's."""
    text = licences.LIST.read_text()
    shipped = text.partition(licences.FOOT)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in shipped.splitlines() if line.startswith("|")][
        2:
    ]
    assert licences.table([licences.Dependency(*row) for row in rows]) == text
