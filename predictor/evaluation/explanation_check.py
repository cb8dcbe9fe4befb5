"""How often explanations are right: each rule's claim against a dataset of programs whose nature is known.

The rules read a program's two probes; the claims are about its other runs, about its variant with the other
initialisation, or about how it was initialised. The programs are the codelets, whose names end in their initialisation.
A program's own group is left out of what its readings are compared with.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.native.errors import InsufficientDataError, NoModelError
from numapredict.predictor.advising.assignment import ProbeReading, reading_of
from numapredict.predictor.advising.evidence import Evidence, evidence_of
from numapredict.predictor.advising.verdicts import FASTER, LOCAL, bound_of, is_shared, pages_gain_nothing, pages_of
from numapredict.predictor.evaluation.ground_truth import PARALLEL, SERIAL, GroundTruth
from numapredict.predictor.learning.datasets import open_datasets
from numapredict.predictor.learning.features import Array, Observations, observe
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import choose_model
from numapredict.predictor.learning.options import Reads

BUSY = 1.5
"""Half the threads take less than this times as long where bandwidth binds a program."""

CLAIMS = {
    "one node": "the program initialises serially",
    "own nodes": "no page policy gains 10%",
    "shared": "no page policy makes 90% of the accesses local",
    "shared, nothing to gain": "no page policy gains 10%",
    "one node's memory": "interleaving alone gains 10%",
    "one node's bandwidth": f"half the threads take less than {BUSY} times as long",
    "all nodes' bandwidth": f"half the threads take less than {BUSY} times as long",
    "not memory": "page policies differ by less than 10%",
    "parallel first touch": "the variant so initialised gains 10%, and half of what the other probe does",
}
"""What each rule claims about a program beyond its two probes."""


class RuleScore(msgspec.Struct, frozen=True, kw_only=True):
    """One rule on one machine: how often it was stated, how often its claim was right, and the programs where not.

    ``reads`` is the rule's input in addition to the times: all counters, or only the share of local accesses.
    ``holds`` of ``cases`` is how often the claim is right for any program or mapping, stated or not: the rate of a
    guess.
    """

    machine: str
    reads: Reads
    rule: str
    said: int
    right: int
    holds: int
    cases: int
    wrong: tuple[str, ...]


class Case(msgspec.Struct, frozen=True):
    """One program, or one mapping of it, and a rule: whether it is stated, and whether its claim is right."""

    program: str
    said: bool
    right: bool


def check_explanations(dataset: Dataset, model: Model, controllers_GBps: Sequence[float] = ()) -> tuple[RuleScore, ...]:
    """Return every rule's score on a dataset of codelets, with the probes of a model of the same machine.

    ``controllers_GBps`` is what each node's memory controllers can read, if known. Claims about runs that were not
    measured are left out. Raises InsufficientDataError for programs that are not codelets, and if the default or a
    probe was not measured.
    """
    observations = observe(dataset, model.default)
    for mapping in (model.default, *(probe.mapping for probe in model.probes)):
        observations.column(mapping)
    programs = [name for name in observations.names if name.endswith((SERIAL, PARALLEL))]
    if not programs:
        raise InsufficientDataError(
            f"dataset of {dataset.machine}: no program's name ends in {SERIAL} or {PARALLEL}: collect codelets"
        )
    runs = {(m.program, m.mapping): m for m in dataset.measurements if m.status == "ok"}
    reached = _reached_without(observations, model.probes[1].mapping)
    full: dict[str, list[Case]] = {rule: [] for rule in CLAIMS}
    bare: dict[str, list[Case]] = {rule: [] for rule in CLAIMS}
    for program in programs:
        row = observations.names.index(program)
        ground_truth = GroundTruth(observations, row, model.default)
        found = (reading_of(runs[program, probe.mapping], observations.clock) for probe in model.probes)
        readings = [each for each in found if each is not None]
        shares = [ProbeReading(each.mapping, each.time_s, local_share=each.local_share) for each in readings]
        for cases, evidence in (
            (full, evidence_of(readings, model.default, reached[row], controllers_GBps)),
            (bare, evidence_of(shares, model.default, None)),
        ):
            if evidence is not None:
                rules = _said(evidence)
                for rule, right in _claims(evidence, ground_truth).items():
                    if right is not None:
                        cases[rule].append(Case(program, rule in rules, right))
    return (
        *(_score(dataset.machine, "bandwidth", rule, found) for rule, found in full.items()),
        *(_score(dataset.machine, "share", rule, found) for rule, found in bare.items()),
    )


def _score(machine: str, reads: Reads, rule: str, cases: Sequence[Case]) -> RuleScore:
    said = [case for case in cases if case.said]
    return RuleScore(
        machine=machine,
        reads=reads,
        rule=rule,
        said=len(said),
        right=sum(case.right for case in said),
        holds=sum(case.right for case in cases),
        cases=len(cases),
        wrong=tuple(dict.fromkeys(case.program for case in said if not case.right)),
    )


def _said(evidence: Evidence) -> set[str]:
    pages = pages_of(evidence)
    binds = bound_of(evidence, pages)
    nothing = pages_gain_nothing(evidence, pages)
    waits = binds in ("one node's bandwidth", "one node's memory")
    rules = {
        "one node": pages == "one node",
        "own nodes": pages == "own nodes" and nothing,
        "shared": is_shared(evidence),
        "shared, nothing to gain": is_shared(evidence) and nothing,
        "one node's memory": waits,
        "parallel first touch": waits,
    }
    return {binds, *(rule for rule, said in rules.items() if said)}


def _claims(evidence: Evidence, ground_truth: GroundTruth) -> dict[str, bool | None]:
    """Return whether each rule's claim is right for a program, None if that was not measured."""
    idle = ground_truth.gain_of_pages < FASTER
    busy = None if ground_truth.half is None else ground_truth.half < BUSY
    gained = ground_truth.initialised_in_parallel
    return {
        "one node": ground_truth.serial,
        "own nodes": idle,
        "shared": None if ground_truth.most_local is None else ground_truth.most_local < LOCAL,
        "shared, nothing to gain": idle,
        "one node's memory": None if ground_truth.interleaved is None else ground_truth.interleaved >= FASTER,
        "one node's bandwidth": busy,
        "all nodes' bandwidth": busy,
        "not memory": ground_truth.range_of_pages < FASTER,
        "parallel first touch": None if gained is None else gained >= max(FASTER, math.sqrt(evidence.speedup or 1.0)),
    }


def _reached_without(observations: Observations, mapping: AnyMapping) -> Sequence[float | None]:
    """Return for every program the greatest local bandwidth, in GB/s, of programs of other groups."""
    if observations.local_bandwidth_GBps is None:
        return [None] * len(observations.names)
    local: Array = observations.local_bandwidth_GBps[:, observations.column(mapping)]
    groups = np.asarray(observations.groups)
    return [float(local[groups != group].max()) for group in groups]


def check_datasets(names: Sequence[str]) -> tuple[RuleScore, ...]:
    """Return the rules' scores on each dataset, in the order of the names; NoModelError where there is no model."""
    found: list[RuleScore] = []
    wanted = tuple(dict.fromkeys(names))
    for name, dataset in zip(wanted, open_datasets(wanted), strict=True):
        if dataset.topology is None:
            raise InsufficientDataError(f"dataset of {dataset.machine}: its machine is not described, nor its mappings")
        chosen = choose_model(dataset.machine, dataset.topology)
        if chosen is None:
            raise NoModelError(f"there is no model for {dataset.machine}: numapredict train --dataset {name} makes one")
        described = dataset.modelled and dataset.machine in machine_names()
        controllers = load_description(dataset.machine).controller_read_GBps if described else ()
        found += check_explanations(dataset, chosen.model, controllers)
    return tuple(found)
