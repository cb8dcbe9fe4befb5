"""Writes the file trees of computers that are not here; tests/golden/perf/README.md describes their form."""

import re
from pathlib import Path

TREES = Path(__file__).parent / "golden" / "perf"
_RANGE = re.compile(r"\{(\d+)-(\d+)\}")


def write_tree(name: str, root: Path) -> Path:
    """Write a tree below a folder and return that."""
    for line in (TREES / f"{name}.tree").read_text().splitlines():
        if line.startswith("#"):
            continue
        path, text = line.split(" = ", 1)
        found = _RANGE.search(path)
        for number in range(int(found[1]), int(found[2]) + 1) if found else [0]:
            content = re.sub(r"\{(\d+)\+\}", lambda start, n=number: str(int(start[1]) + n), text)
            write(root, _RANGE.sub(str(number), path), content.replace("\\n", "\n").replace("\\t", "\t") + "\n")
    return root


def write(root: Path, path: str, text: str) -> None:
    """Write one file with the folders above it."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
