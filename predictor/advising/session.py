"""Answers one question: chooses the machine and the model, then returns the advice."""

import logging
from pathlib import Path

import msgspec

from numapredict.collect.campaign.machine_choice import modelled_machine, this_computer
from numapredict.collect.campaign.request import CampaignRequest, prepare
from numapredict.collect.host.environment import emulation
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.topology_text import shape_of
from numapredict.collect.machine import Machine
from numapredict.collect.modelled.tracing import TraceBudget, check_program
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import program_of
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.learning.model_choice import EMULATED, check_choice, choose_model, nearest_shipped

# How a census and two traces share the budget: upper bounds, the census passes no unused time on.
_CENSUS_PART = 0.2
_TRACE_PART = 0.4

log = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True):
    """A request: a command, a described machine or this computer, and a model or the machine's own.

    ``budget_s`` is what modelled probes may take in all; ``verified``: see ``advise``; ``strict`` refuses a program
    that ends with an exit code other than 0.
    """

    command: tuple[str, ...]
    machine: str | None = None
    model: str | None = None
    budget_s: float = 100.0
    verified: bool = False
    strict: bool = False


def ask(question: Question) -> Advice | Unknown:
    """Return the answer on a command; raises a NumapredictError with a one-line message if there is none."""
    program, machine_name, strict = program_of(question.command), question.machine, question.strict
    machine: Machine
    if machine_name is None:
        executable_of(program)
        machine = this_computer(strict=strict)
        log.info(f"this computer: {shape_of(machine.topology)}")
        for line in restriction_lines(machine.topology):
            log.info(line)
        if emulation():
            log.info(EMULATED.format(emulation()))
        check_choice(machine.topology, program.command[0])
    else:
        check_program(program)
        budget = TraceBudget(census_s=question.budget_s * _CENSUS_PART, trace_s=question.budget_s * _TRACE_PART)
        machine = modelled_machine(machine_name, budget, strict=strict)
        log.info(f"{machine.name}, modelled: {shape_of(machine.topology)}")
    chosen = choose_model(machine.name, machine.topology, question.model)
    if chosen is None:
        raise NoModelError(_no_model(machine.topology, machine_name))
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


def _no_model(topology: Topology, machine_name: str | None) -> str:
    """Return what to do about a machine without a model: how to train one and how long that takes, what is shipped."""
    request = CampaignRequest(machine=machine_name)
    option = f" --machine {machine_name}" if machine_name else ""
    estimate = prepare(request, Path("none")).estimate()
    text = (
        f"there is no model for {topology.name} yet: numapredict train{option} makes one "
        f"({estimate.runs} runs, {in_words(estimate.time_s)}, {estimate.basis})"
    )
    if machine_name is None:
        text += "; with --budget 10h or --budget 15% it makes only the most informative of them"
    nearest = nearest_shipped(topology)
    if nearest is not None:
        text += (
            f". The shipped model of the nearest topology is {nearest}: numapredict --machine {nearest} ... answers "
            "for that machine, modelled"
        )
    return text
