"""The bill of materials: versions and licences of all that is installed, and what of the system is called."""

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

pytest.importorskip("cyclonedx_py")
ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / ".packaging/sbom.py"


pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What the library finds where the tests run."""
    file = tmp_path_factory.mktemp("sbom") / "environment.json"
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--mc-type", "application", "--output-reproducible", "--no-validate", "-o", str(file), sys.executable]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return json.loads(file.read_text())


def completed(environment: dict, folder: Path) -> tuple[subprocess.CompletedProcess[str], dict]:
    (folder / "environment.json").write_text(json.dumps(environment))
    command = [sys.executable, str(SCRIPT), str(folder / "environment.json"), str(folder / "sbom.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done, json.loads((folder / "sbom.json").read_text())


def small(environment: dict) -> dict:
    """Leave two components, so that what is tested is the script and not who else lives here."""
    kept = [one for one in environment["components"] if one["name"] in {"numpy", "click"}]
    assert len(kept) == 2
    return environment | {"components": kept, "dependencies": []}


def test_it_names_versions_and_licences_and_the_systems_parts(found: dict, tmp_path: Path) -> None:
    done, made = completed(small(found), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (made["bomFormat"], made["metadata"]["component"]["name"]) == ("CycloneDX", "numapredict")
    components = {one["name"]: one for one in made["components"]}
    assert components["numpy"]["version"] == numpy.__version__
    assert all(one.get("licenses") for one in components.values())
    called = {name for name, one in components.items() if one.get("scope") == "excluded"}
    assert called == {"libc", "libgomp", "hwloc", "numactl", "QEMU", "LIKWID", "CERE", "util-linux", "binutils", "perf"}
    assert components["libnuma"]["scope"] == "required"
    assert components["libnuma"]["licenses"] == [{"license": {"id": "LGPL-2.1-only"}}]
    (root,) = [one for one in made["dependencies"] if one["ref"] == made["metadata"]["component"]["bom-ref"]]
    assert {f"system:{name}" for name in called} <= set(root["dependsOn"])


@pytest.mark.parametrize(("field", "what"), [("version", "version"), ("licenses", "licence")])
def test_what_does_not_say_it_is_named(found: dict, tmp_path: Path, field: str, what: str) -> None:
    environment = small(json.loads(json.dumps(found)))
    for one in environment["components"]:
        if one["name"] == "click":
            del one[field]
    done, _ = completed(environment, tmp_path)
    assert (done.returncode, done.stderr) == (1, f"click: no {what}\n")
