"""Which machines of a fleet help others: each is searched knowing the others alone, then all of these but one."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.progress import follow
from numapredict.predictor.evaluation.search_curve import ANSWERED, Sources, Space, knowledge, searched, space_of
from numapredict.predictor.learning.dataset_gains import machine_gains
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.scores import score_of
from numapredict.predictor.searching.gains_file import MachineGains
from numapredict.predictor.searching.machine_features import most_alike


class Helper(msgspec.Struct, frozen=True):
    """A machine that a search knew, and the gain captured that it added: what is lost without it, and is not with it.

    None where it was the only one.
    """

    machine: str
    added: float | None


class MachineHeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """What searches capture of the gain of a machine's programs after four runs, knowing other machines alone.

    The asked program's group is left out there, too. None where the machine has nothing to gain.
    """

    machine: str
    modelled: bool
    programs: int
    gain_captured: float | None
    helpers: tuple[Helper, ...]


@dataclass(frozen=True, eq=False)
class FleetMember:
    """A machine of a fleet, without its dataset: its times, the column of its default, and what it adds to others."""

    observations: Observations
    default: int
    space: Space | None
    gains: MachineGains


def fleet_member(dataset: Dataset, default: AnyMapping) -> FleetMember:
    """Return what a fleet needs of a machine's dataset; NoModelError where its mappings are foreign."""
    observations = observe(dataset, default)
    gains = machine_gains(dataset, default, observations)
    return FleetMember(observations, observations.column(default), space_of(dataset, observations), gains)


def machines_held_out(machines: Sequence[FleetMember]) -> tuple[MachineHeldOut, ...]:
    """Return each machine's result, in their order; nothing for a single one."""
    found = []
    for number, asked in enumerate(machines) if len(machines) > 1 else ():
        own = asked.gains
        others = most_alike(own.topology, [each.gains for at, each in enumerate(machines) if at != number])
        known = [others, *([each for each in others if each is not left] for left in others if len(others) > 1)]
        said = f"searches on {own.machine} by other machines"
        captured = [_captured(asked, each) for each in follow(known, len(known), said)]
        added = captured[1:] or [None]
        found.append(
            MachineHeldOut(
                machine=own.machine,
                modelled=own.modelled,
                programs=len(asked.observations.programs),
                gain_captured=captured[0],
                helpers=tuple(
                    Helper(each.machine, None if left is None or captured[0] is None else captured[0] - left)
                    for each, left in zip(others, added, strict=True)
                ),
            )
        )
    return tuple(found)


def _captured(asked: FleetMember, others: Sequence[MachineGains]) -> float | None:
    # A group that only one machine has leaves that machine without programs for it, and is then not asked about.
    groups = asked.observations.groups
    rows = [row for row, group in enumerate(groups) if all(set(each.groups) - {group} for each in others)]
    observations = asked.observations.rows(rows)
    knows = knowledge(observations, asked.default, asked.space, Sources(tuple(others), without_machine=True))
    best = gains_of(observations.time_s, asked.default).max(axis=1)
    gained = searched(observations, asked.default, knows).gain[:, ANSWERED - 1]
    return score_of(np.asarray(gained), best, observations.groups).gain_captured


def held_out_in_words(found: Sequence[MachineHeldOut]) -> list[str]:
    """Return a table: a row a machine, with what its searches capture without it, and what each other machine added."""
    lines = []
    for each in found:
        made = " (modelled)" if each.modelled else ""
        lines.append(
            f"{each.machine}{made}, {each.programs} programs: {_number(each.gain_captured)} of the gain captured"
        )
        lines += [f"  {helper.machine}: {_number(helper.added, '+')}" for helper in each.helpers]
    return lines


def _number(value: float | None, sign: str = "") -> str:
    return "nothing to compare" if value is None else f"{value:{sign}.2f}"
