"""The answer on a plan for the whole application: what it does, what it should gain, what it could not reconcile."""

import msgspec

from numapredict.predictor.variables.time_cost import TimeCost


class PlannedTeam(msgspec.Struct, frozen=True):
    """A region's team in the plan: ``threads`` as under ``mapping``, where a replay was ``speedup`` times as fast."""

    region: str
    threads: int
    mapping: str
    speedup: float


class PlannedArray(msgspec.Struct, frozen=True):
    """An array whose ``pages`` go where the mapping ``like`` puts pages, and not where the plan's does."""

    name: str
    like: str
    pages: int


class PlannedPlace(msgspec.Struct, frozen=True):
    """Where ``regions`` want an array that moves: where the mapping ``like`` puts pages."""

    like: str
    regions: tuple[str, ...]


class PlannedMove(msgspec.Struct, frozen=True):
    """An array whose ``pages`` move whenever regions that want it in another place follow, ``times`` in the run.

    It starts in the first of the ``places``.
    """

    name: str
    pages: int
    times: float
    places: tuple[PlannedPlace, ...]


class PlannedApplication(msgspec.Struct, frozen=True):
    """A plan that was written to ``path`` for `run --plan`, under ``mapping``.

    By the replays, all regions are ``speedup`` times as fast with it, ``one_speedup`` times under ``one_mapping``, the
    best mapping for all, and at most ``bound`` times, each under its own best mapping. ``change_share`` is the share of
    their time in the plan that changes of teams cost. ``conflicts`` say which regions want the same data elsewhere.
    ``teams_stay`` says why no team is smaller than the mapping's, empty where some may be. ``time`` is what the plan
    takes off the time in regions, by runs of it and of the program as it is in turn, where that was asked for.
    ``moves`` are the arrays that move: they cost ``move_s`` seconds of the run, and gain ``move_gain_s`` over the best
    plan that moves none.
    """

    path: str
    mapping: str
    speedup: float
    one_mapping: str
    one_speedup: float
    bound: float
    change_share: float
    teams: tuple[PlannedTeam, ...]
    arrays: tuple[PlannedArray, ...]
    conflicts: tuple[str, ...]
    teams_stay: str = ""
    moves: tuple[PlannedMove, ...] = ()
    move_s: float = 0.0
    move_gain_s: float = 0.0
    time: TimeCost | None = None
