"""Advice on one program: run its two probes, predict, and return the answer as a record."""

import logging
import os
from collections.abc import Iterable
from typing import Literal

import msgspec

from numapredict.collect.campaign.codelets import variant_in_words
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.seen_regions import CUT_CENSUS, SHARE, compared_in_words, in_common
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import run_command
from numapredict.collect.placing.exit_code import exit_code_of, exit_codes_in_words
from numapredict.collect.placing.start import NUMACTL, PLACEMENT
from numapredict.collect.placing.teams import teams_of
from numapredict.collect.placing.tools.emission import Emission, emit, expresses
from numapredict.collect.placing.tools.tools import TOOLS, Tool
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import command_line
from numapredict.collect.terminal.progress import doing
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.evidence import evidence_of, reached_by
from numapredict.predictor.advising.explanation import Explanation, explain
from numapredict.predictor.advising.own_threads import OwnThreads, depends_in_words, model_of_threads, own_team
from numapredict.predictor.advising.predict import Prediction, ProbeReading, predict, reading_of
from numapredict.predictor.advising.region_run import RegionRun, region_runs
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.advising.unseen import ENOUGH_SEEN, LEAST_SEEN, with_unseen
from numapredict.predictor.advising.verification import Verification, verify
from numapredict.predictor.learning.model import ExpectedSpeedup, Member, Model, RankedMapping
from numapredict.predictor.learning.model_choice import ChosenModel
from numapredict.predictor.learning.options import Reads
from numapredict.predictor.learning.store import check_topology

_AMBIGUOUS = 0.6  # below this the answer comes with a warning

_SMALLER = "a smaller input, or fewer time steps, so that more of its regions run within the budget"
_LONGER = "more time: --cpu-seconds, up to 3600"
_TRAIN = "numapredict train, which keeps the measurements that this takes"
_ASK_FOR_THREADS = "the program with its number of threads set by OMP_NUM_THREADS, if it allows that"

TWO_CLUSTERS = "another cluster is nearly as close"
"""A warning that concerns the similar programs alone, unless the cluster chose the mapping."""

NEARLY_ALL = 0.9
"""From this share of a run on, a speedup of that part counts as the whole run's: the interval covers the difference."""

log = logging.getLogger(__name__)


class AdviceProbe(msgspec.Struct, frozen=True):
    """One probe run: ``time_s`` is the run time by the model's clock, ``features`` are all readings.

    ``noise`` is the standard error of the time in log2 over its repetitions; None if there are too few.
    """

    mapping: AnyMapping
    time_s: float
    features: dict[str, float]
    noise: float | None = None


class AdviceCluster(msgspec.Struct, frozen=True):
    """The cluster that the program was assigned to; ``descriptions`` describe its members in words.

    ``speedup`` is what the advised mapping gave the members, from the least to the greatest; None for the default.
    """

    id: int
    members: tuple[str, ...]
    centroid: str
    descriptions: tuple[str, ...]
    speedup: ExpectedSpeedup | None = None


class Alternative(msgspec.Struct, frozen=True):
    """The command of a tool that needs no preload library.

    ``mapping`` is what it applies, and ``exact`` whether that is the advised mapping; otherwise it is the best-ranked
    mapping that the tool can express or, if there is none, the nearest one, whose speedup is not known. Its expected
    speedup has the advised mapping's discount and is never above it. ``note`` has remarks, ``cautions`` conditions.
    """

    tool: Tool
    mapping: AnyMapping
    expected_speedup: ExpectedSpeedup | None
    command: str
    exact: bool
    note: str
    cautions: tuple[str, ...] = ()


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, as `--json` prints it; speedups are over ``default``.

    ``clock`` is ``regions`` where times and speedups are those of the parallel regions, ``process`` where they are of
    the whole run. ``region_share`` is the regions' part of the slower probe's run time, where it is known.
    ``confidence`` is the probability that the mapping beats the default, None for the default itself and without
    a gain model. ``ambiguity`` is 0 for a clear choice of cluster and 1 for a toss-up; ``familiar`` is false
    for a program unlike any in the training data. ``trace_share`` is the part of the program's region time that
    was seen, for modelled runs; ``whole_program`` is false when the native run that counts regions had to be stopped.
    ``verification`` is the result of running default and choice alternately, if requested and if they differ; if the
    choice did not win, ``mapping`` is the default. ``judged_by`` is what was read in addition to the probes' times:
    ``bandwidth`` by counters, without them the sampled ``share`` of local accesses, or ``times`` alone.
    ``explanation`` says why, as far as the readings show. ``exit_code`` is what the program ends with, though its
    parallel regions ran. ``own_threads`` is set for a program that fixes its own number of threads: only mappings
    with that number are considered, and ``default`` is what it runs under today. ``answer`` distinguishes advice from
    ``Unknown``.
    ``command`` applies the mapping exactly, with the preload library, and ``alternatives`` without it as far as each
    tool can; ``alternative`` is numactl's. ``warnings`` say what makes the answer doubtful. ``regions`` has the time of
    each parallel region under each probe, where they are known, that of the default first.
    """

    program: str
    machine: str
    modelled: bool
    model: str
    default: AnyMapping
    mapping: AnyMapping
    expected_speedup: ExpectedSpeedup
    confidence: float | None
    clock: str
    region_share: float | None
    trace_share: float | None
    whole_program: bool
    ambiguity: float
    familiar: bool
    cluster: AdviceCluster
    probes: tuple[AdviceProbe, ...]
    command: str
    alternative: Alternative
    alternatives: tuple[Alternative, ...]
    warnings: tuple[str, ...]
    judged_by: Reads
    explanation: Explanation
    verification: Verification | None = None
    exit_code: int = 0
    own_threads: OwnThreads | None = None
    regions: tuple[RegionRun, ...] = ()
    answer: Literal["advised"] = "advised"


def whole_run(share: float, speedup: float) -> float | None:
    """Return the whole run's speedup by that of a ``share`` of it (Amdahl's law), None if the share is nearly 1."""
    return None if share >= NEARLY_ALL else 1 / (1 - share + share / speedup)


def advise(
    program: Program,
    machine: Machine,
    chosen: ChosenModel,
    *,
    verifier: Machine | None = None,
) -> Advice | Unknown:
    """Run the model's probes on the machine and return the advice, or ``Unknown`` if too little was seen.

    With a ``verifier``, the same machine set to single runs, the default and the advised mapping run there alternately,
    and a change is advised only if it measures faster. Raises NoModelError for a model of another topology,
    UnrunnableProgramError for a failed probe, InsufficientDataError for one that lacks a reading that the model
    needs, and the machine's own errors.
    """
    model, own = chosen.model, None
    check_topology(model, machine.topology)
    measured = _probed(program, machine, model)
    showing = next((m for m in measured if own_team(m) is not None), None)
    if showing is not None:
        try:
            with doing("training on mappings with as many threads"):
                model, own = model_of_threads(model, showing, machine.topology)
        except InsufficientDataError as error:
            return _unknown(program, chosen, measured, str(error), (_TRAIN, _ASK_FOR_THREADS))
        measured = _probed(program, machine, model, own)
        if reason := depends_in_words(own, showing, measured):
            return _unknown(program, chosen, measured, reason, (_ASK_FOR_THREADS,))
        log.warning(own.text)
    measured = list(in_common(measured))
    readings = [reading_of(measurement, model.clock) for measurement in measured]
    for line in (*exit_codes_in_words(measured), *compared_in_words(measured)):
        log.warning(line)
    share, default = seen_share(measured), applicable(model.default)
    if share is not None and share < LEAST_SEEN:
        reason = f"the traces saw {share:.0%} of its region time, and below {LEAST_SEEN:.0%} there is no answer"
        return _unknown(program, chosen, measured, reason, (_SMALLER, _LONGER))
    prediction = predict(model, readings, lambda mapping: machine.supports(applicable(mapping)))
    if share is not None:
        prediction = with_unseen(prediction, default, share)
    verification = None
    if verifier is not None and prediction.mapping != default:
        verification = verify(program, verifier, (default, applicable(prediction.mapping)), model.clock)
        if not verification.won:
            prediction = _keeping(default, prediction)
    lost = verification is not None and not verification.won
    evidence = evidence_of(readings, default, reached_by(model), machine.controllers_GBps)
    if evidence is not None and lost:  # the verification contradicts the probes' times
        evidence = msgspec.structs.replace(evidence, speedup=None)
    alternatives = {tool: _alternative(tool, prediction, machine, program) for tool in TOOLS}
    return Advice(
        program=command_line(program.command),
        machine=machine.name,
        modelled=machine.modelled,
        model=chosen.origin,
        default=default,
        mapping=prediction.mapping,
        expected_speedup=prediction.expected_speedup,
        confidence=prediction.confidence,
        clock=model.clock,
        region_share=_region_share(measured),
        trace_share=seen_share(measured),
        whole_program=not _is_cut(measured),
        ambiguity=prediction.ambiguity,
        familiar=prediction.familiar,
        cluster=_cluster(prediction, default),
        probes=tuple(_probe(reading) for reading in readings),
        command=run_command(applicable(prediction.mapping), program),
        alternative=alternatives["numactl"],
        alternatives=tuple(alternatives.values()),
        warnings=_warnings(measured, prediction),
        judged_by=prediction.reads,
        explanation=explain(evidence, prediction, default, expects=model.gain_model is not None and not lost),
        verification=verification,
        exit_code=max(map(exit_code_of, measured)),
        own_threads=own,
        regions=region_runs(sorted(measured, key=lambda measurement: measurement.mapping != default)),
    )


def _unknown(
    program: Program, chosen: ChosenModel, measured: list[Measurement], reason: str, to_try: tuple[str, ...]
) -> Unknown:
    return Unknown(
        program=command_line(program.command),
        machine=measured[0].machine,
        modelled=measured[0].modelled,
        model=chosen.origin,
        reason=reason,
        to_try=to_try,
        trace_share=seen_share(measured),
        probes=tuple(reading_of(measurement, chosen.model.clock) for measurement in measured),
        warnings=_warnings(measured, None),
    )


def _probed(program: Program, machine: Machine, model: Model, own: OwnThreads | None = None) -> list[Measurement]:
    """Return the probes' measurements; only the first if it shows that the program sets its own number of threads."""
    measured: list[Measurement] = []
    for number, probe in enumerate(model.probes, 1):
        log.info(f"probe {number} of {len(model.probes)}: {program.name} under {probe.mapping}")
        measurement = machine.run(program, applicable(probe.mapping))
        reading = reading_of(measurement, model.clock)
        measured.append(measurement)
        if own is None and own_team(measurement) is not None:
            break
        log.info(f"probe {number} of {len(model.probes)}: {seconds_in_words(reading.time_s)}")
    return measured


def _keeping(default: AnyMapping, prediction: Prediction) -> Prediction:
    """Return the prediction with the default as its advice, at a speedup of 1."""
    none = RankedMapping(default, ExpectedSpeedup(1.0, 1.0, 1.0))
    others = tuple(ranked for ranked in prediction.ranked if ranked.mapping != default)
    return msgspec.structs.replace(
        prediction, mapping=default, expected_speedup=none.expected_speedup, confidence=None, ranked=(none, *others)
    )


def _cluster(prediction: Prediction, default: AnyMapping) -> AdviceCluster:
    cluster = prediction.cluster
    speedups = {each.mapping: each.expected_speedup for each in cluster.ranked if each.mapping != default}
    groups: dict[str, list[Member]] = {}
    for member in sorted(cluster.members, key=lambda member: member.name != cluster.centroid):
        groups.setdefault(member.group or member.name, []).append(member)
    return AdviceCluster(
        id=cluster.id,
        members=tuple(member.name for member in cluster.members),
        centroid=cluster.centroid,
        descriptions=tuple(_group_in_words(group, members) for group, members in groups.items()),
        speedup=speedups.get(prediction.mapping),
    )


def _group_in_words(group: str, members: list[Member]) -> str:
    """Return the variants of one code in words: `jacobi-2d (medium.serial): Sweeps a stencil.`."""
    variants = [member.name.removeprefix(f"{group}.") for member in members if member.name != group]
    shown = f" ({', '.join(variants[:3])}{', ...' if len(variants) > 3 else ''})" if variants else ""
    first = members[0]
    summary = first.summary.removesuffix(variant_in_words(first.name.removeprefix(f"{group}.")))
    return f"{group}{shown}" + (f": {summary}" if summary else "")


def _probe(reading: ProbeReading) -> AdviceProbe:
    features = {"time_s": float(reading.time_s)}
    if reading.local_bandwidth_GBps is not None:
        features["local_bandwidth_GBps"] = float(reading.local_bandwidth_GBps)
    if reading.local_share is not None:
        features["local_share"] = float(reading.local_share)
    return AdviceProbe(reading.mapping, features["time_s"], features, reading.noise)


def _alternative(tool: Tool, prediction: Prediction, machine: Machine, program: Program) -> Alternative:
    """Return the advised mapping if the tool can express it, else the best-ranked other one that it can express.

    Mappings with a higher expected speedup than the advised one are skipped: none may be presented as better.
    """
    topology, shell = machine.topology, dict(os.environ)
    emission = emit(tool, resolve(applicable(prediction.mapping), topology), program, shell)
    if emission.exact:
        return _emitted(tool, prediction.mapping, prediction.expected_speedup, emission)
    most = prediction.expected_speedup.median
    ranked = [one for one in prediction.ranked if one.expected_speedup.median <= most]
    if prediction.confidence is None:
        ranked.sort(key=lambda one: -one.expected_speedup.median)
    for one in ranked:
        mapping = applicable(one.mapping)
        if machine.supports(mapping) and expresses(tool, placement := resolve(mapping, topology)):
            found = _emitted(tool, mapping, one.expected_speedup, emit(tool, placement, program, shell))
            return msgspec.structs.replace(found, exact=False)
    return _emitted(tool, emission.mapping, None, emission)


def _emitted(tool: Tool, mapping: AnyMapping, speedup: ExpectedSpeedup | None, emission: Emission) -> Alternative:
    return Alternative(tool, mapping, speedup, emission.text, emission.exact, emission.note, emission.cautions)


def _warnings(measured: list[Measurement], prediction: Prediction | None) -> tuple[str, ...]:
    """Return what makes the answer doubtful, a sentence each."""
    provenance = {name: value for m in measured for name, value in m.provenance}
    found = [*exit_codes_in_words(measured), *compared_in_words(measured)]
    share = seen_share(measured)
    if share is not None and share < ENOUGH_SEEN and prediction is not None:
        found.append(
            f"the traces saw {share:.0%} of the region time; the rest is assumed to gain the square root of what that "
            "gains, within a factor of 3 (--cpu-seconds or a smaller input shows more)"
        )
    if _is_cut(measured):
        found.append("the native run was stopped by its time budget; regions are weighed by what had run until then")
    found += [text for text in dict.fromkeys(map(_other_teams, measured)) if text]
    if NUMACTL in provenance:
        found.append(f"the probes were placed by {provenance[PLACEMENT]}, which `numapredict run` uses too")
    if prediction is None:
        return tuple(found)
    if not prediction.familiar:
        found.append("the program is unlike any that the model has seen")
    elif prediction.ambiguity > _AMBIGUOUS:
        found.append(TWO_CLUSTERS)
    return tuple(found)


def _other_teams(measurement: Measurement) -> str:
    """Return in words which regions run with another number of threads than requested; empty if none do."""
    if own_team(measurement) is not None or not isinstance(measurement.mapping, Mapping):
        return ""
    asked = measurement.mapping.threads
    listed = ", ".join(f"{t.threads} in {t.share:.0%}" for t in teams_of(measurement) if t.threads != asked)
    return listed and f"some regions set their own number of threads: {listed} of the region time"


def _is_cut(measured: list[Measurement]) -> bool:
    return any(CUT_CENSUS in m.provenance for m in measured)


def _region_share(measured: list[Measurement]) -> float | None:
    slowest = max(measured, key=lambda m: m.time_s)
    return None if slowest.region_time_s is None else slowest.region_time_s / slowest.time_s


def seen_share(measured: Iterable[Measurement]) -> float | None:
    """Return the least share of the region time that a trace saw, None without traces."""
    shares = [float(value) for m in measured for name, value in m.provenance if name == SHARE]
    return min(shares, default=None)


def expected_in_words(speed: ExpectedSpeedup) -> str:
    """Return the expected speedup of an alternative mapping, with its interval."""
    return f"{speed.median:.2f}x expected, {speed.low:.2f}x to {speed.high:.2f}x"
