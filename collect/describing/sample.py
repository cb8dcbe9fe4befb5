"""Samples: the values of one figure, and the measurement that gives them, repeated while it is disturbed or noisy."""

import statistics
import time
from collections.abc import Callable, Iterable

import msgspec

from numapredict.collect.describing.probe import Answer, Question, RunProbe, run_probe
from numapredict.collect.measuring.disturbance import Snapshot, disturbance, snapshot
from numapredict.collect.measuring.precision import relative_width
from numapredict.collect.terminal.progress import Count
from numapredict.native.errors import UnrunnableProgramError

ON_NODE = 0.99
"""The share of pages that must be on the requested node."""


class Pace(msgspec.Struct, frozen=True):
    """How many rounds of how many milliseconds a measurement has, and how often it is repeated at most.

    It is repeated while other programs or a hypervisor disturb it, or while the interval of a figure's median is wider
    than ``noisy`` of it, but not after the first ``repeats_s`` seconds of all measurements.
    """

    rounds: int = 5
    round_ms: int = 20
    attempts: int = 3
    noisy: float = 0.1
    repeats_s: float = 60.0


class Sample(msgspec.Struct, frozen=True):
    """The values of one figure, one a round, in the unit of its name; ``disturbed``: by what, "" for by nothing."""

    values: tuple[float, ...]
    disturbed: str = ""

    @property
    def middle(self) -> float:
        """Return the median."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Return the width of the median's interval over the median."""
        return relative_width(self.values)


class Samples(msgspec.Struct, frozen=True):
    """What one question gave: a sample for each figure, and the share of memory in huge pages, -1 for unknown."""

    figures: dict[str, Sample]
    huge: float = -1.0

    def __getitem__(self, figure: str) -> Sample:
        """Return a figure's sample."""
        return self.figures[figure]


class Prober(msgspec.Struct, frozen=True):
    """Asks the probe, and counts each question; ``run`` and ``look`` are replaced where it runs on another computer."""

    count: Count
    pace: Pace = Pace()
    run: RunProbe = run_probe
    look: Callable[[Iterable[int]], Snapshot] = snapshot
    began_s: float = msgspec.field(default_factory=time.monotonic)

    def ask(self, question: Question) -> Samples:
        """Return the samples of a question. Raises UnrunnableProgramError."""
        quiet: list[Answer] = []
        disturbed: list[tuple[str, Answer]] = []
        for _ in range(self.pace.attempts):
            before = self.look(question.pus)
            answer = self.run(question.words(self.pace.rounds, self.pace.round_ms))
            found = disturbance(before, self.look(question.pus), len(question.pus))
            _check_pages(question, answer)
            if found.worth_redoing:
                disturbed.append((found.reasons[0].words, answer))
            else:
                quiet.append(answer)
            steady = all(relative_width(values) <= self.pace.noisy for values in _joined(quiet).values())
            if (quiet and steady) or time.monotonic() - self.began_s > self.pace.repeats_s:
                break
        self.count.step(question.subject)
        kept = quiet or [answer for _, answer in disturbed]
        why = "" if quiet else disturbed[-1][0]
        return Samples({name: Sample(values, why) for name, values in _joined(kept).items()}, kept[-1].huge)


def _joined(answers: list[Answer]) -> dict[str, tuple[float, ...]]:
    names = answers[0].figures if answers else ()
    return {name: tuple(value for each in answers for value in each.figures[name]) for name in names}


def _check_pages(question: Question, answer: Answer) -> None:
    if 0 <= answer.on_node < ON_NODE:
        raise UnrunnableProgramError(
            f"only {answer.on_node:.0%} of {question.size_bytes >> 20} MiB are on node {question.node}, for which they"
            " were mapped: free some of its memory"
        )
