"""Where the pages of single variables should go, with all others left to first touch: what a remedy gains, untouched.

Data that all threads use is interleaved over the nodes of the threads; data that each thread uses parts of goes where
its threads are, as if these had initialised it.
"""

from collections.abc import Sequence

from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.page_plan import PagePlan, key_of, pages_of, plan_of
from numapredict.collect.placing.profile_file import Profile
from numapredict.native.errors import UsageError
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.remedy import PLACED
from numapredict.predictor.variables.variable import How, PlacedVariable, Variable
from numapredict.predictor.variables.variables_text import name_of

_HOW: dict[PagePolicy, How] = {
    "interleave": "interleaved",
    "locality": "with its threads",
}

Judged = tuple[Found, Variable]


def plans_of(
    judged: Sequence[Judged], names: Sequence[str], profile: Profile, placement: Placement
) -> list[tuple[PlacedVariable, PagePlan]]:
    """Return the plan of each variable with one of these names, or of each that is worth it if none is named.

    UsageError for a name that no variable has, or whose variable is not worth it or cannot be placed alone.
    """
    return placed_alone(_chosen(judged, names, profile), profile, placement)


def placed_alone(
    chosen: Sequence[Judged], profile: Profile, placement: Placement
) -> list[tuple[PlacedVariable, PagePlan]]:
    """Return the plan of each of these variables, whose remedies place pages."""
    plans, mapping = [], placement.mapping
    for found, variable in chosen:
        policy = PLACED[variable.remedy.action]
        there = resolve(mapping.replaced(page_policy=policy, page_nodes=mapping.thread_nodes), placement.topology)
        plan = plan_of(profile, there, found.ranges)
        plans.append((PlacedVariable(name_of(variable), _HOW[policy], pages_of(plan)), plan))
    return plans


def _chosen(judged: Sequence[Judged], names: Sequence[str], profile: Profile) -> list[Judged]:
    known = [variable.name for _, variable in judged if variable.name is not None]
    for name in names:
        if name not in known:
            raise UsageError(f"no variable {name} was sampled; these were: {', '.join(dict.fromkeys(known)) or 'none'}")
    chosen = [
        (found, variable)
        for found, variable in judged
        if variable.remedy.action in PLACED and (variable.name in names if names else True)
    ]
    for name in names:
        if name not in [variable.name for _, variable in chosen]:
            raise UsageError(f"variable {name} is not worth placing elsewhere: leave it out of --variable")
    alone = [each for each in chosen if is_placed_alone(each[0], profile)]
    if names and len(alone) < len(chosen):
        raise UsageError(
            "a static variable of a file without symbols cannot be placed alone: its neighbours share its range; "
            "build without stripping"
        )
    return alone


def is_placed_alone(found: Found, profile: Profile) -> bool:
    """Return whether a variable has all of its ranges: a part of one is known to a plan only as a whole."""
    return {key_of(known) for known in profile.ranges}.issuperset(map(key_of, found.ranges))
