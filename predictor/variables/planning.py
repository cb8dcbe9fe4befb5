"""Writes the plan of variables that are worth placing elsewhere, and says what it gains where a model can."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.placement import Placement
from numapredict.collect.placing.page_plan import PagePlan, joined
from numapredict.collect.placing.plan_file import Plan, builds_of, write_plan
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.program import program_as_typed
from numapredict.collect.terminal.progress import doing
from numapredict.native.errors import (
    MissingNativePartError,
    TracingError,
    UnrunnableProgramError,
    UnwritableError,
)
from numapredict.predictor.variables.grouping import KINDS
from numapredict.predictor.variables.plan_gain import modelled_gains
from numapredict.predictor.variables.variable import PlacedVariable, VariablePlan

Placed = Sequence[tuple[PlacedVariable, PagePlan]]


def builds_in(profile: Profile) -> tuple[tuple[str, str], ...]:
    """Return the modules of a profile's ranges with what tells their builds apart: as in its run, if that is known."""
    paths = dict.fromkeys(one.module for one in profile.ranges if one.module and KINDS.get(one.kind) != "file")
    known = tuple((path, profile.build_ids[path]) for path in paths if path in profile.build_ids)
    return known + builds_of(path for path in paths if path not in profile.build_ids)


def planned(
    placed: Placed,
    placement: Placement,
    path: Path,
    machine: str | None,
    command: tuple[str, ...],
    modules: tuple[tuple[str, str], ...] = (),
) -> tuple[VariablePlan | None, tuple[str, ...]]:
    """Write the plan of all that is placed and return it, None where nothing is, and remarks.

    ``modules`` are the files that it is for (``builds_in``). On a described machine the command is traced, and the
    model says what each variable gains. UnwritableError where the plan cannot be written.
    """
    if not placed:
        return None, (f"nothing is worth placing elsewhere: {path} was not written",)
    variables, plans = [one for one, _ in placed], [each for _, each in placed]
    whole = joined(plans)
    try:
        where = placement.topology
        write_plan(Plan(where.fingerprint, where.name, placement.mapping.label, modules, pages=whole), path)
    except OSError as error:
        raise UnwritableError(f"cannot write the plan {path}: {error.strerror or error}; name another file") from error
    written = VariablePlan(path=str(path), mapping=placement.mapping.label, variables=tuple(variables))
    if machine is None or not command:
        return written, ()
    program = program_as_typed(command)
    try:
        with doing(f"tracing {program.name} for what the plan gains"):
            speedup, *each = modelled_gains(modelled_machine(machine), program, placement, [whole, *plans])
    except (TracingError, MissingNativePartError, UnrunnableProgramError) as error:
        return written, (f"what the plan gains is not known: {error}",)
    gains = zip(variables, each, strict=True)
    variables = [msgspec.structs.replace(one, speedup=gain) for one, gain in gains]
    return msgspec.structs.replace(written, variables=tuple(variables), speedup=speedup), ()
