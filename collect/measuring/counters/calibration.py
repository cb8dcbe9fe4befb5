"""The results of the counters' self-test: which source is trusted on this computer, and its calibration factor.

They are kept as JSON, ``counters.json`` in the cache folder; this is its only reader and writer. It holds for one
kernel and topology: after a change of either the test runs again. An unreadable file counts as none. History of the
schema version: 1, the first.
"""

import contextlib
import hashlib
import logging
import math
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.durable import replace_file
from numapredict.collect.measuring.counters.selftest import loads, self_test
from numapredict.collect.measuring.counters.source import CounterSource, Obstacle
from numapredict.collect.measuring.counters.verdict import Verdict
from numapredict.collect.terminal.progress import counting
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError

FILE = "counters.json"
RETRY_S = 3600.0
"""After so many seconds a source that failed is tested again: the test may have been disturbed."""

_SCHEMA = 1

log = logging.getLogger(__name__)


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """One source's state: its obstacle, why the test could not run, or the test's verdict.

    ``tested_s`` is when it was tested, in seconds since 1970.
    """

    name: str
    obstacle: Obstacle | None = None
    failure: str = ""
    verdict: Verdict | None = None
    tested_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Return whether the source passed the self-test."""
        return self.verdict is not None and self.verdict.passed

    @property
    def reason(self) -> str:
        """Return in one line why the source is not used; "" where it is."""
        if self.obstacle is not None:
            return self.obstacle.reason
        if self.failure:
            return self.failure
        return "; ".join(self.verdict.reasons[:1]) if self.verdict is not None else "it was not tested"


@dataclass(frozen=True)
class CalibratedSource:
    """A source that passed the self-test, and the bytes that it counts for each byte moved."""

    source: CounterSource
    factor: float


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    computer: str
    tested: tuple[Examined, ...]


def examine(sources: Sequence[CounterSource], topology: Topology) -> tuple[Examined, ...]:
    """Test every source that can count here, and return the state of all sources, in their order."""
    return tuple(_examined(source, topology) for source in sources)


def calibrated_source(sources: Sequence[CounterSource], topology: Topology, folder: Path) -> CalibratedSource | None:
    """Return the first trusted source, or None; untested sources are tested, and their results kept in ``folder``."""
    known = {tested.name: tested for tested in read_calibrations(folder, topology)}
    fresh = False
    found = None
    for source in sources:
        if source.obstacle() is not None:
            continue
        tested = known.get(source.name)
        if tested is None or is_old(tested):
            tested = known[source.name] = _examined(source, topology)
            fresh = True
        if tested.verdict is not None and tested.verdict.passed:
            found = CalibratedSource(source, tested.verdict.factor)
            break
        log.info(f"the counters of {source.name} are not used: {tested.reason} (numapredict doctor tests again)")
    if fresh:
        write_calibrations(folder, topology, tuple(known.values()))
    return found


def read_calibrations(folder: Path, topology: Topology) -> tuple[Examined, ...]:
    """Return the kept states of the sources; none where the file is missing, unreadable, or of another setup."""
    try:
        found = msgspec.json.decode(read_bounded(folder / FILE, MIB), type=_File)
    except (OSError, msgspec.DecodeError):
        return ()
    if found.schema != _SCHEMA or found.computer != _computer(topology):
        return ()
    return tuple(each for each in found.tested if each.verdict is None or 0 < each.verdict.factor < math.inf)


def write_calibrations(folder: Path, topology: Topology, tested: Sequence[Examined]) -> None:
    """Keep the sources' states; where the file cannot be written, the next process tests again."""
    kept = tuple(each for each in tested if each.verdict is not None)
    text = msgspec.json.encode(_File(schema=_SCHEMA, computer=_computer(topology), tested=kept))
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / FILE, msgspec.json.format(text))


def _examined(source: CounterSource, topology: Topology) -> Examined:
    obstacle = source.obstacle()
    if obstacle is not None:
        return Examined(name=source.name, obstacle=obstacle)
    log.info(f"testing the counters of {source.name} on known loads")
    try:
        with counting(len(loads(topology)), f"loads under {source.name}") as count:
            verdict = self_test(source, topology, count)
        return Examined(name=source.name, verdict=verdict, tested_s=time.time())
    except CounterError as error:
        return Examined(name=source.name, failure=str(error))


def is_old(tested: Examined) -> bool:
    """Return whether to test a source again: without a verdict, or when its failure is old enough."""
    return tested.verdict is None or not (tested.verdict.passed or 0 <= time.time() - tested.tested_s < RETRY_S)


def _computer(topology: Topology) -> str:
    """Return a digest of what the verdicts depend on: kernel and topology."""
    return hashlib.sha256(f"{topology.fingerprint} {topology.name} {platform.release()}".encode()).hexdigest()[:16]
