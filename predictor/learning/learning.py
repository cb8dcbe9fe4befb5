"""From a campaign or a dataset to a model file."""

import logging
from pathlib import Path

import msgspec

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.plan import Estimate
from numapredict.collect.campaign.request import CampaignRequest, prepare, run_campaign
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.outliers import Outlier, outliers_in_words, without_outliers
from numapredict.collect.host.environment import emulation
from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.space import canonical, default_mapping
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import doing
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError
from numapredict.predictor.learning.budget import Budget, BudgetPlan, plan_budget, run_within
from numapredict.predictor.learning.dataset_gains import machine_gains
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import (
    EMULATED,
    check_training,
    data_folder,
    trained_gains_path,
    trained_model_path,
)
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import write_model
from numapredict.predictor.learning.train import default_of, train
from numapredict.predictor.searching.gains_file import write_gains
from numapredict.predictor.searching.prior import shipped_gains

WORTHWHILE_GROUPS = 14
"""With fewer, under half as many mappings, searches of modelled machines gained no more than without."""

_DOUBT = " (so few may add nothing: about 100 runs add a little)"

log = logging.getLogger(__name__)


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """A model that was written, as `train --json` prints it: its path and contents."""

    path: str
    machine: str
    modelled: bool
    default: AnyMapping
    clusters: int
    programs: int
    probes: tuple[AnyMapping, ...]
    outliers: tuple[Outlier, ...] = ()


class LearnedGains(msgspec.Struct, frozen=True, kw_only=True):
    """What `train --json` prints where its runs were too few for a model: ``path`` is the file that searches read.

    It holds what ``programs`` of ``groups`` gained under ``mappings`` mappings.
    """

    path: str
    machine: str
    modelled: bool
    default: AnyMapping
    programs: int
    groups: int
    mappings: int
    outliers: tuple[Outlier, ...] = ()


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """A command line's options of learning: default mapping, number of clusters, whether outliers are kept."""

    default: AnyMapping | None = None
    clusters: int | None = None
    keep_outliers: bool = False


def options_of(default: AnyMapping | None, clusters: int | None, dataset: Dataset | None = None) -> TrainingOptions:
    """Return the training options of a command line.

    InvalidMappingError for a default that is not in our grammar, unless the ``dataset`` has foreign mappings.
    """
    topology = dataset.topology if dataset is not None else None
    foreign = dataset is not None and topology is None
    # Programs have any length: only features without the scale of the run time carry over. The clusters only
    # explain: the thesis has 6 (sec. 6, fig. 29), and on its linear scale one of them would hold nearly all programs.
    return TrainingOptions(
        default=default if default is None or foreign else _mapping(default, topology), n_clusters=clusters
    )


def _mapping(wanted: AnyMapping, topology: Topology | None) -> Mapping:
    """Return a mapping as it is named in a dataset of the topology, if that is known."""
    return canonical(applicable(wanted), topology) if topology is not None else applicable(wanted)


def campaign_for(request: CampaignRequest, into: Path | None, default: AnyMapping | None) -> Campaign:
    """Return the campaign of a request, kept in the user's data folder unless another is named.

    It always includes the default mapping, since speedups are relative to it.
    """
    campaign = prepare(request, into or Path())
    topology = campaign.machine.topology
    first = _mapping(default, topology) if default else default_mapping(topology)
    campaign.mappings = tuple(dict.fromkeys((*campaign.mappings, first)))
    if request.machine is None:
        check_training(campaign.machine.topology)
    if into is None:
        model = trained_model_path(campaign.machine.name, campaign.machine.topology)
        campaign.folder = data_folder() / "datasets" / model.stem
    return campaign


def learn_by_measuring(
    request: CampaignRequest, into: Path | None, output: Path | None, wishes: Wishes, budget: Budget | None, dry: bool
) -> Learned | LearnedGains | Estimate | BudgetPlan:
    """Run a request's campaign and learn from it; if ``dry``, only say what it, or the part within a budget, costs."""
    with doing("counting the runs"):
        campaign = campaign_for(request, into, wishes.default)
        if dry and budget is None:
            return campaign.estimate()
    if dry and budget is not None:
        return plan_budget(campaign, budget)
    return learn_from_campaign(campaign, output, wishes, budget)


def learn_from_campaign(
    campaign: Campaign, output: Path | None, wishes: Wishes, budget: Budget | None = None
) -> Learned | LearnedGains:
    """Run a campaign, or the part that a budget allows, learn from it, and return what was written."""
    if wishes.default:
        wishes = msgspec.structs.replace(wishes, default=_mapping(wishes.default, campaign.machine.topology))
    if not campaign.machine.modelled and emulation():
        log.warning(EMULATED.format(emulation()))
    if budget is None:
        return _learn(run_campaign(campaign), output, wishes)
    known = [each for each in shipped_gains(campaign.machine.topology) if each.machine != campaign.machine.name]
    measured = run_within(campaign, budget, options_of(wishes.default, wishes.clusters), known)
    return (
        _learn(measured.dataset, output, wishes) if measured.whole else _learn_gains(measured.dataset, output, wishes)
    )


def learn_from(name: str, output: Path | None, wishes: Wishes) -> Learned:
    """Train a model on a shipped dataset or a folder, write it, and return its summary."""
    with doing(f"reading {name}"):
        dataset = open_dataset(name)
    return _learn(dataset, output, wishes)


def _learn_gains(dataset: Dataset, output: Path | None, wishes: Wishes) -> LearnedGains:
    """Write what programs gained, for searches, unless a model and its gains, of more runs, are there."""
    dataset, outliers = _without_outliers(dataset, wishes)
    gains = machine_gains(dataset, default_of(dataset, options_of(wishes.default, wishes.clusters, dataset)))
    path = trained_gains_path(gains.machine, gains.topology)
    if output is not None:
        log.warning(f"no model was written to {output}: that takes more runs")
    if trained_model_path(gains.machine, gains.topology).exists() and path.exists():
        log.warning(f"a model and gains of more runs are kept: {path}")
    else:
        write_gains([gains], path)
    return LearnedGains(
        path=str(path),
        machine=gains.machine,
        modelled=gains.modelled,
        default=AnyMapping(gains.default),
        programs=len(gains.groups),
        groups=len(set(gains.groups)),
        mappings=len(gains.mappings),
        outliers=outliers,
    )


def _without_outliers(dataset: Dataset, wishes: Wishes) -> tuple[Dataset, tuple[Outlier, ...]]:
    outliers: tuple[Outlier, ...] = ()
    if not wishes.keep_outliers:
        dataset, outliers = without_outliers(dataset)
    if outliers:
        default = default_of(dataset, options_of(wishes.default, wishes.clusters, dataset))
        log.warning(outliers_in_words(outliers, dataset.machine, default.label))
    return dataset, outliers


def _learn(dataset: Dataset, output: Path | None, wishes: Wishes) -> Learned:
    if dataset.topology is None:
        raise NoModelError(
            f"the dataset of {dataset.machine} has foreign mappings, which numapredict cannot apply: "
            "`numapredict evaluate` shows how well they are predicted"
        )
    options, topology = options_of(wishes.default, wishes.clusters, dataset), dataset.topology
    dataset, outliers = _without_outliers(dataset, wishes)
    model = train(dataset, options)
    path = output or trained_model_path(dataset.machine, topology)
    write_model(model, path)
    gains = trained_gains_path(dataset.machine, topology) if output is None else output.with_suffix(".gains")
    write_gains([machine_gains(dataset, default_of(dataset, options))], gains)
    return learned(model, path, outliers)


def learned(model: Model, path: Path, outliers: tuple[Outlier, ...] = ()) -> Learned:
    """Return a model's summary, with its path and the outliers left out of its training."""
    return Learned(
        path=str(path),
        machine=model.machine,
        modelled=model.modelled,
        default=model.default,
        clusters=len(model.clusters),
        programs=len(model.programs),
        probes=tuple(probe.mapping for probe in model.probes),
        outliers=outliers,
    )


def learned_in_words(found: Learned | LearnedGains) -> str:
    """Return the summary of what was written, and its path, in a line."""
    modelled = "modelled " if found.modelled else ""
    if isinstance(found, LearnedGains):
        programs, mappings = counted(found.programs, "program"), counted(found.mappings, "mapping")
        doubt = _DOUBT if found.groups < WORTHWHILE_GROUPS else ""
        return (
            f"{found.path}: gains of {programs} under {mappings} of {modelled}{found.machine}, for searches{doubt}; "
            "too few runs for a model"
        )
    clusters, programs = counted(found.clusters, "cluster"), counted(found.programs, "program")
    probes = " and ".join(map(str, found.probes))
    return f"{found.path}: {clusters} of {programs} on {modelled}{found.machine}; probes {probes}"
