"""Cut regions: regions of which a trace saw no instance to its end, such as one that holds a program's whole time loop.

A region that ended with fewer steps than in the native run is one, too: a loop that runs for some seconds by the clock
makes few steps in the emulator, and fewer with more threads on the same cores.

Only the part before the last barrier that all threads passed in the trace counts. Its share of the region is the share
of native time for as many barriers. Where the second half of that part repeats itself, as the steps of a time loop do,
and the native run kept its rate from there to the end, it represents the barriers that follow, as the first instances
of other regions represent later ones. A later phase at another rate does not count as seen.
"""

from collections.abc import Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.native_rate import NativeRate, native_rate
from numapredict.collect.placing.census import Census

Mask = npt.NDArray[np.bool_]

# A step counts as repeated where so much of the instructions, summed over its parts, is what it was a step before.
_MOST_CHANGE = 0.05
# Steps that must be seen: as many as the budget's instances of a region.
_STEPS = 3
# A whole instance with less than this part of the barriers of the native run was ended by the clock: barriers that
# depend on the number of threads differ by less, and mostly grow with it.
_BY_THE_CLOCK = 0.5


class CutRegion(msgspec.Struct, frozen=True):
    """What was seen of one instance: ``passed`` parts, each up to a barrier, of ``expected`` (0: unknown).

    The parts from ``repeats_from`` on represent those that follow; None where they do not, or their number is unknown.
    ``time_share`` is how much of the native time of the instance the parts took, 0 to 1.
    """

    passed: int
    expected: float
    repeats_from: int | None
    time_share: float = 0.0

    @property
    def share(self) -> float:
        """Return the share, 0 to 1, of the instance that the parts represent."""
        if not self.passed:
            return 0.0
        return 1.0 if self.repeats_from is not None else self.time_share

    def weight(self, part: int, most: int) -> float:
        """Return how often a part happens; parts from ``most`` on are taken together."""
        if self.repeats_from is None or self.expected <= self.passed:
            return 1.0
        first = min(self.repeats_from, most)
        return (self.expected - first) / (self.passed - first) if part >= first else 1.0


def cut_regions(segments: npt.NDArray[np.void], keep: Mask, census: Census) -> dict[int, CutRegion]:
    """Return the regions, by key, whose only kept instance was cut off, or ended by the clock."""
    barriers = {region.key: region.barriers / region.count for region in census.regions}
    rates = {region.key: native_rate(region) for region in census.regions}
    inside = keep & (segments["region"] != 0)
    found = {}
    for key in np.unique(segments["region"][inside]):
        mine = inside & (segments["region"] == key)
        if len(np.unique(segments["instance"][mine])) > 1:
            continue
        cut = bool((segments["flags"][mine] & t.CUT_OFF).any())
        # No thread passes a barrier before all have arrived, so all have finished what precedes the latest barrier.
        passed = int(segments["phase"][mine].max()) + (not cut)
        expected = barriers.get(int(key), 0.0) + (not cut)
        if not cut and passed >= _BY_THE_CLOCK * expected:
            continue
        work = np.zeros(passed + cut)
        np.add.at(work, segments["phase"][mine], segments["instructions"][mine].astype(np.float64))
        repeats_from = _repeats_from(work[:passed])
        if cut or repeats_from is not None:
            found[int(key)] = _cut_region(passed, expected, repeats_from, rates.get(int(key)))
    return found


def _cut_region(passed: int, expected: float, repeats_from: int | None, rate: NativeRate | None) -> CutRegion:
    if not passed or rate is None:
        return CutRegion(passed, expected, None)
    goes_on = rate.goes_on_after(passed)
    return CutRegion(passed, expected, repeats_from if goes_on else None, rate.share_of(passed))


def unended(segments: npt.NDArray[np.void], keep: Mask, found: Mapping[int, CutRegion]) -> Mask:
    """Return which of the kept segments of cut regions some thread had not ended, where there are others."""
    drop = np.zeros(len(segments), dtype=bool)
    for key, region in found.items():
        if region.passed:
            drop |= keep & (segments["region"] == key) & (segments["phase"] >= region.passed)
    return drop


def _repeats_from(work: npt.NDArray[np.float64]) -> int | None:
    """Return where the latest whole steps begin if the second half of the parts repeats itself, by instructions."""
    half = work[len(work) // 2 :]
    for parts in range(1, len(half) // _STEPS + 1):
        change = np.abs(half[parts:] - half[:-parts]).sum()
        if change <= _MOST_CHANGE * half[parts:].sum():
            return len(work) - len(half) // parts * parts
    return None
