"""What a plan for a whole application is: what is chosen for regions and arrays, and what could not be reconciled."""

from collections.abc import Mapping
from dataclasses import dataclass

from numapredict.predictor.regions.team_changes import Team


@dataclass(frozen=True)
class ChosenRegion:
    """A region's way to run in a plan: as it was replayed under ``mapping``; ``team`` where it is not the plan's."""

    number: int
    mapping: str
    speedup: float
    team: Team | None
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Moved:
    """An array that moves ``times`` in a run between the ``places``, which are labels of mappings.

    It starts in the first one. ``of`` has the number of the place that each region wants which uses it.
    """

    array: int
    places: tuple[str, ...]
    of: Mapping[int, int]
    times: float


@dataclass(frozen=True)
class Conflict:
    """A region that would be ``speedup`` times as fast as in the plan with its arrays on the pages of ``wanted``.

    ``arrays`` are those that are elsewhere, and ``others`` the regions that use these and want them there. That costs
    ``lost_s`` in the whole run. To move them for it, ``times`` in the run, would cost ``cost_s``, changes of teams
    included; None where not all of its data can be moved.
    """

    number: int
    wanted: str
    speedup: float
    arrays: tuple[int, ...]
    others: tuple[int, ...]
    lost_s: float
    times: float = 0.0
    cost_s: float | None = None


@dataclass(frozen=True)
class ApplicationPlan:
    """What is chosen: the mapping by its label, each replayed region's way to run, the arrays that go elsewhere.

    ``speedup`` is that of all regions with ``change_s`` seconds for changes of teams, and ``move_s`` for moves of
    pages; ``one_mapping`` is the best mapping for all regions, of the same times, with ``one_speedup``. ``pages`` has
    the label of a mapping that says where each array goes, for those that do not go where the plan's mapping puts all
    memory; ``moved`` those that regions want in several places. Because of these the regions take ``move_gain_s`` less
    than in the best plan that moves none, before ``move_s``.
    """

    mapping: str
    regions: tuple[ChosenRegion, ...]
    pages: Mapping[int, str]
    speedup: float
    change_s: float
    one_mapping: str
    one_speedup: float
    conflicts: tuple[Conflict, ...] = ()
    moved: tuple[Moved, ...] = ()
    move_s: float = 0.0
    move_gain_s: float = 0.0
