"""The C files include each other without a cycle, and a header declares what its own source defines."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from posixpath import normpath

import pytest

NATIVE = Path(__file__).parents[2] / "native"
OF_QEMU = "tracer/qemu_plugin"  # declares what the emulator defines
INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LINE_START = r"^(?!static\b|typedef\b|extern\b|return\b|EXPORT\b|#)[A-Za-z_]"
DECLARED = re.compile(LINE_START + r"[\w\s*()\"]*?(\w+)\([^{};]*\)\s*;", re.MULTILINE)
EXTERN = re.compile(r"^extern [\w\s*()]*?\b(\w+)(?:\[\w+\])?(?:\s*__attribute__\(\(.*?\)\))?;", re.MULTILINE)
DEFINED = re.compile(LINE_START + r"[\w\s*]*?\b(\w+)\([^{};]*\)\s*\{", re.MULTILINE)
VARIABLE = re.compile(r"^(?!static\b|typedef\b|extern\b|#)[a-zA-Z_][\w *()]*?\b(\w+)(?:\[[^]]*\])?(?:;| = )", re.M)


class Units:
    """The pairs of header and source below a folder, named by path without ending."""

    def __init__(self, root: Path) -> None:
        self.text: dict[str, dict[str, str]] = defaultdict(dict)
        for path in sorted(root.rglob("*.[ch]")):
            unit = path.relative_to(root).with_suffix("").as_posix()
            self.text[unit][path.suffix] = COMMENT.sub("", path.read_text())

    def declared(self, unit: str) -> set[str]:
        """Return the functions and variables that the header promises."""
        header = self.text[unit].get(".h", "")
        return set(DECLARED.findall(header)) | set(EXTERN.findall(header))

    def defined(self, unit: str) -> set[str]:
        source = self.text[unit].get(".c", "")
        return {*DEFINED.findall(source), *VARIABLE.findall(source)}

    def strangers(self) -> Iterator[tuple[str, str]]:
        """Yield each header with a name that it declares and its own source does not define."""
        for unit in self.text:
            yield from ((unit, name) for name in sorted(self.declared(unit) - self.defined(unit)))

    def included(self, unit: str, name: str) -> str:
        """Return the unit that a file means: below its own folder, or below one around it (an include folder)."""
        folders = [folder.as_posix() for folder in PurePosixPath(unit).parents]
        candidates = (normpath(f"{folder}/{name}") for folder in folders)
        return next((path for path in candidates if path in self.text), unit)

    def uses(self) -> dict[str, set[str]]:
        """Return for each unit the others that it includes, or that define what its header declares."""
        uses: dict[str, set[str]] = {unit: set() for unit in self.text}
        for unit, files in self.text.items():
            for text in files.values():
                uses[unit].update({self.included(unit, name) for name in INCLUDE.findall(text)} - {unit})
        for unit, name in self.strangers():
            uses[unit].update(other for other in self.text if name in self.defined(other))
        return uses


def cycle(uses: Mapping[str, set[str]]) -> list[str]:
    """Return the names along a cycle, empty where there is none."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def units() -> Units:
    return Units(NATIVE)


def test_no_unit_includes_itself_by_way_of_others(units: Units) -> None:
    assert len(units.text) >= 135
    assert "regions/regions" in units.uses()["placement/load"]
    assert "placement/process/system" in units.uses()["placement/load"]
    assert cycle(units.uses()) == []


def test_no_folder_depends_on_itself_by_way_of_others(units: Units) -> None:
    uses: dict[str, set[str]] = defaultdict(set)
    for unit, others in units.uses().items():
        folder = unit.rpartition("/")[0]
        uses[folder].update(other.rpartition("/")[0] for other in others)
        uses[folder].discard(folder)
    inside = {"adapt", "blocks", "hints", "memory", "policy", "process", "profile", "protection", "stack", "threads"}
    programs = {
        "applications",
        "capture",
        "codelets",
        "include",
        "launcher",
        "placement",
        "probe",
        "regions",
        "replay",
        "stream",
        "tracer",
    }
    assert set(uses) == programs | {f"placement/{folder}" for folder in inside}
    assert cycle(uses) == []


def test_a_header_declares_what_its_own_source_defines(units: Units) -> None:
    assert len(units.declared("placement/protection/protection")) >= 10
    assert "protection_lock" in units.declared("placement/protection/blocks")
    assert {unit for unit, _ in units.strangers()} == {OF_QEMU}


def test_a_cycle_and_a_foreign_declaration_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int here(void);\nextern int count[FEW];\nvoid *elsewhere(int of,\n    int many);\n")
    (tmp_path / "a.c").write_text('#include "a.h"\nint count[FEW];\nint here(void) { return 1; }\n')
    (tmp_path / "b.c").write_text('#include "a.h"\nvoid *elsewhere(int of,\n    int many) {\n    return 0;\n}\n')
    found = Units(tmp_path)
    assert list(found.strangers()) == [("a", "elsewhere")]
    assert sorted(set(cycle(found.uses()))) == ["a", "b"]
