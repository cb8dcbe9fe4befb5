"""A timed guest's counters: the lines that each CPU had from its own node's memory and from other nodes."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numapredict.collect.measuring.counters.source import LINE_BYTES, NodeTraffic, Traffic
from numapredict.native.errors import CounterError


@dataclass(frozen=True)
class TimedCounting:
    """One run: what is added to the totals while it lasts."""

    totals: Path
    cpus_per_node: int
    nodes: int
    before: int

    def command(self, command: Sequence[str], variables: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command as it is: nobody has to start counting."""
        if variables:
            raise CounterError("a timed guest's counting sets no variables; the launcher does")
        return tuple(command)

    def traffic(self) -> Traffic:
        """Return the run's traffic; CounterError where the program's end was not marked."""
        added = self.totals.read_text()[self.before :] if self.totals.exists() else ""
        lines = [[0, 0] for _ in range(self.nodes)]
        for words in map(str.split, added.splitlines()):
            counted = dict(zip(words[1::2], words[2::2], strict=True))
            for which, name in enumerate(("near", "far")):
                lines[int(words[0]) // self.cpus_per_node][which] += int(counted[name])
        if not added:
            raise CounterError("the guest's totals have nothing of this run")
        return Traffic("timed guest", tuple(NodeTraffic(LINE_BYTES * near, LINE_BYTES * far) for near, far in lines))


@dataclass
class TimedCounters:
    """The source of a timed guest's counters: exact, for it is the one that makes the memory take time.

    A program that was killed leaves its counts to the next one that ends; `flush` runs one that does nothing else.
    """

    totals: Path
    nodes: int
    cpus_per_node: int
    flush: Callable[[], None]
    left: bool = False

    name = "timed guest"

    def obstacle(self) -> None:
        """Return None: it counts always."""

    @contextlib.contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator[TimedCounting]:
        """Yield a run's counting."""
        if self.left:
            self.flush()
        before = self._bytes()
        self.left = True
        yield TimedCounting(self.totals, self.cpus_per_node, self.nodes, before)
        self.left = self._bytes() == before

    def _bytes(self) -> int:
        return self.totals.stat().st_size if self.totals.exists() else 0
