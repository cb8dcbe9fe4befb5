"""Make the recorded outputs anew: `python -m tests.golden.likwid.make` in the checkout, with the package likwid.

Runs LIKWID's own likwid-perfctr with liblikwid.lua in place of its C library; README.md says what that shows.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

from tests.golden.likwid.scenarios import DEFINITIONS, PROCESSORS, SCENARIOS, Scenario

FOLDER = Path(__file__).parent


def lua(value: object) -> str:
    """Return a value as Lua writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{lua(key)}]={lua(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "{" + ", ".join(map(lua, value)) + "}"
    return json.dumps(value)


def table(scenario: Scenario, **further: object) -> str:
    """Return the file that liblikwid.lua reads.

    ``further`` fields: ``refuse`` is what LIKWID says instead of counting, ``warn`` before it, ``mode`` is -1 where it
    was built for perf.
    """
    name, type_ = PROCESSORS[scenario.arch]
    fields: dict[str, object] = {
        "arch": scenario.arch,
        "name": name,
        "type": type_,
        "clock_Hz": 2_400_000_000,
        "time_s": 1.25,
        "groups": ["BRANCH", scenario.group],
        "nodes": scenario.packages * scenario.nodes,
        "packages": scenario.packages,
        "counts": scenario.counts(),
        **further,
    }
    if (scenario.arch, scenario.group) in DEFINITIONS:
        events, metrics = DEFINITIONS[scenario.arch, scenario.group]
        fields["definition"] = {
            "events": [{"counter": counter, "event": event} for counter, event in events],
            "metrics": [{"name": metric, "formula": formula} for metric, formula in metrics],
        }
    return f"return {lua(fields)}\n"


def tool(folder: Path, scenario: Scenario, **further: object) -> Path:
    """Write a program that is likwid-perfctr on the scenario's computer, and return its path."""
    file = folder / "scenario.lua"
    file.write_text(table(scenario, **further), encoding="utf-8")
    program = folder / "likwid-perfctr"
    program.write_text(
        "#!/bin/sh\n"
        f"LUA_PATH={shlex.quote(str(FOLDER / '?.lua'))}';;' LIKWID_SCENARIO={shlex.quote(str(file))} "
        'exec likwid-perfctr "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


def output(folder: Path, scenario: Scenario) -> str:
    """Return what LIKWID prints of the scenario."""
    file = folder / "counts.csv"
    pus = ",".join(map(str, scenario.counted))
    command = [tool(folder, scenario), "-c", pus, "-g", scenario.group, "-O", "-o", file, "true"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C"})
    return file.read_text(encoding="utf-8")


def main() -> None:
    """Write every output and what it must be read as."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for scenario in SCENARIOS:
            (FOLDER / f"{scenario.name}.csv").write_text(output(Path(folder), scenario), encoding="utf-8")
            reported = {
                "group": scenario.group,
                "pus": scenario.pus,
                "nodes": scenario.node_pus,
                "packages": scenario.package_nodes,
                "local_remote_controller_bytes": scenario.expected(),
            }
            lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in reported.items())
            (FOLDER / f"{scenario.name}.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
