"""Where the metric and the run time disagree, or the figure has too few digits: what an answer then says."""

from collections.abc import Iterator

from numapredict.collect.measuring.repetitions import EARLY
from numapredict.predictor.advising.confirmation import LEAST_ADVISED, Confirmation
from numapredict.predictor.advising.search_run import SearchRun
from numapredict.predictor.advising.search_state import Search

FASTER = 1.05
"""The least speedup of a single run that is called faster: two runs of the same differ by less, as a rule."""


def disagreements(found: Search, confirmation: Confirmation | None) -> Iterator[str]:
    """Yield what to know where another figure than the time is compared; nothing where the time is."""
    if found.figure.is_time:
        return
    doubt = 2 ** (2 * found.figure.doubt(found.made[0].measurement))
    if doubt > 2**LEAST_ADVISED and found.figure.metric:
        yield f"the metric has few digits: gains below {doubt - 1:.0%} cannot be told by it; print more of them"
    elif doubt > 2**LEAST_ADVISED:
        yield f"few regions complete in the window: gains below {doubt - 1:.0%} cannot be told; make --seconds longer"
    early = [when for made in found.made for name, when in made.measurement.provenance if name == EARLY]
    if early:
        yield (
            f"the program ended by itself after {early[0]}, before its window of {found.figure.seconds:g} s: it is "
            "compared by what it did until then"
        )
    if found.figure.seconds is not None:  # the same for all
        return
    if confirmation is not None and confirmation.speedup is not None and confirmation.time_speedup is not None:
        by_time, under = confirmation.time_speedup, f"under {confirmation.mapping}"
        if confirmation.won and by_time < 2**-LEAST_ADVISED:
            yield f"the metric is better {under}, but the whole run is slower ({by_time:.2f}x by run time)"
        elif confirmation.speedup <= 1 and by_time >= FASTER:
            yield f"the whole run is faster {under} ({by_time:.2f}x by run time), but its metric is not better"
    first, *others = found.records()
    worse = [run for run in others if (run.speedup or 1.0) < 1 and _by_time(first, run) >= FASTER]
    if worse:
        run = max(worse, key=lambda each: _by_time(first, each))
        yield (
            f"by run time {run.mapping} was {_by_time(first, run):.2f}x, but its metric is worse ({run.speedup:.2f}x): "
            "the metric decides"
        )


def _by_time(first: SearchRun, run: SearchRun) -> float:
    return first.time_s / run.time_s if first.time_s and run.time_s else 0.0
