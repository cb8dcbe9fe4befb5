"""The modulefile, read by Environment Modules: it gives the command, and takes nothing else of the user's."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODULEFILE = Path(__file__).parents[2] / ".packaging" / "modulefile"
MODULECMD = shutil.which("modulecmd") or ""

pytestmark = pytest.mark.skipif(not MODULECMD, reason="Environment Modules is missing (Debian: environment-modules)")


def loaded(folder: Path, *words: str) -> dict[str, str]:
    """Return the environment of a shell that has run the module command with these words."""
    environment = {
        "PATH": os.environ["PATH"],
        "MODULEPATH": str(folder),
        "HOME": str(folder),
        "MANPATH": "/usr/share/man",
    }
    made = subprocess.run(
        [MODULECMD, "python", *words], env=environment, capture_output=True, text=True, check=True, cwd=folder
    )
    script = f"import os\n{made.stdout}\nimport json\nprint(json.dumps(dict(os.environ)))"
    ran = subprocess.run(["python3", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def test_loading_it_puts_the_command_and_its_manual_in_front(tmp_path: Path) -> None:
    root = tmp_path / "environment"
    (tmp_path / "numapredict").write_text(
        MODULEFILE.read_text().replace("set root /opt/numapredict", f"set root {root}")
    )
    after = loaded(tmp_path, "load", "numapredict")
    assert after["PATH"] == f"{root}/command:{os.environ['PATH']}"
    assert after["MANPATH"].split(":")[0] == f"{root}/share/man"
    assert after["LOADEDMODULES"].endswith("numapredict")
