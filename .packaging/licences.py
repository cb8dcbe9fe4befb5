"""Hold the licences of what numapredict depends on against those that are allowed, and against the list beside this.

.packaging/licences.py FOUND.json            check what `pip-licenses --format json --no-version --with-urls` found
.packaging/licences.py FOUND.json --write    and write it to LICENCES.md
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

LIST = Path(__file__).parent / "LICENCES.md"
# By SPDX's names, and those that packages use instead. They ask to keep their texts, and nothing of our users' code.
ALLOWED = {
    "0BSD",
    "Apache Software License",
    "Apache-2.0",
    "BSD License",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "MIT",
    "MIT License",
    "MIT-CMU",
    "PSF-2.0",
    "Public Domain",
    "Python Software Foundation License",
    "Zlib",
}
OURS = {"numapredict", "pip", "setuptools"}  # itself, and what every environment has
PARTS = Path(__file__).parent / "system_parts.json"
HEAD = """# What numapredict depends on

`.packaging/licences.py` makes this list. `.ci/run shipped` fails if a direct or indirect dependency is missing from it
or has a licence that is not allowed. The wheel contains none of these packages: it holds our own code and data, and one
program that libnuma is linked into (last table). Its programs use the installed C library and libgomp.
`.packaging/sbom.py` writes the versions in an environment as a bill of materials (CycloneDX); `.ci/run shipped` puts it
next to the wheel.

| package | licence | page |
| --- | --- | --- |
"""

FOOT = """
## Programs and libraries it uses but does not ship

| part | Debian's package | licence | use | page |
| --- | --- | --- | --- | --- |
"""

SHIPPED = """
## Libraries inside the wheel

Their licences are in the wheel. To link a program with another version, build from source.

| part | Debian's package | licence | use | page |
| --- | --- | --- | --- | --- |
"""


class Dependency(msgspec.Struct, frozen=True, rename={"name": "Name", "licence": "License", "page": "URL"}):
    """A package that is installed with numapredict, and what it says of itself."""

    name: str
    licence: str
    page: str


def is_allowed(licence: str) -> bool:
    """Return whether one side of a choice asks for allowed licences only; parentheses are left to a person to read."""
    return any(
        all(name.strip() in ALLOWED for part in side.split(" AND ") for name in part.split(";"))
        for side in licence.split(" OR ")
    )


def listed(text: str) -> set[str]:
    """Return the names of the packages in the list's first table."""
    text = text.partition(FOOT)[0]
    return {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")} - {"package", "---"}


def complaints(found: Sequence[Dependency], names: set[str]) -> list[str]:
    """Return a line on each licence that is not allowed and each difference from the listed names."""
    there = {dependency.name for dependency in found}
    return [
        *(
            f"{one.name}: licence {one.licence!r} is not among the allowed"
            for one in found
            if not is_allowed(one.licence)
        ),
        *(f"{name}: not in {LIST.name}; read its licence, then --write" for name in sorted(there - names)),
        *(f"{name}: in {LIST.name} but no dependency any more; --write" for name in sorted(names - there)),
    ]


def table(found: Sequence[Dependency]) -> str:
    """Return the list as Markdown."""
    parts = msgspec.json.decode(PARTS.read_bytes(), type=list[list[str]])
    called, shipped = ("".join(f"| {' | '.join(part[:5])} |\n" for part in parts if len(part) == n) for n in (5, 6))
    return (
        HEAD
        + "".join(f"| {one.name} | {one.licence} | {one.page} |\n" for one in found)
        + FOOT
        + called
        + SHIPPED
        + shipped
    )


def main(words: Sequence[str]) -> int:
    """Check, and write where asked to; return 1 where something is wrong."""
    file, *options = words
    found = msgspec.json.decode(Path(file).read_bytes(), type=tuple[Dependency, ...])
    found = tuple(sorted((one for one in found if one.name not in OURS), key=lambda one: one.name.lower()))
    if options == ["--write"]:
        LIST.write_text(table(found), encoding="utf-8")
    wrong = complaints(found, listed(LIST.read_text(encoding="utf-8")))
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
