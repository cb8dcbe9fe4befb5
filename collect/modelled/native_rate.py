"""The native rate of a region: how long an instance took to pass its barriers when the program ran natively.

The region file has the time at 1, 2, 4, 8, ... barriers of the first instance. With the instance's end this shows
whether the program continued at the rate of the traced part, or did something else afterwards.
"""

from itertools import pairwise

import msgspec
import numpy as np

from numapredict.collect.placing.census import CensusRegion

# Rates within this factor count as equal: a busy computer and steps cut in the middle change them as much.
_SAME = 1.5


class NativeRate(msgspec.Struct, frozen=True):
    """An instance as a curve of at least two points: its time so far, ``times_s``, after each number of ``barriers``.

    Both grow; the last point is the instance's end, or where it was when its run was stopped.
    """

    barriers: tuple[float, ...]
    times_s: tuple[float, ...]

    def share_of(self, passed: int) -> float:
        """Return the share, 0 to 1, of the instance's time until so many barriers were passed."""
        return self._time_at(passed) / self.times_s[-1] if self.times_s[-1] > 0 else 0.0

    def goes_on_after(self, passed: int) -> bool:
        """Return whether everything after so many barriers kept the rate of the second half of them."""
        end = self.barriers[-1]
        if passed >= end:
            return self._is_known(passed)
        half = self._rate(passed // 2, passed)
        return self._is_known(passed) and _same(half, self._rate(passed, end))

    def _time_at(self, passed: float) -> float:
        """Return when so many barriers were passed, in seconds: by interpolation between the neighbouring points.

        Where the rate differs from those before and after, it may have changed anywhere between the points. Then an
        earlier time by the rate before is taken, so that no more counts as seen than is known to be.
        """
        line_s = float(np.interp(passed, self.barriers, self.times_s))
        n = self._part(passed)
        if self._is_known(passed):
            return line_s
        before = self._rate(*self.barriers[n - 1 : n + 1])
        start_s = self.times_s[n]
        return min(line_s, start_s + (passed - self.barriers[n]) / before) if before > 0 else start_s

    def _is_known(self, passed: float) -> bool:
        """Return whether the rate around so many barriers equals the one before, or the one up to the end."""
        n = self._part(passed)
        rates = [self._rate(*pair) for pair in pairwise(self.barriers)]
        if n == 0 or self.barriers[n] == passed:
            return True
        after = self._rate(self.barriers[n + 1], self.barriers[-1]) if n + 2 < len(self.barriers) else 0.0
        return _same(rates[n], rates[n - 1]) or _same(rates[n], after)

    def _part(self, passed: float) -> int:
        """Return the curve's part that contains so many barriers, by the index of its first point."""
        return min(int(np.searchsorted(self.barriers, passed, "right")) - 1, len(self.barriers) - 2)

    def _rate(self, first: float, last: float) -> float:
        """Return the barriers a second between two barrier counts."""
        begin_s, end_s = (float(np.interp(at, self.barriers, self.times_s)) for at in (first, last))
        return (last - first) / (end_s - begin_s) if end_s > begin_s else np.inf


def native_rate(region: CensusRegion) -> NativeRate | None:
    """Return the rate of a region's instance, or None where no barriers were counted.

    Of several instances the curve is the first's, and its end the mean's. The part after the last barrier counts as
    one barrier at most.
    """
    if not region.barriers or not region.count:
        return None
    end, end_s = region.barriers / region.count + 1, region.time_s / region.count
    inner = [(2.0**n, at_s) for n, at_s in enumerate(region.passed_s) if 2**n < end]
    times_s = (0.0, *(min(at_s, end_s) for _, at_s in inner), end_s)
    return NativeRate((0.0, *(barriers for barriers, _ in inner), end), times_s)


def _same(one: float, other: float) -> bool:
    return one <= _SAME * other and other <= _SAME * one
