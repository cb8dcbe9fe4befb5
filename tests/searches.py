"""A made-up computer on which searches run a program, and what they know of it."""

import itertools
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from numapredict.collect.figure import STEP, TIME, VALUE, Figure
from numapredict.collect.mapping import AnyMapping, Mapping, parse_label
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.measuring.repetitions import BUSY
from numapredict.collect.measuring.run_limit import PROVENANCE, UNLIMITED, RunLimit
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnsupportedMappingError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.search import Runner
from numapredict.predictor.advising.search_options import SearchOptions, comparing
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import Prior
from tests.planted import four_by_eight

TOPOLOGY: Topology = four_by_eight()
DEFAULT, LOCAL, SPREAD, HALF, ONE = map(
    parse_label,
    (
        "32x4-contiguous-first-touch",
        "32x4-contiguous-locality",
        "32x4-contiguous-interleave",
        "16x2-contiguous-first-touch",
        "8x1-contiguous-bind",
    ),
)
# Three kinds of programs, which gain from different mappings: most often from LOCAL, then SPREAD, then ONE.
GAINS = np.array(
    [[0, 2.0, 1.0, -1.0, -2.0], [0, 2.0, 1.0, -1.0, -2.0], [0, -1.0, 1.5, 0, -1.0], [0, -2.0, -1.0, 0.5, 1.5]]
)
PRIOR = Prior((DEFAULT, LOCAL, SPREAD, HALF, ONE), known_gains(GAINS, list("abcd")), 0, "4 programs on planted")


APP = Program(name="app", command=("./app", "in put"))


class Computer:
    """A computer on which a program takes these seconds: a whole run, and of it the time in regions."""

    name, modelled, executions, controllers_GBps, topology = "planted", False, 1, (), TOPOLOGY

    def __init__(self, whole_s: dict[AnyMapping, float], regions_s: dict[AnyMapping, float] | None = None) -> None:
        self.whole_s, self.regions_s = whole_s, regions_s or {}
        self.ran: list[AnyMapping] = []
        self.limits_s: list[float] = []
        self.teams = self.baseline_teams = ""
        self.refused: set[AnyMapping] = set()
        self.busy: dict[int, str] = {}  # by the number of a run, from 0: what others take of it
        self.looks: list[str] = []  # the same by each look; nothing once they are used up

    def supports(self, mapping: Mapping) -> bool:
        return mapping not in self.refused

    def run(self, mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        if mapping in self.refused:
            raise UnsupportedMappingError(f"{mapping} needs numactl")
        self.ran.append(mapping)
        self.limits_s.append(limit.whole_s)
        whole_s, teams = self.whole_s[mapping], self.baseline_teams if mapping == AS_IT_IS else self.teams
        regions_s, notes = self.regions_s.get(mapping), (("teams", teams),) if teams else ()
        others = self.busy.get(len(self.ran) - 1)
        notes += ((BUSY, others),) if others else ()
        ended = whole_s > limit.whole_s
        status: Status = "crashed" if whole_s < 0 else "timeout" if ended else "ok"
        if ended and regions_s is not None:  # they begin when the rest is over
            in_regions_s = max(regions_s - (whole_s - limit.whole_s), 0.0)
            notes += ((PROVENANCE, str(in_regions_s)),)
        return Measurement(
            program="app",
            mapping=mapping,
            machine="planted",
            modelled=False,
            status=status,
            message="" if status == "ok" else f"it {status}",
            repetitions=(Repetition(whole_s, regions_s),) if status == "ok" else (),
            provenance=notes,
        )

    def runner(self, baseline: AnyMapping = AS_IT_IS) -> Runner:
        first: Callable[[], Measurement] = lambda: self.run(baseline)  # noqa: E731 - as short as a method
        return Runner("app", baseline, first, self.run, look=self.look)

    def look(self) -> str:
        return self.looks.pop(0) if self.looks else ""


class Described(Computer):
    """The computer as a described machine of the same shape."""

    name, modelled = "sandybridge-4x8", True


class Noisy(Computer):
    """A computer on which runs of a mapping take one time after the other, the last one for ever."""

    def __init__(self, whole_s: dict[AnyMapping, float], later_s: dict[AnyMapping, list[float]]) -> None:
        super().__init__(whole_s)
        self.times: dict[AnyMapping, Iterator[float]] = {
            mapping: itertools.chain(each, itertools.repeat(each[-1])) for mapping, each in later_s.items()
        }

    def run(self, mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        if mapping in self.times:
            self.whole_s[mapping] = next(self.times[mapping])
        return super().run(mapping, limit)


class Printing(Computer):
    """A computer on which a program prints these metrics, one a run of a mapping, the last one for ever."""

    def __init__(
        self, whole_s: dict[AnyMapping, float], metrics: dict[AnyMapping, list[float]], step: float = 0.0
    ) -> None:
        super().__init__(whole_s)
        self.step = step
        self.metrics = {mapping: itertools.chain(each, itertools.repeat(each[-1])) for mapping, each in metrics.items()}

    def run(self, mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        found = super().run(mapping, limit)
        if found.status != "ok":
            return found
        readings = ((VALUE, next(self.metrics[mapping])), (STEP, self.step))
        repetition = msgspec.structs.replace(found.repetitions[0], readings=readings)
        return msgspec.structs.replace(found, repetitions=(repetition,))


def times(baseline: float, **others: float) -> dict[AnyMapping, float]:
    """Return seconds by mapping, 10 where nothing else is said."""
    named: dict[str, Mapping] = {"local": LOCAL, "spread": SPREAD, "half": HALF, "one": ONE, "default": DEFAULT}
    return {AS_IT_IS: baseline, **{mapping: others.get(name, 10.0) for name, mapping in named.items()}}


def answered(
    computer: Computer,
    runs: int = 3,
    baseline: AnyMapping = AS_IT_IS,
    expected_runs: int | None = None,
    program: Program = APP,
    figure: Figure = TIME,
) -> Advice:
    """Return the answer of a search on the computer."""
    machine: object = computer
    options = comparing(SearchOptions(runs=runs, expected_runs=expected_runs), figure)
    found = advise(program, machine, computer.runner(baseline), PRIOR, options)  # type: ignore[arg-type]
    assert isinstance(found, Advice)
    return found
