"""Complete the bill of materials of an installed environment by the programs that numapredict calls, and check it.

.packaging/sbom.py ENVIRONMENT.json SBOM.json

ENVIRONMENT.json is what `cyclonedx-py environment` found (CycloneDX, JSON). Every component must name its version and a
licence; those of the system, which are not shipped and may be absent, get the version of Debian's package here.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion

PARTS = Path(__file__).parent / "system_parts.json"


class Part(NamedTuple):
    """What numapredict calls or links against: Debian's package, SPDX's licence, and whether it is in the wheel."""

    name: str
    package: str
    licence: str
    use: str
    page: str
    where: str = "not shipped"


def system_parts() -> tuple[Part, ...]:
    """Return the parts that the list beside this names."""
    return msgspec.json.decode(PARTS.read_bytes(), type=tuple[Part, ...])


def installed_version(package: str) -> str:
    """Return the version of a Debian package that is installed, empty where it is not or this is no Debian."""
    if not package:
        return ""
    try:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", package],  # noqa: S607 - the system's
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def complete(bom: Bom) -> None:
    """Add the system's parts, which numapredict depends on where they are there."""
    factory = LicenseFactory()
    parts = [
        Component(
            name=part.name,
            version=installed_version(part.package) or None,
            type=ComponentType.LIBRARY if part.name.startswith("lib") else ComponentType.APPLICATION,
            licenses=[factory.make_from_string(part.licence)],
            scope=ComponentScope.EXCLUDED if part.where == "not shipped" else ComponentScope.REQUIRED,
            description=f"{part.where}; {part.use}",
            bom_ref=f"system:{part.name}",
        )
        for part in system_parts()
    ]
    for part in parts:
        bom.components.add(part)
    if bom.metadata.component is not None:
        bom.register_dependency(bom.metadata.component, parts)


def complaints(bom: Bom) -> list[str]:
    """Return a line on each component that is not fully named."""
    return [
        f"{component.name}: no {what}"
        for component in sorted(bom.components, key=lambda one: one.name)
        for what, there in (("version", component.version), ("licence", component.licenses))
        if not there and not (what == "version" and component.scope is ComponentScope.EXCLUDED)
    ]


def main(words: Sequence[str]) -> int:
    """Complete, check and write; return 1 where something is not named."""
    environment, output = map(Path, words)
    bom = Bom.from_json(msgspec.json.decode(environment.read_bytes()))
    complete(bom)
    make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_to_file(
        str(output), allow_overwrite=True, indent=2
    )
    wrong = complaints(bom)
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
