"""Learns from all machines of a fleet: what their programs gained, for searches on each of them and on others."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.dataset_store import LeftOut, opened_store
from numapredict.collect.data.outliers import outliers_in_words, without_outliers
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.collect.terminal.progress import doing, follow
from numapredict.native.errors import InsufficientDataError, InvalidInputError
from numapredict.predictor.evaluation.machines_held_out import (
    FleetMember,
    MachineHeldOut,
    fleet_member,
    held_out_in_words,
    machines_held_out,
)
from numapredict.predictor.learning.fleet_machines import kinds_of, machine_of
from numapredict.predictor.learning.learning import Wishes, options_of
from numapredict.predictor.learning.model_choice import models_folder
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.gains_file import MachineGains, write_gains
from numapredict.predictor.searching.prior import fleet_gains_path

log = logging.getLogger(__name__)


class FleetMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of machine of a fleet: how many datasets it has, and what came of them."""

    machine: str
    modelled: bool
    topology: str
    datasets: int
    programs: int
    mappings: int


class LearnedFleet(msgspec.Struct, frozen=True, kw_only=True):
    """What `train --fleet --json` prints: ``path`` is the file that searches read, ``topology`` a fingerprint.

    ``left_out`` names what of the stores was not learned from; ``held_out`` has each machine's searches without it.
    """

    path: str
    machines: tuple[FleetMachine, ...]
    left_out: tuple[LeftOut, ...]
    held_out: tuple[MachineHeldOut, ...] = ()


def learn_fleet(places: Sequence[str], output: Path | None, wishes: Wishes, *, held_out: bool) -> LearnedFleet:
    """Learn from the datasets in stores, write what searches read, and return what was learned.

    InvalidInputError for a store that cannot be read or holds nothing.
    """
    known: list[FleetMachine] = []
    gains: list[MachineGains] = []
    members: list[FleetMember] = []
    left_out: list[LeftOut] = []
    with ExitStack() as stack:
        with doing(f"reading {', '.join(places)}"):
            stores = [stack.enter_context(opened_store(place)) for place in dict.fromkeys(places)]
        left_out += [each for store in stores for each in store.left_out]
        stored = {each.name: each for store in stores for each in store.datasets}
        kinds = kinds_of(list(stored.values()), left_out)
        for kind in follow(kinds, len(kinds), "machines learned from"):
            machine = machine_of(kind, left_out)
            if machine is None:
                continue
            try:
                member = _member(machine[0], wishes)
            except InsufficientDataError as error:
                left_out.append(LeftOut(machine[0].machine, str(error)))
                continue
            gains.append(member.gains)
            known.append(_described(member.gains, machine[1]))
            if held_out:  # else the times of all machines are not kept
                members.append(member)
    for each in left_out:
        log.warning(printable(f"left out: {each.path}: {each.reason}"))
    if not known:
        raise InvalidInputError(f"{', '.join(places)}: there is nothing to learn from; collect datasets first")
    if held_out and len(known) == 1:
        log.warning(f"--held-out: {printable(known[0].machine)} is the only machine: there are no others to search by")
    path = output or fleet_gains_path(models_folder())
    write_gains(gains, path)
    return LearnedFleet(
        path=str(path), machines=tuple(known), left_out=tuple(left_out), held_out=machines_held_out(members)
    )


def _described(gains: MachineGains, datasets: int) -> FleetMachine:
    return FleetMachine(
        machine=gains.machine,
        modelled=gains.modelled,
        topology=gains.topology.fingerprint,
        datasets=datasets,
        programs=len(gains.groups),
        mappings=len(gains.mappings),
    )


def _member(dataset: Dataset, wishes: Wishes) -> FleetMember:
    default = default_of(dataset, options_of(wishes.default, None, dataset))
    if not wishes.keep_outliers:
        dataset, outliers = without_outliers(dataset)
        if outliers:
            log.warning(outliers_in_words(outliers, dataset.machine, default.label))
    return fleet_member(dataset, default)


def fleet_in_words(found: LearnedFleet) -> str:
    """Return a line a machine, what each adds to the others' searches, and where it was written."""
    lines = []
    for each in found.machines:
        made = ", modelled" if each.modelled else ""
        programs, mappings = counted(each.programs, "program"), counted(each.mappings, "mapping")
        source = counted(each.datasets, "dataset")
        lines.append(f"{name_cell(each.machine)} ({each.topology}{made}): {programs} under {mappings}, of {source}")
    if found.held_out:
        lines += ["", "searches of 4 runs that know the other machines alone, and what each of these added:"]
        lines += map(printable, held_out_in_words(found.held_out))
    return "\n".join([*lines, "", f"{found.path}: what searches know of {counted(len(found.machines), 'machine')}"])
