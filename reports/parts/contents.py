"""The contents of a page: the sections of a dataset, a model or an answer, in order."""

import os
from pathlib import Path

import msgspec

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.topology import Topology
from numapredict.native.errors import UsageError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import data_folder
from numapredict.predictor.learning.options import CLUSTERS
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.variable import Variables
from numapredict.reports.parts.about import AboutData, advice_about, dataset_about, model_about
from numapredict.reports.parts.advice_parts import answer_data, confirming_data, further_data
from numapredict.reports.parts.alternatives import alternatives_data
from numapredict.reports.parts.choices import choices_data
from numapredict.reports.parts.curve import cuts_data
from numapredict.reports.parts.distribution import distribution_data
from numapredict.reports.parts.heatmap import heatmap_data
from numapredict.reports.parts.held_out import HeldOutData, held_out_data, shipped_data
from numapredict.reports.parts.merge_tree import tree_data
from numapredict.reports.parts.programs import programs_data
from numapredict.reports.parts.regions import regions_data
from numapredict.reports.parts.replayed_answer import gains_data, replayed_data, replays_about
from numapredict.reports.parts.runs import runs_data
from numapredict.reports.parts.subject import Subject, model_for
from numapredict.reports.parts.topology import TopologyData, description_of, draw_mapping, machine_data, with_tables
from numapredict.reports.parts.variables_answer import (
    lines_data,
    maps_data,
    misplaced_data,
    variables_about,
    variables_data,
)
from numapredict.reports.parts.why import resembles_data, why_data
from numapredict.reports.program_order import order_programs


class Section(msgspec.Struct, frozen=True):
    """One part of a page: its template's name, also its anchor, its heading, and its record (may be None)."""

    template: str
    title: str
    data: msgspec.Struct | None


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """A page: its subject, its sections, and the records that its script draws, by name.

    ``modelled`` is shown at the top and in every caption; where it would not be true of all figures, ``made`` and
    ``made_how`` say instead how they were made, in a word and in a sentence.
    """

    title: str
    kind: str
    modelled: bool
    sections: tuple[Section, ...]
    drawn: dict[str, msgspec.Struct]
    made: str = ""
    made_how: str = ""


def page_data(
    subject: Subject, default: AnyMapping | None = None, evaluation: Path | None = None, profile: Profile | None = None
) -> PageData:
    """Return the page on a subject.

    ``default`` is the mapping that a dataset's times are compared with. ``evaluation`` is a file that `numapredict
    evaluate` saved, for a model; else the one that was saved under the model's name is used, if there is one.
    ``profile`` has the places of an answer's pages.
    """
    if subject.advice is not None:
        return _advice_page(subject.advice, profile)
    if subject.variables is not None:
        return _variables_page(subject.name, subject.variables)
    if subject.replayed is not None:
        return _replayed_page(subject.name, subject.replayed)
    sections: list[Section] = []
    drawn: dict[str, msgspec.Struct] = {}
    if subject.dataset is not None:
        sections += _dataset_sections(subject, default, drawn)
    if subject.model is not None:
        sections += _model_sections(subject, subject.model, evaluation)
    both = subject.dataset is not None and subject.model is not None
    return PageData(
        title=subject.name,
        kind="Dataset and model" if both else "Dataset" if subject.dataset is not None else "Model",
        modelled=any(part.modelled for part in (subject.dataset, subject.model) if part is not None),
        sections=tuple(sections),
        drawn=drawn,
    )


def _dataset_sections(subject: Subject, default: AnyMapping | None, drawn: dict[str, msgspec.Struct]) -> list[Section]:
    dataset = subject.dataset
    assert dataset is not None  # noqa: S101 # the caller looked
    options = options_of(default, None, dataset)
    mapping = default_of(dataset, options)
    observations = observe(dataset, mapping)
    column = observations.column(mapping)
    order = order_programs(observations, column, options.scale)
    model = subject.model or model_for(dataset)
    clusters = CLUSTERS if model is None else len(model.clusters)
    probes = () if model is None else tuple(probe.mapping for probe in model.probes)
    heatmap = heatmap_data(observations, column, order, clusters, subject.model)
    drawn["heatmap"] = heatmap
    found = [Section("about", "The dataset", dataset_about(dataset, observations, mapping.label))]
    if dataset.topology is not None:
        machine = machine_data(dataset.topology, description_of(dataset.machine, dataset.modelled))
        found.append(Section("topology", "The machine", machine))
    return [
        *found,
        Section("heatmap", "How programs react to mappings", heatmap),
        Section("cuts", "Clusters", cuts_data(heatmap)),
        Section("programs", "Programs", programs_data(observations, column, order, probes)),
        Section("one-program", "All mappings of one program", heatmap),
        Section("distribution", "What there is to gain", distribution_data(observations, column)),
    ]


def _model_sections(subject: Subject, model: Model, evaluation: Path | None) -> list[Section]:
    found = [
        Section("about-model", "The model", model_about(model, subject.origin)),
        Section("clusters", "What the model knows", model),
    ]
    if subject.dataset is None:
        found.append(Section("tree", "How the clusters were formed", tree_data(model)))
    return [*found, Section("held-out", "How good it is", _held_out(subject.name, model, evaluation))]


def _held_out(name: str, model: Model, evaluation: Path | None) -> HeldOutData | None:
    if evaluation is not None:
        return held_out_data(evaluation, model)
    saved = data_folder() / "evaluations" / f"{name}.json"
    if os.path.isfile(saved):  # of too long a name: no
        return held_out_data(saved, model)
    return shipped_data(name, model)


def _advice_page(found: Advice, profile: Profile | None) -> PageData:
    placed = _placed(found, profile) if isinstance(found.mapping, Mapping) else None
    if placed is None and profile is not None:
        raise UsageError("--profile: the answer keeps the program as it is, so no mapping says where its pages go")
    sections = [Section("answer", "The answer", answer_data(found, placed))]
    if (choices := choices_data(found)) is not None:
        sections.append(Section("choices", "What each choice gives", choices))
    sections += [Section("why", "Why", why_data(found)), Section("runs", "The runs", runs_data(found))]
    if found.confirmation is not None and (not found.modelled or found.confirmation.reason):  # else computed again
        sections.append(Section("confirming", "Run again, in turn", confirming_data(found, found.confirmation)))
    if found.method == "search" and not found.disturbed:
        sections.append(Section("further", "A further run", further_data(found)))
    if (regions := regions_data(found.regions)) is not None:
        sections.append(Section("regions", "Parallel regions", regions))
    if found.similar is not None:
        sections.append(Section("resembles", "Similar known programs", resembles_data(found.similar)))
    if found.alternatives:
        sections.append(Section("alternatives", "Without numapredict", alternatives_data(found)))
    sections.append(Section("about", "The question", advice_about(found)))
    return PageData(title=found.program, kind="Advice", modelled=found.modelled, sections=tuple(sections), drawn={})


def _variables_page(name: str, answer: Variables) -> PageData:
    maps = maps_data(answer)
    nodes = " Which threads share a node, and so what is remote, is modelled." if answer.modelled else ""
    return PageData(
        title=name,
        kind="Variables",
        modelled=answer.modelled,
        sections=(
            Section("misplaced", "The answer", misplaced_data(answer)),
            *([Section("addresses", "By address", maps)] if maps.drawings or maps.left else []),
            Section("lines", "By code", lines_data(answer)),
            Section("variables", "By data", variables_data(answer)),
            Section("about", "The run", AboutData(variables_about(answer))),
        ),
        drawn={},
        made="sampled; nodes modelled" if answer.modelled else "sampled",
        made_how=f"Sampled: touches of pages were seen in one run.{nodes}",
    )


def _replayed_page(name: str, answer: ReplayedRegions) -> PageData:
    return PageData(
        title=name,
        kind="Regions",
        modelled=False,
        sections=(
            Section("replayed", "The answer", replayed_data(answer)),
            Section("gains", "Region by region", gains_data(answer)),
            Section("about", "The run", AboutData(replays_about(answer))),
        ),
        drawn={},
        made="measured",
        made_how="Measured: regions were replayed under other mappings during one run.",
    )


def _placed(answer: Advice, profile: Profile | None) -> TopologyData:
    """Return the advised mapping drawn on the machine, as far as that is known."""
    description = description_of(answer.machine, answer.modelled)
    topology = _here(answer) if description is None and profile is not None else None
    topology = topology if description is None else description.topology
    return with_tables(draw_mapping(applicable(answer.mapping), answer.machine, topology, profile), description)


def _here(answer: Advice) -> Topology | None:
    """Return this computer's topology, for a profile's pages, if a timed answer was made on it."""
    topology = host_topology()
    return topology if not answer.modelled and topology.name == answer.machine else None
