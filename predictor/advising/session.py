"""Answers one question: chooses the machine and the model, then returns the advice, or searches without a model."""

import logging
import math
import os
from functools import partial

import msgspec

from numapredict.collect.binding import threads_asked
from numapredict.collect.campaign.machine_choice import modelled_machine, this_computer
from numapredict.collect.host.environment import emulation
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.standard_input import input_in_words
from numapredict.collect.host.topology_text import shape_of
from numapredict.collect.limits import Limits
from numapredict.collect.machine import Machine
from numapredict.collect.modelled.tracing import TraceBudget, check_program
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.exit_code import exit_code_of
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import Program, program_of
from numapredict.collect.terminal.command import Interruption
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError, UsageError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.described_baseline import described_baseline
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.last_advice import keep_advice
from numapredict.predictor.advising.search import RUNS, Runner, SearchOptions
from numapredict.predictor.advising.searched import Searched, searched
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.learning.model_choice import EMULATED, check_choice, choose_model, trained_gains_path
from numapredict.predictor.learning.training_dataset import by_thesis
from numapredict.predictor.searching.prior import Prior, prior_of

# How a census and the traces share the budget: upper bounds, the census passes no unused time on.
_CENSUS_PART = 0.2
_TRACES_PART = 0.8

LEAST_BUDGET_S, MOST_BUDGET_S, LEAST_RUNS = 5, 3600, 2
"""The CPU seconds that probes may be given, and the fewest runs that a search can compare."""

log = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True):
    """A request: a command, a described machine or this computer, and a model or the machine's own.

    ``budget_s`` is what modelled probes may take in all; ``verified``: see ``advise``; ``strict`` refuses a program
    that ends with an exit code other than 0. ``searched`` asks for a search even if there is a model, as ``search``
    says. ``thesis``: see ``by_thesis``.
    """

    command: tuple[str, ...]
    machine: str | None = None
    model: str | None = None
    budget_s: float = 100.0
    verified: bool = False
    strict: bool = False
    searched: bool = False
    search: SearchOptions = SearchOptions()
    thesis: bool = False


def ask(question: Question) -> Advice | Unknown | Searched:
    """Return the answer on a command; raises a NumapredictError with a one-line message if there is none.

    Raises Interruption with what an interrupted one leaves: traces, or runs of a search on this computer.
    """
    _check(question)
    try:
        found = _answer(question)
    except KeyboardInterrupt:
        raise Interruption("" if question.machine is None else "finished traces are kept") from None
    if question.machine is None and not isinstance(found, Unknown):
        keep_advice(program_of(question.command), host_topology(), found.mapping)
    return found


def _check(question: Question) -> None:
    """Raise UsageError for a request that contradicts itself, or asks for an impossible amount."""
    if question.searched and question.model is not None:
        raise UsageError("--model chooses what predicts, and a search predicts nothing: leave one of them out")
    if question.searched and question.thesis:
        raise UsageError("--method thesis answers from two probes, without a search: leave one of them out")
    if not LEAST_BUDGET_S <= question.budget_s <= MOST_BUDGET_S:
        raise UsageError(f"--cpu-seconds is {question.budget_s}: name {LEAST_BUDGET_S} to {MOST_BUDGET_S} seconds")
    if question.search.runs < LEAST_RUNS:
        raise UsageError(f"--runs is {question.search.runs}: a search makes at least {LEAST_RUNS}")
    if question.search.expected_runs is not None and question.search.expected_runs < 1:
        raise UsageError(f"--for is {question.search.expected_runs}: a program that never runs needs no mapping")


def _answer(question: Question) -> Advice | Unknown | Searched:
    program, machine_name, strict = program_of(question.command), question.machine, question.strict
    text, is_doubt = input_in_words()
    if text:
        log.log(logging.WARNING if is_doubt else logging.INFO, text)
    machine: Machine
    if machine_name is None:
        executable_of(program)
        machine = this_computer(strict=strict, region_times=True)
        log.info(f"this computer: {shape_of(machine.topology)}")
        for line in restriction_lines(machine.topology):
            log.info(line)
        if emulation():
            log.info(EMULATED.format(emulation()))
        check_choice(machine.topology, program.command[0])
    else:
        if question.search.fresh:
            raise UsageError(
                "--fresh discards runs of this computer, and of a described machine none are kept: leave it out"
            )
        check_program(program)
        machine = modelled_machine(machine_name, _budget(question.budget_s, 2), strict=strict, region_times=True)
        log.info(f"{machine.name}, modelled: {shape_of(machine.topology)}")
    searching = question.searched or _threads_of_described(question, machine.topology) is not None
    chosen = None if searching else choose_model(machine.name, machine.topology, question.model)
    if chosen is None:
        if question.thesis:
            raise NoModelError(
                f"--method thesis needs a model of {machine.name}: make one by numapredict train, or leave it out"
            )
        if not searching:
            log.info(_no_model(machine.topology, machine_name))
        return _search(program, question)
    if question.search.fresh or not question.search.cut:
        raise UsageError(f"--fresh and --no-cut are of a search, and here {chosen.origin} answers: add --search")
    if question.thesis:
        chosen = by_thesis(chosen, machine.topology)
    log.info(f"using {chosen.origin}")
    log.debug(
        f"it was learned from {len(chosen.model.programs)} programs under {len(chosen.model.clusters[0].ranked)}"
        f" mappings, in a dataset of {chosen.model.dataset_created}",
    )
    verifier = None
    if question.verified:
        here = machine_name is None
        verifier = this_computer(repetitions=1, warm_up=0, strict=strict) if here else machine
    return advise(program, machine, chosen, verifier=verifier)


def _search(program: Program, question: Question) -> Searched:
    """Search on the question's machine, each run made once."""
    if question.verified:
        log.info("a search runs its baseline and its winner again in turn in any case: --verify adds nothing to it")
    if question.machine is None:
        here = this_computer(repetitions=1, warm_up=0, timeout_s=math.inf, strict=question.strict, region_times=True)
        prior, fresh = _prior(here, question.search.limits), question.search.fresh
        kept = KeptRuns(program, here.topology, strict=question.strict, cut=question.search.cut, fresh=fresh)
        if kept.runs:
            here.expect_exit_code(program, exit_code_of(kept.runs[0].measurement))
        runner = Runner(program.name, AS_IT_IS, partial(here.run_as_it_is, program), partial(here.run, program), kept)
        try:
            return _within(question.search.limits, searched(program, here, runner, prior, question.search))
        except KeyboardInterrupt:
            raise Interruption(kept.left_in_words(), ("--fresh",) if fresh else ()) from None
    budget = _budget(question.budget_s, RUNS)  # so that a search for more runs finds the traces of one for fewer
    described = modelled_machine(question.machine, budget, strict=question.strict, region_times=True)
    prior, asked = _prior(described, question.search.limits), _threads_of_described(question, described.topology)
    default = prior.mappings[prior.default]
    baseline = described_baseline(default, asked, question.search.limits, described.topology)
    if asked is not None:
        log.info(
            f"OMP_NUM_THREADS={asked}: compared with the program on {counted(asked, 'thread')}; --threads limits advice"
        )
    runner = Runner(
        program.name,
        baseline,
        partial(described.run, program, baseline),
        lambda mapping, _limit: described.run(program, mapping),  # its times are computed: there is nothing to end
    )
    return _within(question.search.limits, searched(program, described, runner, prior, question.search))


def _threads_of_described(question: Question, topology: Topology) -> int | None:
    """Return what OMP_NUM_THREADS asks for on a described machine; None for its default, and if a model is named."""
    asked = None if question.machine is None or question.model else threads_asked(os.environ.get("OMP_NUM_THREADS"))
    return None if question.thesis or asked == topology.core_count else asked


def _within(limits: Limits, found: Searched) -> Searched:
    """Return the answer with numactl's command, where the preload library is not wanted."""
    if limits.library or found.alternative is None:
        return found
    return msgspec.structs.replace(found, command=found.alternative.command)


def _prior(machine: Machine, limits: Limits) -> Prior:
    trained = trained_gains_path(machine.name, machine.topology)
    prior = prior_of(machine.name, machine.topology, trained, machine.supports, modelled=machine.modelled)
    within = "" if limits == Limits() else f", {limits.counted_of(prior.mappings, machine.name)}"
    log.info(f"searching by what {prior.origin} gained{within}")
    return prior


def _budget(budget_s: float, runs: int) -> TraceBudget:
    """Return how a census and one trace a run share the budget."""
    return TraceBudget(census_s=budget_s * _CENSUS_PART, trace_s=budget_s * _TRACES_PART / runs)


def _no_model(topology: Topology, machine_name: str | None) -> str:
    """Return what is done without a model, and how to make one."""
    option = f" --machine {machine_name}" if machine_name else ""
    return (
        f"there is no model for {topology.name} yet: the answer is searched by running the program under mappings that "
        f"helped elsewhere; numapredict train{option} measures what helps here (--dry-run says how long that takes, "
        "--budget 2h limits it)"
    )
