"""What CONTRIBUTING says stands in the code: steps, modules, options, scripts, files, the length of files."""

import importlib
import re
import subprocess

from tests.guest.cli import main as guest
from tests.guide import PACKAGE, ROOT, blocks, quoted_code
from tests.quoted_command import option_names

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


class TestContributing:
    LINES = (*(line for block in blocks(CONTRIBUTING) for line in block.lines), *quoted_code(CONTRIBUTING))

    def test_its_blocks_are_shell(self) -> None:
        for block in blocks(CONTRIBUTING):
            assert block.words == ("sh",)
            subprocess.run(["bash", "-n"], input="\n".join(block.lines), text=True, check=True)

    def test_its_steps_are_the_gates(self) -> None:
        steps = [step for line in self.LINES if line.startswith(".ci/run ") for step in line.split()[1:]]
        assert len(steps) > 2
        assert set(steps) <= set(re.findall(r"^(\w+)\(\) \{", (ROOT / ".ci/run").read_text(), re.MULTILINE))

    def test_its_modules_are_there(self) -> None:
        modules = [match[1] for line in self.LINES if (match := re.search(r"python -m ([\w.]+)", line))]
        assert len(modules) > 2
        for module in modules:
            importlib.import_module(module)

    def test_the_guests_options_exist(self) -> None:
        (line,) = [line for line in self.LINES if " -m tests.guest 4x4" in line]
        shape, *options = line.partition("tests.guest ")[2].partition(" -- ")[0].split()
        guest.make_context("guest", [shape, *options, "--", "true"])
        known = {name for parameter in guest.params for name in parameter.opts}
        known |= option_names()
        named = [re.match(r"--[\w-]+", code) for code in quoted_code(CONTRIBUTING)]
        assert {match[0] for match in named if match} <= known | {"--check"}

    def test_its_scripts_are_there(self) -> None:
        scripts = {
            word for line in self.LINES for word in line.split() if re.fullmatch(r"\.(?:ci|packaging)/[\w/.]+", word)
        }
        assert scripts >= {".ci/run"}
        assert [script for script in sorted(scripts) if not (ROOT / script).exists()] == []

    def test_no_file_is_longer_than_it_says(self) -> None:
        (most,) = map(int, re.findall(r"a file over (\d+) lines holds two", CONTRIBUTING))
        folders = (*PACKAGE, "tests", "examples", ".packaging")
        files = [
            file for folder in folders for ending in ("py", "c", "h") for file in (ROOT / folder).rglob(f"*.{ending}")
        ]
        assert len(files) > 500
        lines = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files}
        assert {name: count for name, count in lines.items() if count > most} == {}


def test_where_to_start_names_files_that_are_there() -> None:
    table = CONTRIBUTING.partition("## Where to start\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    rows = [row for row in rows if "---" not in row[0]]
    assert len(rows) >= 12
    for change, *places in rows:
        named = [path for place in places for path in re.findall(r"`([a-z_]+/[^`]*)`", place)]
        assert named, change
        assert [path for path in named if not (ROOT / path).exists()] == [], change
