"""What the tutorial tells to type on a server with four nodes, typed on one: blocks marked `sh guest`."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.guide import GUIDE, ROOT, blocks

pytestmark = [pytest.mark.slow, pytest.mark.native, pytest.mark.usefixtures("guests")]
PLAIN = "import sys; from numapredict.predictor.main import main; sys.exit(main())"


def test_the_tutorials_blocks_for_a_server_with_four_nodes(tmp_path: Path) -> None:
    source = ROOT / "examples" / "heat.c"
    subprocess.run(["gcc", "-O2", "-fopenmp", str(source), "-o", str(tmp_path / "heat"), "-lm"], check=True)
    typed = [
        "\n".join(block.lines)
        for block in blocks((GUIDE / "tutorial.md").read_text())
        if block.words == ("sh", "guest") or (block.words == ("sh",) and block.lines[0].startswith("numapredict run "))
    ]
    assert len(typed) == 4  # the topology, region times, the profile, and a run by it
    command = f'numapredict() {{ {shlex.quote(sys.executable)} -c {shlex.quote(PLAIN)} "$@"; }}'
    (tmp_path / "typed.sh").write_text("\n".join(["set -euo pipefail", 'cd "$GUEST_FOLDER"', command, *typed]) + "\n")
    environment = python_environment() | {"NUMAPREDICT_CACHE": str(tmp_path)}
    result = Guest(Shape.parse("4x4")).run(["bash", str(tmp_path / "typed.sh")], tmp_path, environment, 600)
    said, errors = result.stdout.decode(), result.stderr.decode()
    assert result.exit_code == 0, said + errors
    assert "4 NUMA nodes with 4 cores each" in said
    assert said.count("heat n=1024 steps=20") == 2
    assert "16 of 16 threads were bound to their PU" in errors
