"""Measuring one computer: all questions to the probe, in order, with their progress."""

from collections.abc import Callable, Iterable

import msgspec

from numapredict.collect.describing.caches import FoundCaches
from numapredict.collect.describing.cores import MeasuredCores, measure_cores, questions_of_cores
from numapredict.collect.describing.pairs import MeasuredPair, measure_pairs, measured_pairs
from numapredict.collect.describing.probe import RunProbe, run_probe
from numapredict.collect.describing.sample import Pace, Prober, Sample
from numapredict.collect.describing.teams import MeasuredTeam, measure_teams, measured_teams
from numapredict.collect.host.packages import Package
from numapredict.collect.measuring.disturbance import Snapshot, snapshot
from numapredict.collect.terminal.progress import counting
from numapredict.collect.topology import Core, Topology


class Shape(msgspec.Struct, frozen=True):
    """What is known of a computer before anything is measured."""

    topology: Topology
    caches: FoundCaches
    packages: tuple[Package, ...] = ()

    @property
    def first_package(self) -> tuple[Core, ...]:
        """Return the usable cores of the first core's package; of its node where packages are unknown."""
        first = self.topology.cpu_nodes[0]
        pu = first.cores[0].pus[0]
        pus = next((frozenset(each.pus) for each in self.packages if pu in each.pus), frozenset())
        cores = (core for node in self.topology.cpu_nodes for core in node.cores)
        return tuple(core for core in cores if core.pus[0] in pus) or first.cores


class MeasuredComputer(msgspec.Struct, frozen=True):
    """All figures of a computer."""

    shape: Shape
    cores: MeasuredCores
    pairs: tuple[MeasuredPair, ...]
    teams: tuple[MeasuredTeam, ...]

    def samples(self) -> Iterable[Sample]:
        """Yield every sample once."""
        for record in (self.cores, *self.pairs, *self.teams):
            for value in msgspec.structs.astuple(record):
                if isinstance(value, Sample):
                    yield value
        for _, sample in self.cores.turbo_GHz:
            if sample is not self.cores.frequency_GHz:  # which is the last one where there is one package
                yield sample


def measure_computer(
    shape: Shape,
    pace: Pace | None = None,
    run: RunProbe = run_probe,
    look: Callable[[Iterable[int]], Snapshot] = snapshot,
) -> MeasuredComputer:
    """Measure everything that a description has. Raises UnrunnableProgramError."""
    topology, package = shape.topology, shape.first_package
    teams = measured_teams(topology)
    pairs = list(measured_pairs(topology))
    with counting(questions_of_cores(topology, package) + 2 * len(pairs) + len(teams), "measurements") as count:
        prober = Prober(count, pace or Pace(), run, look)
        return MeasuredComputer(
            shape=shape,
            cores=measure_cores(topology, package, shape.caches, prober),
            pairs=measure_pairs(topology, shape.caches, prober),
            teams=measure_teams(topology, prober),
        )
