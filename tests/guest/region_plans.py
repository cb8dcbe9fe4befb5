"""Programs under plans for their regions in a guest, and what the kernel says of threads and pages.

Gains are made up: times mean nothing there.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.order import Succession
from numapredict.collect.placing.census import CensusRegion
from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.placed_run_record import ObservedPlacement, observed_placement
from numapredict.collect.placing.plan_file import Plan, read_plan
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.planning import Wish, planned
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.guest.batch import Batch
from tests.region_plans import planned as write_teams
from tests.region_plans import regions_of

BASE = "8x4-contiguous-first-touch"
TEAMS = {"free": "4x4-contiguous-first-touch", "outer": "2x1-contiguous-first-touch"}
NAMES = ("free", "own", "condition", "asked", "fewer", "outer")
STEPS = 5
MOVED_PAGES, PATTERN = 1024, "a1b2n1a3n2b3"
SPREAD, HALF = "8x4-contiguous-interleave", "8x4-contiguous-interleave@2"
Told = Callable[[int, int], Sequence[Succession]]


class Applied(NamedTuple):
    """What a program says under its plan and without it, and where the kernel had its threads and pages."""

    said: list[str]
    alone: list[str]
    placement: ObservedPlacement

    @property
    def same(self) -> bool:
        """Return whether it ends by saying the same."""
        return self.said[-1] == self.alone[-1]


class Run:
    """A run under a plan that is in a batch, and one of the same program without."""

    def __init__(self, batch: Batch, plan: Path, command: list[str]) -> None:
        """Add both."""
        self.batch, self.plan, self.map = batch, plan, batch.new_file("map")
        self.alone = batch.add(command)
        self.under = batch.add(command, batch.placed(BASE, PlacementFiles(plan=str(plan), map=str(self.map))))

    def applied(self, plan: Plan | None = None) -> Applied:
        """Return what came of them; both must have ended well."""
        texts = [self.batch.said(place) for place in (self.under, self.alone)]
        assert [said.code for said in texts] == [0, 0], texts
        said, alone = (one.stdout.decode().splitlines() for one in texts)
        placed = read_map(self.map)
        assert placed is not None
        placement = observed_placement(placed, self.batch.placement(BASE), plan or read_plan(self.plan))
        return Applied(said, alone, placement)


class Teams:
    """A program with planned teams."""

    def __init__(self, program: Path, batch: Batch, folder: Path) -> None:
        """Write the plan, and add the runs to a batch."""
        base = batch.placement(BASE).pus
        found = regions_of([str(program), "1"], folder)
        names = [name for name in NAMES if name != "condition" or len(found) == len(NAMES) + 1]
        regions = dict(zip(names, found, strict=False))
        self.base, self.planned = base, {name: batch.placement(label).pus for name, label in TEAMS.items()}
        slots = {regions[name]: tuple(map(base.index, its)) for name, its in self.planned.items()}
        plan = batch.new_file("plan")
        self.plan = write_teams(slots, plan, BASE, batch.topology)
        self.run = Run(batch, plan, [str(program), str(STEPS)])


class Places:
    """A program with two regions that want their memory in different places, by the samples of a profile.

    How many samples a run takes depends on what the computer does besides: the guest profiles ``longer`` runs, by the
    last word of the command, until there are enough. ``told`` makes the regions' order of their keys.
    """

    def __init__(
        self, command: list[str], longer: Sequence[str], batch: Batch, folder: Path, told: Told | None = None
    ) -> None:
        """Add the runs to a batch; the last ones are under the plan that `plan` makes meanwhile."""
        self.command, self.batch, self.told = command, batch, told
        self.plan_file = batch.new_file("plan")
        self.tries = []
        self.regions = regions_of(command, folder)[:2]
        for last in longer:
            profile, done, judged = (batch.new_file(name) for name in ("profile", "done", "judged"))
            self.tries.append((profile, done, judged))
            batch.line(f"if [ ! -e {self.plan_file} ]; then")
            batch.add([*command[:-1], last], batch.placed(BASE, PlacementFiles(profile=str(profile))))
            batch.line(f": >{done}")
            batch.wait(judged)
            batch.line("fi")
        self.run = Run(batch, self.plan_file, command)

    def plan(self) -> PlannedApplication:
        """Make the plan while the guest runs."""
        for profile, done, judged in self.tries:
            while not done.exists():
                time.sleep(0.2)
            plan, notes = self._planned(profile)
            if plan is None or notes:
                self.plan_file.unlink(missing_ok=True)
            judged.touch()
            if plan is not None and not notes:
                return plan
        raise AssertionError(notes)

    def _planned(self, profile: Path) -> tuple[PlannedApplication | None, tuple[str, ...]]:
        first, second = self.regions
        base = Gain(BASE, 1.0, 1.0, 1.0, 9)
        gains: Mapping[CensusRegion, tuple[Gain, ...]] = {
            first: (base, Gain(SPREAD, 1.0, 2.0, 2.0, 3), Gain(HALF, 1.0, 0.5, 0.5, 1)),
            second: (base, Gain(SPREAD, 1.0, 0.5, 0.5, 1), Gain(HALF, 1.0, 2.0, 2.0, 3)),
        }
        regions = tuple(
            ReplayedRegion("", each.path, each.offset, 300, 1.0, 0.5, 8, gains=its) for each, its in gains.items()
        )
        topology = self.batch.topology
        answer = ReplayedRegions(tuple(self.command), topology.name, BASE, 0, None, 3.0, 1.0, 2.0, regions)
        keys = {(each.path, each.offset): each.key for each in gains}
        order = () if self.told is None else self.told(first.key, second.key)
        made = planned(answer, Wish(self.plan_file, profile), self.command[0], keys, topology, order)
        return made.plan, made.notes


def in_phases(first: int, second: int) -> tuple[Succession, ...]:
    """Return the order of two regions of which the second one comes after all of the first."""
    return Succession(first, (), 300), Succession(second, (first,), 1), Succession(second, (), 299)
