"""How far a search goes."""

import msgspec

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.limits import Limits
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.options import Method

RUNS = 4
"""Runs of a search if not stated, the baseline's included."""

MOST_RUNS = 16
"""Runs of a search at most if it is stated how often the program will run.

On the modelled times that shipped before lpdquad had two threads a core, for a program that will run 100,000 times, 11
runs are made on average and never more than 15. For 300 times it is 3.8 runs, and program and search take as long
together as by RUNS and LEAST_GAIN.
"""


class SearchOptions(msgspec.Struct, frozen=True):
    """How many runs a search makes at most, and whether each is ended once it has taken as long as the best.

    ``fresh``: runs that earlier commands made are not used. ``expected_runs``: how often the program will run, by which
    a search stops in place of LEAST_GAIN; None if that is not known. Mappings beyond the ``limits`` are not tried.
    ``method``: ``thesis`` where the cluster of a program chooses its mapping, after two probes. ``figure``: what is
    compared of the runs.
    """

    runs: int = RUNS
    cut: bool = True
    fresh: bool = False
    expected_runs: int | None = None
    limits: Limits = Limits()
    method: Method = "search"
    figure: Figure = TIME

    @property
    def limit(self) -> str:
        """Return the number of runs in words."""
        if self.method == "thesis":
            return "at most 4"  # as it is, two probes, and the cluster's mapping
        return f"{self.runs}" if self.expected_runs is None else f"at most {self.runs}"


def search_options(
    runs: int | None,
    expected_runs: int | None,
    *,
    cut: bool,
    fresh: bool,
    limits: Limits | None = None,
    method: Method = "search",
) -> SearchOptions:
    """Return the options of a search; without ``runs`` there are as many at most as suits ``expected_runs``.

    Raises UsageError for what has no effect by the thesis's method.
    """
    unused = {"--runs": runs is not None, "--for": expected_runs is not None, "--no-cut": not cut}
    if method == "thesis" and any(unused.values()):
        name = next(name for name, given in unused.items() if given)
        raise UsageError(
            f"{name} has no effect by --method thesis, which makes whole runs of the program, its probes and what they "
            "choose: leave one of both out"
        )
    most = runs or (RUNS if expected_runs is None else MOST_RUNS)
    return SearchOptions(most, cut, fresh, expected_runs, limits or Limits(), method)


def comparing(options: SearchOptions, figure: Figure) -> SearchOptions:
    """Return the options of a search that compares this figure; UsageError for what has no effect without times."""
    if figure.is_time:
        return options
    unused = {
        "--method thesis": options.method == "thesis",
        "--for": options.expected_runs is not None,
        "--no-cut": not options.cut,
    }
    if any(unused.values()):
        name = next(name for name, given in unused.items() if given)
        other = "--metric" if figure.metric else "--seconds"
        raise UsageError(f"{name} is for searches that compare run times, and has no effect with {other}: leave it out")
    return msgspec.structs.replace(options, figure=figure, cut=False)
