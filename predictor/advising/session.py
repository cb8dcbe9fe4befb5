"""Answers one question: chooses the machine and what is known of it, then returns the advice."""

import logging
import math
import os
from functools import partial
from pathlib import Path

import msgspec

from numapredict.collect.binding import threads_asked
from numapredict.collect.campaign.machine_choice import modelled_machine, this_computer
from numapredict.collect.host.environment import emulation
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.facts.limits import quota_pus
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.standard_input import input_in_words
from numapredict.collect.host.topology_text import shape_of
from numapredict.collect.limits import Limits
from numapredict.collect.machine import Machine
from numapredict.collect.measuring.mapped_files import files_of
from numapredict.collect.measuring.quiet import PATIENCE_S, others_at_work, short_s
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.modelled.tracing import TraceBudget, check_program
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.exit_code import exit_code_of
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.collect.terminal.command import Interruption
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError, UsageError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.described_baseline import described_baseline
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.last_advice import keep_advice
from numapredict.predictor.advising.search import Runner
from numapredict.predictor.advising.search_options import RUNS, SearchOptions
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import EMULATED, check_choice, choose_model, trained_gains_path
from numapredict.predictor.learning.store import check_topology
from numapredict.predictor.learning.training_dataset import by_thesis
from numapredict.predictor.searching.prior import Prior, prior_of

# How a census and the traces share the budget: upper bounds, the census passes no unused time on.
_CENSUS_PART = 0.2
_TRACES_PART = 0.8

_REDONE = 2  # disturbed runs of a measurement that are made again

LEAST_BUDGET_S, MOST_BUDGET_S, LEAST_RUNS = 5, 3600, 2
"""The CPU seconds that modelled runs may be given, and the fewest runs that a search can compare."""

log = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True):
    """A request: a command, a described machine or this computer, and a model or the machine's own.

    ``budget_s`` is what modelled runs may take in all; ``strict`` refuses a program that ends with an exit code other
    than 0.
    """

    command: tuple[str, ...]
    machine: str | None = None
    model: str | None = None
    budget_s: float = 100.0
    strict: bool = False
    search: SearchOptions = SearchOptions()

    @property
    def thesis(self) -> bool:
        """Return whether a program's cluster is to choose its mapping: see ``by_thesis``."""
        return self.search.method == "thesis"


def ask(question: Question) -> Advice | Unknown:
    """Return the answer on a command; raises a NumapredictError with a one-line message if there is none.

    Raises Interruption with what an interrupted one leaves: traces, or runs on this computer.
    """
    _check(question)
    if question.machine is None:
        found = _on_this_computer(question)
    else:
        try:
            found = _on_described(question, question.machine)
        except KeyboardInterrupt:
            raise Interruption("finished traces are kept") from None
    if isinstance(found, Unknown):
        return found
    if question.machine is None and not found.disturbed:  # an earlier answer is worth more
        keep_advice(program_of(question.command), host_topology(), found.mapping)
    return _within(question.search.limits, found)


def _check(question: Question) -> None:
    """Raise UsageError for a request that contradicts itself, or asks for an impossible amount."""
    if not LEAST_BUDGET_S <= question.budget_s <= MOST_BUDGET_S:
        raise UsageError(f"--cpu-seconds is {question.budget_s}: name {LEAST_BUDGET_S} to {MOST_BUDGET_S} seconds")
    if question.search.runs < LEAST_RUNS:
        raise UsageError(f"--runs is {question.search.runs}: a search makes at least {LEAST_RUNS}")
    if question.search.expected_runs is not None and question.search.expected_runs < 1:
        raise UsageError(f"--for is {question.search.expected_runs}: a program that never runs needs no mapping")


def _on_this_computer(question: Question) -> Advice | Unknown:
    program, fresh, figure = program_of(question.command), question.search.fresh, question.search.figure
    text, is_doubt = input_in_words()
    if text:
        log.log(logging.WARNING if is_doubt else logging.INFO, text)
    executable_of(program)
    here = this_computer(
        StoppingRule(least=1, most=1, redo=_REDONE, patience_s=PATIENCE_S),
        warm_up=0,
        timeout_s=math.inf,
        strict=question.strict,
        region_times=True,
    )
    here.compare_by(figure)
    log.info(f"this computer: {shape_of(here.topology)}")
    for line in restriction_lines(here.topology):
        log.info(line)
    if emulation():
        log.info(EMULATED.format(emulation()))
    check_choice(here.topology, program.command[0])
    question = _within_quota(question)
    model, prior = _knowledge(question, here)
    kept = KeptRuns(
        program,
        here.topology,
        strict=question.strict,
        cut=question.search.cut and not question.thesis,
        fresh=fresh,
        figure=figure,
    )
    if kept.runs:
        first = kept.runs[0].measurement
        here.expect_exit_code(program, exit_code_of(first))
        here.expect_files(program, first.mapping, files_of(first))
    pus = [pu for node in here.topology.nodes for core in node.cores for pu in core.pus]
    runner = Runner(
        program.name,
        AS_IT_IS,
        partial(here.run_as_it_is, program),
        partial(here.run, program),
        kept,
        look=partial(others_at_work, pus),
        short_s=short_s(len(pus)),
    )
    try:
        return advise(program, here, runner, prior, question.search, model)
    except KeyboardInterrupt:
        raise Interruption(kept.left_in_words(), ("--fresh",) if fresh else ()) from None


def _within_quota(question: Question) -> Question:
    """Return the question with no more threads than the control group has PUs' time for, and say so.

    OpenMP runtimes start a thread for each CPU in their mask, however little time they get.
    """
    quota = quota_pus(Path("/"))
    if quota is None or quota >= len(os.sched_getaffinity(0)):
        return question
    most = max(1, math.floor(quota))
    log.info(f"the quota here is {quota:g} PUs' time: at most {counted(most, 'thread')} can be advised")
    limits = msgspec.structs.replace(question.search.limits, most_threads=most)
    return msgspec.structs.replace(question, search=msgspec.structs.replace(question.search, limits=limits))


def _on_described(question: Question, name: str) -> Advice | Unknown:
    program, limits = program_of(question.command), question.search.limits
    text, is_doubt = input_in_words()
    if text:
        log.log(logging.WARNING if is_doubt else logging.INFO, text)
    if question.search.fresh:
        raise UsageError(
            "--fresh discards runs of this computer, and of a described machine none are kept: leave it out"
        )
    if not question.search.figure.is_time:
        what = "--metric" if question.search.figure.metric else "--seconds"
        raise UsageError(
            f"{what} is for runs of this computer, and times of a described machine are computed: leave {what} or "
            "--machine out"
        )
    if not question.search.cut:
        raise UsageError(
            "--no-cut is for runs of this computer, and those of a described machine are computed: leave it out"
        )
    check_program(program)
    traces = RUNS + len(modelled_machine(name).threads_for_cycles)
    budget = _budget(question.budget_s, traces)  # so that more runs find the traces of fewer
    described = modelled_machine(name, budget, strict=question.strict, region_times=True)
    log.info(f"{described.name}, modelled: {shape_of(described.topology)}")
    model, prior = _knowledge(question, described)
    asked = _threads_asked(described.topology)
    baseline = described_baseline(prior.mappings[prior.default], asked, limits, described.topology)
    if asked is not None:
        log.info(
            f"OMP_NUM_THREADS={asked}: compared with the program on {counted(asked, 'thread')}; --threads limits advice"
        )
    runner = Runner(
        program.name,
        baseline,
        partial(described.run, program, baseline),
        lambda mapping, _limit: described.run(program, mapping),  # its times are computed: there is nothing to end
        traced=True,
    )
    return advise(program, described, runner, prior, question.search, model)


def _knowledge(question: Question, machine: Machine) -> tuple[Model | None, Prior]:
    """Return the model whose clusters explain, if there is one, and what known programs gained."""
    chosen = choose_model(machine.name, machine.topology, question.model)
    if chosen is None and question.thesis:
        raise NoModelError(
            f"--method thesis needs a model of {machine.name}: make one by numapredict train, or leave it out"
        )
    if chosen is None and len(machine.topology.nodes) > 1:
        log.info(_no_model(machine.topology, question.machine))
    if chosen is not None:
        check_topology(chosen.model, machine.topology)
        if question.thesis:
            chosen = by_thesis(chosen, machine.topology)
        log.info(f"using {chosen.origin}")
    return None if chosen is None else chosen.model, _prior(machine, question)


def _threads_asked(topology: Topology) -> int | None:
    """Return what OMP_NUM_THREADS asks for on a described machine; None for its default."""
    asked = threads_asked(os.environ.get("OMP_NUM_THREADS"))
    return None if asked == topology.core_count else asked


def _within(limits: Limits, found: Advice) -> Advice:
    """Return the answer with numactl's command, where the preload library is not wanted."""
    if limits.library or found.alternative is None:
        return found
    return msgspec.structs.replace(found, command=found.alternative.command)


def _prior(machine: Machine, question: Question) -> Prior:
    """Return what is known of a machine: by the gains beside a model's file, if one is named, else by the machine's."""
    limits, trained = question.search.limits, trained_gains_path(machine.name, machine.topology)
    if question.model is not None and (beside := Path(question.model).with_suffix(".gains")).is_file():
        trained = beside
    prior = prior_of(machine.name, machine.topology, trained, machine.supports, modelled=machine.modelled)
    prior = prior.with_policies(limits.page_policies, machine.topology, machine.supports)
    within = "" if limits == Limits() else f", {limits.counted_of(prior.mappings, machine.name)}"
    if not question.thesis:
        log.info(f"searching by what {prior.origin} gained{within}")
    return prior


def _budget(budget_s: float, runs: int) -> TraceBudget:
    """Return how a census and one trace a run, and those for a program's own cycles, share the budget."""
    return TraceBudget(census_s=budget_s * _CENSUS_PART, trace_s=budget_s * _TRACES_PART / runs)


def _no_model(topology: Topology, machine_name: str | None) -> str:
    """Return what is done without a model, and how to make one."""
    option = f" --machine {machine_name}" if machine_name else ""
    return (
        f"there is no model for {topology.name} yet: mappings are tried that helped elsewhere; numapredict "
        f"train{option} measures what helps here (--dry-run says how long that takes, --budget 2h limits it)"
    )
