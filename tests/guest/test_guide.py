"""What the documents tell to type on a server with four nodes, typed on one: blocks marked `sh guest`."""

import re
import sys
from pathlib import Path

import pytest

from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.guide import blocks, documents
from tests.workloads import example_program

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("guests")]
# Emulated, the largest one takes hours.
SMALLER = {"./heat 4096 20": "./heat 256 20", "./heat 1024 20": "./heat 400 20", "./heat 4096 100": "./heat 400 20"}


def smaller(line: str) -> str:
    for size, emulated in SMALLER.items():
        line = line.replace(size, emulated)
    return line


def test_the_blocks_for_a_server_with_four_nodes(tmp_path: Path) -> None:
    example_program(tmp_path)
    reported = [
        smaller(line)
        for document in sorted(documents(), key=lambda document: document.name != "start.md")
        for block in blocks(document.read_text())
        if block.words == ("sh", "guest")
        or (block.words == ("sh",) and block.lines[0].startswith("numapredict run ") and document.name == "start.md")
        for line in block.lines
    ]
    typed = list(dict.fromkeys(reported))
    assert (
        len(typed) == 7
    )  # the topology, region times, a profile, a run by it, the first run of start.md, a plan, a run by it
    environment = python_environment() | {"NUMAPREDICT_CACHE": str(tmp_path)}
    result = Guest(Shape.parse("4x4")).run(
        [sys.executable, "-m", "tests.guest.typed", *typed], tmp_path, environment, 600
    )
    said, errors = result.stdout.decode(), result.stderr.decode()
    assert result.exit_code == 0, said + errors
    assert "4 NUMA nodes with 4 cores each" in said
    assert said.count("heat n=400 steps=20") == 4
    assert said.count("heat n=512 steps=20") == 1
    assert errors.count("16 of 16 threads were bound to their PU") == 3
    planned = re.findall(r"pages by node: (.*)", errors)[-1]  # of data that one thread initialised
    assert min(float(share) for share in re.findall(r"([0-9.]+)%", planned)) > 5, planned
