"""Runs inside a guest: programs under plans for their regions, and what the kernel says of threads and pages.

    python -m tests.guest.region_plans TWO_PHASES PHASES REGION_TEAMS...

Prints a line of JSON for each program. Gains are made up: times mean nothing there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.order import Succession
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.planning import Wish, planned
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.guest.end_to_end import leave, load, must
from tests.region_plans import planned as write_teams
from tests.region_plans import regions_of

BASE = "8x4-contiguous-first-touch"
TEAMS = {"free": "4x4-contiguous-first-touch", "outer": "2x1-contiguous-first-touch"}
NAMES = ("free", "own", "condition", "asked", "fewer", "outer")
STEPS = 5
MOVED_PAGES, PATTERN = 1024, "a1b2n1a3n2b3"
SPREAD, HALF = "8x4-contiguous-interleave", "8x4-contiguous-interleave@2"
LOADED = (
    "numapredict.collect.placing.placed_run",
    "numapredict.predictor.command_line.cli",
    "numapredict.predictor.regions.planning",
)


def teams(program: str, folder: Path) -> None:
    """Run a program with planned teams, and without."""
    topology = host_topology()
    base = resolve(parse_label(BASE), topology).pus
    found = regions_of([program, "1"], folder)
    names = [name for name in NAMES if name != "condition" or len(found) == len(NAMES) + 1]
    regions = dict(zip(names, found, strict=False))
    pus = {name: resolve(parse_label(label), topology).pus for name, label in TEAMS.items()}
    slots = {regions[name]: tuple(map(base.index, its)) for name, its in pus.items()}
    write_teams(slots, folder / "plan", BASE, topology)
    must(["run", "--plan", str(folder / "plan"), "-o", str(folder / "run"), "--", program, str(STEPS)], folder / "out")
    alone = subprocess.run([program, str(STEPS)], check=True, capture_output=True, text=True)
    said = (folder / "out").read_text().splitlines()
    same = said[-1] == alone.stdout.splitlines()[-1]
    placement = json.loads((folder / "run").read_text())["placement"]
    say({"base": base, "planned": pus, "said": said, "same": same, "teams": placement["teams"]})


def made(
    command: list[str],
    longer: Sequence[str],
    folder: Path,
    told: Callable[[int, int], Sequence[Succession]] | None = None,
) -> PlannedApplication:
    """Write a plan for two regions that want their memory in different places, by the samples of a profile.

    How many samples a run takes depends on what the computer does besides: the last word of the command is replaced by
    ``longer`` ones, until there are enough. ``told`` makes the regions' order of their keys.
    """
    topology = host_topology()
    first, second, *_ = regions_of(command, folder)
    base = Gain(BASE, 1.0, 1.0, 1.0, 9)
    gains = {
        first: (base, Gain(SPREAD, 1.0, 2.0, 2.0, 3), Gain(HALF, 1.0, 0.5, 0.5, 1)),
        second: (base, Gain(SPREAD, 1.0, 0.5, 0.5, 1), Gain(HALF, 1.0, 2.0, 2.0, 3)),
    }
    regions = tuple(
        ReplayedRegion("", each.path, each.offset, 300, 1.0, 0.5, 8, gains=its) for each, its in gains.items()
    )
    answer = ReplayedRegions(tuple(command), topology.name, BASE, 0, None, 3.0, 1.0, 2.0, regions)
    keys = {(each.path, each.offset): each.key for each in gains}
    order = () if told is None else told(first.key, second.key)
    wish = Wish(folder / "pages", folder / "profile")
    for last in longer:
        words = [*command[:-1], last]
        must(["run", "--mapping", BASE, "--profile", str(wish.profile), "--", *words], folder / "long")
        plan, notes, _ = planned(answer, wish, command[0], keys, topology, order)
        if plan is not None and not notes:
            return plan
    raise SystemExit(str(notes))


def applied(plan: Path, command: list[str], folder: Path) -> tuple[bool, Any]:
    """Run a program under a plan; return whether it says last what it says without, and the placement."""
    must(["run", "--plan", str(plan), "-o", str(folder / "run"), "--", *command], folder / "out")
    alone = subprocess.run(command, check=True, capture_output=True, text=True)
    same = (folder / "out").read_text().splitlines()[-1] == alone.stdout.splitlines()[-1]
    return same, json.loads((folder / "run").read_text())["placement"]


def moves(program: str, folder: Path) -> None:
    """Move an array between two phases of a program."""

    def in_phases(first: int, second: int) -> tuple[Succession, ...]:
        return Succession(first, (), 300), Succession(second, (first,), 1), Succession(second, (), 299)

    command = [program, str(MOVED_PAGES), PATTERN]
    plan = made(command, [n * "a20b20" for n in (5, 15, 50)], folder, in_phases)
    same, placement = applied(folder / "pages", command, folder)
    say(
        {
            "places": [[place.like for place in move.places] for move in plan.moves],
            "same": same,
            "said": (folder / "out").read_text().splitlines(),
            "moves": placement["moves"],
            "pages": placement["pages"],
        }
    )


def pages(program: str, folder: Path) -> None:
    """Place two arrays differently, by the samples of a profile."""
    command = [program, "4096", "300"]
    plan = made(command, ("300", "1000", "3000", "10000"), folder)
    same, placement = applied(folder / "pages", command, folder)
    arrays = {array.name: (array.like, array.pages) for array in plan.arrays}
    say({"mapping": plan.mapping, "arrays": arrays, "same": same, "pages": placement["pages"]})


def say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(program: str, *with_teams: str) -> None:
    load(LOADED)
    folder = Path(os.environ["GUEST_FOLDER"])
    if not with_teams:
        moves(program, folder)
        return
    for each in with_teams:
        teams(each, folder)
    pages(program, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
    leave()
