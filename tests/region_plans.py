"""Plans for the regions of a program: found by a run of it, in the order in which they first begin."""

import os
import subprocess
from pathlib import Path

from numapredict.collect.placing.census import CensusRegion, parse_census
from numapredict.collect.placing.plan_file import Plan, PlannedRegion, builds_of, write_plan
from numapredict.collect.topology import Topology
from numapredict.native.library import marks_library


def regions_of(command: list[str], folder: Path) -> tuple[CensusRegion, ...]:
    """Run a program and return its regions."""
    report = folder / "regions"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(marks_library()), "NUMAPREDICT_REGIONS": str(report)}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=240)
    census = parse_census(report.read_bytes())
    assert census is not None
    return census.regions


def planned(
    teams: dict[CensusRegion, tuple[int, ...]], path: Path, mapping: str, topology: Topology, first_instance: int = 2
) -> Plan:
    """Write a plan that gives each of these regions a team in these slots, and return it."""
    modules = builds_of(region.path for region in teams)
    plan = Plan(
        topology.fingerprint,
        topology.name,
        mapping,
        modules,
        tuple(PlannedRegion(r.key, r.path, r.offset, slots, first_instance) for r, slots in teams.items()),
    )
    write_plan(plan, path)
    return plan
