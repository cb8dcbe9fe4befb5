"""Answers about programs of a dataset, whose runs are the recorded ones."""

from functools import partial

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import applicable
from numapredict.collect.program import Program
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.search import Runner
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.learning.dataset_gains import machine_gains
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import Prior


def prior_of_dataset(dataset: Dataset) -> Prior:
    """Return what the programs of a dataset gained."""
    gains = machine_gains(dataset, default_of(dataset, TrainingOptions()))
    mappings, default = gains.parsed, gains.mappings.index(gains.default)
    return Prior(mappings, known_gains(gains.gains, gains.groups), default, f"{len(gains.groups)} programs")


def answer_on(
    dataset: Dataset,
    program: Program,
    model: Model | None = None,
    options: SearchOptions | None = None,
    *,
    machine: Machine | None = None,
    traced: bool = True,
) -> Advice | Unknown:
    """Return the answer about a program, by what all programs of the dataset gained."""
    prior, machine = prior_of_dataset(dataset), machine or RecordedMachine(dataset)
    baseline = applicable(prior.mappings[prior.default])
    run = partial(machine.run, program)
    runner = Runner(program.name, baseline, partial(run, baseline), lambda mapping, _limit: run(mapping), traced=traced)
    return advise(program, machine, runner, prior, options or SearchOptions(), model)


def advised_on(dataset: Dataset, program: Program, model: Model | None = None, **others: bool) -> Advice:
    """Return the answer, which must be advice."""
    found = answer_on(dataset, program, model, **others)
    assert isinstance(found, Advice)
    return found
