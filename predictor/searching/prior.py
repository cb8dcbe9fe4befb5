"""What a search knows before its first run: the gains of known programs, here or carried over from other machines."""

import importlib.resources
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from numapredict.collect.domain import most_domains
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, USUAL, PagePolicy
from numapredict.collect.space import default_mapping, full_space
from numapredict.collect.terminal.printable import counted, name_cell
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError
from numapredict.predictor.searching.carried_gains import carried_knowledge, mapping_features
from numapredict.predictor.searching.gains_file import MachineGains, read_gains
from numapredict.predictor.searching.known_gains import (
    Array,
    KnownGains,
    joined,
    known_gains,
    wants_others,
    with_others,
)
from numapredict.predictor.searching.machine_features import most_alike


@dataclass(frozen=True, eq=False)
class Prior:
    """The mappings that a search may run, and what known programs gained from them over ``default``'s column.

    ``origin`` says in words where these programs ran.
    """

    mappings: tuple[Mapping, ...]
    known: KnownGains
    default: int
    origin: str

    def over(self, column: int) -> KnownGains:
        """Return the gains over another mapping than the default."""
        if column == self.default:
            return self.known
        return replace(self.known, gains=self.known.gains - self.known.gains[:, [column]])

    def nearest(self, wanted: Mapping, topology: Topology) -> int:
        """Return the column of the mapping that is most like ``wanted``: page policy, then threads, then the rest."""
        same = [n for n, mapping in enumerate(self.mappings) if mapping.page_policy == wanted.page_policy]
        off = {n: abs(math.log2(self.mappings[n].threads / wanted.threads)) for n in same}
        columns = [n for n in same if off[n] == min(off.values())]
        features = mapping_features([wanted, *(self.mappings[column] for column in columns)], topology)
        return columns[int(((features[1:] - features[0]) ** 2).sum(axis=1).argmin())] if columns else self.default

    def with_policies(
        self, page_policies: Collection[PagePolicy], topology: Topology, supports: Callable[[Mapping], bool]
    ) -> "Prior":
        """Return it with the supported mappings of those policies that are in no space unless asked for.

        They are expected to gain what the nearest mapping does by the policy that is nearest to theirs.
        """
        asked = tuple(policy for policy in PAGE_POLICIES if policy in page_policies and policy not in USUAL)
        known = set(self.mappings)
        more = [
            each
            for each in full_space(topology, smt=False, l3s=False, page_policies=asked)
            if each not in known and supports(each)
        ]
        alike = [self.nearest(each.replaced(page_policy=FACTS[each.page_policy].nearest), topology) for each in more]
        columns = [*range(len(self.mappings)), *alike]
        gains = self.known.gains[:, columns]
        return replace(self, mappings=(*self.mappings, *more), known=replace(self.known, gains=gains))


def shipped_file() -> Path:
    """Return the file of the gains that ship."""
    return Path(str(importlib.resources.files("numapredict.training_data"))) / "known_gains.msgpack"


def shipped_gains(topology: Topology | None) -> tuple[MachineGains, ...]:
    """Return the gains that ship, as far as they say anything of a topology; InvalidInputError for a damaged file.

    What is gained by L3 caches counts only where nodes have several: on the times that MCTOP measured on lpd48core,
    a search of four runs that knows it, too, gains 1.11x, not 1.18x.
    """
    splits = topology is not None and most_domains(topology) > 1
    return tuple(each for each in read_gains(shipped_file()) if splits or most_domains(each.topology) == 1)


def kept_gains_path(trained: Path) -> Path:
    """Return where `numapredict regions --keep` keeps what regions of programs gained, beside ``trained``."""
    return trained.with_suffix(".regions")


def fleet_gains_path(models: Path) -> Path:
    """Return where `numapredict train --fleet` keeps what programs gained on all machines, in a folder of models."""
    return models / "fleet.gains"


def prior_of(
    machine: str, topology: Topology, trained: Path, supports: Callable[[Mapping], bool], *, modelled: bool
) -> Prior:
    """Return what is known of a machine: by the gains ``trained`` here, if there is such a file, else by its kind's.

    Those are the fleet's or shipped ones of its name and shape. Other machines', of those most like it, join where its
    own programs are few, and are all there is without any; whether it is ``modelled`` itself decides how they are
    carried over. Only mappings that it ``supports`` are in it. InvalidInputError for a damaged file.
    """
    shipped, fleet_at = shipped_gains(topology), fleet_gains_path(trained.parent)
    fleet = read_gains(fleet_at) if fleet_at.is_file() else ()
    known = {each.machine for each in fleet}
    here = read_gains(trained) if trained.is_file() else (*fleet, *shipped)
    fitting = [each for each in here if each.topology.fingerprint == topology.fingerprint]
    own = next((each for each in fitting if each.machine == machine), None)
    # A fleet may have one processor in several shapes (NPS, SNC); what ships has another shape only by mistake.
    others = [each for each in fleet if (each.machine, each.topology.fingerprint) != (machine, topology.fingerprint)]
    others += [each for each in shipped if each.machine != machine and each.machine not in known]
    kept_at = kept_gains_path(trained)
    kept = [] if modelled or not kept_at.is_file() else read_gains(kept_at)
    regions = next((each for each in kept if each.topology.fingerprint == topology.fingerprint), None)
    return known_of(topology, own, most_alike(topology, others), supports, modelled=modelled, regions=regions)


def known_of(
    topology: Topology,
    own: MachineGains | None,
    others: Sequence[MachineGains],
    supports: Callable[[Mapping], bool],
    *,
    modelled: bool,
    regions: MachineGains | None = None,
) -> Prior:
    """Return the knowledge of a machine's ``own`` programs, if there are any, and of ``others``'.

    Programs whose ``regions`` were replayed on it weigh as much as its own do, each as one, if their default is the
    same.
    """
    few = own is None or wants_others(own.groups, len(own.mappings))
    # Without any known gain of mappings with several threads a core, or over L3 caches, none of them competes.
    elsewhere = [mapping for each in others for mapping in each.parsed]
    smt = any(mapping.threads_per_core > 1 for mapping in elsewhere)
    l3s = any(mapping.thread_l3s for mapping in elsewhere)
    wanted = dict.fromkeys((*(full_space(topology, smt=smt, l3s=l3s) if few else ()), *(own.parsed if own else ())))
    default = default_mapping(topology) if own is None else own.parsed[own.mappings.index(own.default)]
    mappings = tuple(mapping for mapping in wanted if mapping == default or supports(mapping))
    column = mappings.index(default)
    if regions is not None and regions.default != default.label:
        regions = None
    features = mapping_features(mappings, topology) if few or regions is not None else None
    known = None if own is None else known_gains(_own_gains(own, mappings, features, column), own.groups)
    if regions is not None:
        kept = known_gains(_own_gains(regions, mappings, features, column), regions.groups)
        groups = [len(set(each.groups)) for each in (known, kept) if each is not None]
        known = kept if known is None else joined([known, kept], [count / sum(groups) for count in groups])
    if few and features is not None and others:
        carried = carried_knowledge(others, features, column, modelled=modelled)
        known = carried if known is None else with_others(known, carried)
    if known is None:
        raise NoModelError(f"nothing is known of {topology.name}: install numapredict again, or train here")
    return Prior(mappings, known, column, _in_words([*filter(None, (own, regions)), *(others if few else ())]))


def _own_gains(own: MachineGains, mappings: Sequence[Mapping], features: Array | None, default: int) -> Array:
    """Return the gains of a machine's own programs, carried over to the mappings under which they did not run."""
    at = {mapping: column for column, mapping in enumerate(own.parsed)}
    ran = [column for column, mapping in enumerate(mappings) if mapping in at]
    measured = own.gains[:, [at[mappings[column]] for column in ran]]
    if features is None or len(ran) == len(mappings):
        return measured
    gains = carried_knowledge([own], features, default, modelled=own.modelled).gains
    gains[:, ran] = measured
    return gains


def _in_words(origins: Sequence[MachineGains]) -> str:
    programs = counted(sum(len(each.groups) for each in origins), "program")
    names = ", ".join(name_cell(each.machine) for each in origins)
    return f"{programs} on {names}" + (" (modelled)" if any(each.modelled for each in origins) else "")
