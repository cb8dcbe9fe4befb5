"""What a plan gains that moves an array between two phases, in a timed guest, by its clock.

`python -m tests.benchmarks.timed_phases guest-2x2`. The program's phases want the array on different nodes. There
`numapredict run --profile` and `regions --plan --profile` make the plan; then the program runs under it, as it is, with
all pages on the first node or by touches, and under the mapping that gained most for all regions, in turn. The figures
are those of a timed guest, of no hardware.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import msgspec

from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.programs import HERE, compiled
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import Timing, timing_of
from tests.guest.timed_phases import PLAN

SIZES = ("512", "2", "80", "8")
"""KILOBYTES ROUNDS PASSES WALKS."""


class Found:
    """What the guest said: the plan, and what each way's runs took and printed."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.plan: PlannedApplication | None = None
        self.placements: list[dict[str, Any]] = []
        self.times: dict[str, list[float]] = {}
        self.computed: set[str] = set()
        self._last: dict[str, Any] = {}

    def take(self, line: str) -> None:
        """Take a line of JSON: what a command said, or what it then wrote."""
        said = json.loads(line)
        if "written" not in said:
            if said["exit_code"]:
                raise SystemExit(f"{' '.join(said['words'])}: {said['errors']}")
            self._last = said
            return
        if said["name"] == "regions":
            self.plan = msgspec.convert(said["written"], ReplayedRegions).plan
            return
        seconds, *_ = self._last["output"].split()
        # What the program computes is its last line on standard error before the report.
        self.computed.add(next(line for line in self._last["errors"].splitlines() if line[:1].isdigit()))
        self.times.setdefault(said["name"], []).append(float(seconds))
        if said["name"] == PLAN:
            self.placements.append(said["written"]["placement"])


def measured(timing: Timing, folder: Path, sizes: tuple[str, ...], rounds: int) -> Found:
    """Boot a guest and return what it said."""
    (folder / "guest").mkdir()
    program = compiled(HERE / "timed_phases.c", folder, options=("-g", "-fopenmp"))
    found = Found()
    words = [sys.executable, "-m", "tests.guest.timed_phases", str(rounds), str(program), *sizes]
    environment = python_environment() | {
        "GUEST_PAYS": program.name,
        "OMP_NUM_THREADS": str(timing.machine.topology.core_count),
        "OMP_WAIT_POLICY": "passive",
    }
    guest = Guest(timing.shape(), ("numa_balancing=disable", "transparent_hugepage=never"), timing)
    guest.run(words, folder / "guest", environment, 7200, (Lines(found.take), sys.stderr.buffer))
    return found


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--sizes", nargs=4, default=SIZES, show_default=True, help="KILOBYTES ROUNDS PASSES WALKS.")
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, factor: float | None, rounds: int, sizes: tuple[str, ...], as_json: bool) -> None:
    """Boot one guest and print the seconds of each way, and what the others take over the plan."""
    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-phases-") as name:
        found = measured(timing_of(machine, factor), Path(name), sizes, rounds)
    if found.plan is None or not found.plan.moves or len(found.computed) != 1:
        raise SystemExit(f"no plan that moves an array, or other results: {found.plan}, {found.computed}")
    figures = [Figure(f"timed guest: {way}", "s", tuple(its)) for way, its in found.times.items()]
    figures += [
        ratios(f"timed guest: {way} over the plan", its, found.times[PLAN], "above 1")
        for way, its in found.times.items()
        if way != PLAN
    ]
    figures.append(Figure("promised over the mapping as it is", "times", (found.plan.speedup,)))
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
