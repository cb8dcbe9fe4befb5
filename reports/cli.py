"""The commands that draw: `report` and `characterize`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click
from click.shell_completion import CompletionItem

from numapredict.collect.campaign.campaign_options import MACHINE, STRICT
from numapredict.collect.campaign.completion import files, named
from numapredict.collect.page_policy import PAGE_POLICIES, PagePolicy
from numapredict.collect.terminal.command import JSON, VERBOSITY, Command, Group, terminal
from numapredict.predictor.evaluation.evaluation_options import (
    DATASET_NAMES,
    DATASETS,
    DEFAULT,
    FILE,
    JOBS,
    shipped_datasets,
    shipped_models,
)

if TYPE_CHECKING:
    from numapredict.collect.fidelity.claim import Comparison
    from numapredict.predictor.evaluation.evaluate import Evaluations
    from numapredict.predictor.learning.options import Scale

PAGE = "page"
SUBJECTS = named(lambda: sorted({*shipped_datasets(), *shipped_models()}), "file")
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])
DATASET = click.option(
    "--dataset",
    required=True,
    metavar="NAME|FOLDER",
    shell_complete=DATASET_NAMES,
    help="A shipped dataset by name, or a folder.",
)


def _figure(name: str) -> Callable[[_Decorated], _Decorated]:
    """Return the option that says where the figure goes."""
    return click.option("--output", type=FILE, default=Path(f"{name}.png"), show_default=True, help=".png or .svg")


def _comparisons() -> tuple[str, ...]:
    from numapredict.collect.fidelity.every import EVERY

    return tuple(EVERY)


class Drawn(Protocol):
    """What a figure shows."""

    @property
    def title(self) -> str:
        """Return the figure's title."""
        ...


class Reports(Group):
    """The reports; what is none of them by name is a subject that a page is asked about."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `page` first unless a report is named or help is asked for."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names, *VERBOSITY}:
            args = [PAGE, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the reports and options that begin so, and the subjects, a file among them."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return found
        return [*SUBJECTS(ctx, None, incomplete), *found]


# A \b tells click to keep the line breaks of a paragraph.
_HELP = """Draw what was measured or learned, as one HTML page or as figures.

\b
numapredict report sandybridge-4x8 -o page.html   a shipped dataset and model, or a dataset's folder
numapredict report model.json -o page.html        a model that `train` wrote
numapredict report advice.json -o page.html       what `predict --json` printed; - reads it from a pipe
"""


@click.group(
    cls=Reports,
    help=_HELP,
    options_metavar="",
    subcommand_metavar="DATASET|MODEL|PREDICTION [OPTIONS] | COMMAND ...",
    epilog="A folder or file called like a command: numapredict report ./pairs.",
)
def report() -> None:
    """Hold the reports; a click group needs a function."""


def _tell_drawn(data: Drawn, output: Path, as_json: bool) -> None:
    """Print what a figure shows, where JSON is asked for, and say where the figure is."""
    from numapredict.collect.terminal.answer import print_answer

    if as_json:
        print_answer(data, as_json, str)
    terminal().say(f"{output}: {data.title}")


def _say_doubts(evaluations: "Evaluations") -> None:
    """Warn of times that an evaluation left out, and of programs that may be one code base."""
    from numapredict.predictor.evaluation.evaluation_text import doubts_in_words

    for line in doubts_in_words(evaluations):
        terminal().warn(line)


@report.command(PAGE)
@click.argument("subject", metavar="DATASET|MODEL|PREDICTION", shell_complete=SUBJECTS)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("page.html"),
    show_default=True,
    help="An .html file.",
)
@click.option("--default", metavar="LABEL", help="The mapping that a dataset's times are divided by.")
@click.option("--evaluation", type=FILE, help="What `evaluate` saved, for a model; else what was saved by its name.")
@click.option("--profile", type=FILE, help="Where a prediction's pages go by this profile (`run --profile`).")
def page(subject: str, output: Path, default: str | None, evaluation: Path | None, profile: Path | None) -> None:
    """Write one HTML page on a dataset, a model or a prediction: complete, offline, interactive.

    A shipped name is a dataset and a model, and the page shows both. This command's name may be left out.
    """
    with terminal().doing(f"reading {subject}"):
        from numapredict.collect.placing.profile_file import read_profile
        from numapredict.collect.terminal.printable import name_cell
        from numapredict.reports.contents import page_data
        from numapredict.reports.page import check_name, write_page
        from numapredict.reports.subject import open_subject

        check_name(output)
        opened = open_subject(subject)
    if default is not None and opened.dataset is None:
        raise click.UsageError("--default is for a dataset: a model and a prediction have their own")
    if evaluation is not None and opened.model is None:
        raise click.UsageError("--evaluation is for a model")
    if profile is not None and opened.advice is None:
        raise click.UsageError("--profile is for a prediction: its mapping says where pages go")
    with terminal().doing(f"writing {output}"):
        data = page_data(opened, default, evaluation, read_profile(profile) if profile else None)
        size_bytes = write_page(data, output)
    terminal().say(f"{output}: {data.kind.lower()} {name_cell(data.title)}, {size_bytes / 1e6:.1f} MB")


@report.command(answers=["numapredict.reports.clustermap:ClustermapData"])
@DATASET
@_figure("clustermap")
@click.option("--default", metavar="LABEL", help="The mapping that times are divided by.")
@click.option("--clusters", type=click.IntRange(1), help="Clusters to colour; else 6, or as many as there are.")
@click.option(
    "--scale",
    type=click.Choice(("log", "linear")),
    default="log",
    show_default=True,
    help="Times are clustered so: log2, as models have them, or linear, as in the thesis.",
)
@JSON
def clustermap(
    dataset: str, output: Path, default: str | None, clusters: int | None, scale: "Scale", as_json: bool
) -> None:
    """Draw a dataset's dendrogram and heatmap in one figure (thesis figures 24 and 25)."""
    with terminal().doing("loading what draws"):
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.clustermap import clustermap_data, draw_clustermap

    with terminal().steps(2, "steps of drawing") as advance:
        data = clustermap_data(open_dataset(dataset), default, clusters, scale)
        advance()
        draw_clustermap(data, output)
    _tell_drawn(data, output, as_json)


@report.command(kept="finished traces are kept", answers=["numapredict.collect.fidelity.claim:Comparison[]"])
@click.option(
    "--only",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=named(_comparisons),
    help="One comparison; repeatable. All by default.",
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="A Markdown file; else the table is printed."
)
@JSON
def fidelity(names: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Compare the modelled machines with what was published: some minutes of tracing the first time.

    Comparisons: forestgomp, mctop, thesis, ics19, determinism.
    """
    from numapredict.collect.fidelity.bench import Bench
    from numapredict.collect.fidelity.every import EVERY
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.reports.fidelity import fidelity_table, write_table

    for name in names:
        if name not in EVERY:
            raise click.BadParameter(f"{name!r} is none of {', '.join(EVERY)}", param_hint="--only")
    bench = Bench(terminal())
    chosen = names or tuple(EVERY)
    comparisons: list[Comparison] = []
    for name in terminal().follow(chosen, len(chosen), "comparisons"):
        comparisons += EVERY[name](bench)
    command = " ".join(["numapredict report fidelity", *(f"--only {name}" for name in names)])
    table = fidelity_table(comparisons, command)
    if output is not None:
        write_table(table, output)
        terminal().say(f"{output}: {sum(len(comparison.claims) for comparison in comparisons)} figures")
    if as_json:
        print_answer(comparisons, as_json, str)
    elif output is None:
        click.echo(table, nl=False)


@report.command(answers=["numapredict.predictor.evaluation.similarity:LikePair[]"])
@DATASET
@click.option("--default", metavar="LABEL", help="The mapping that times are divided by.")
@click.option("--count", type=click.IntRange(1), default=20, show_default=True, help="Pairs to show.")
@JSON
def pairs(dataset: str, default: str | None, count: int, as_json: bool) -> None:
    """Show which programs of a dataset the model can hardly tell apart: one of such a pair teaches nothing."""
    with terminal().doing(f"reading {dataset}"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.similarity import like_pairs
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import observe
        from numapredict.predictor.learning.learning import options_of
        from numapredict.predictor.learning.train import default_label
        from numapredict.reports.pairs import pairs_in_words

        opened = open_dataset(dataset)
        label = default_label(opened, options_of(default, None, opened))
        observations = observe(opened, label)
        found = like_pairs(observations, observations.column(label))
    print_answer(found[:count], as_json, lambda shown: pairs_in_words(shown, len(found)))


@report.command(answers=["numapredict.predictor.evaluation.thesis:Sweep[]"])
@click.argument("dataset", metavar="DATASET", shell_complete=DATASET_NAMES)
@click.option("--figure", type=FILE, help="Draw them too, into a .png or .svg file.")
@JSON
def sweeps(dataset: str, figure: Path | None, as_json: bool) -> None:
    """Show the speedup over the number of clusters for the thesis's feature sets (figures 26 to 29)."""
    with terminal().doing("loading what draws"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.thesis import sweeps_of
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.predictor.learning.features import InsufficientDataError, observe
        from numapredict.reports.figure_file import format_of
        from numapredict.reports.source import origin_of
        from numapredict.reports.sweep_curves import draw_sweep_curves, sweep_curves_data
        from numapredict.reports.sweeps import sweeps_in_words

    if figure is not None:
        format_of(figure)
    with terminal().doing(f"reading {dataset}"):
        opened = open_dataset(dataset)
        found = () if opened.topology is None else sweeps_of(observe(opened), opened.topology)
    if not found:
        raise InsufficientDataError(
            f"dataset of {opened.machine}: none of the thesis's default mappings was measured; collect the full space"
        )
    print_answer(found, as_json, lambda curves: sweeps_in_words(curves, opened.machine))
    if figure is not None:
        with terminal().doing(f"drawing {figure}"):
            data = sweep_curves_data(found, origin_of(opened))
            draw_sweep_curves(data, figure)
        terminal().say(f"{figure}: {data.title}")


@report.command(kept="finished folds are kept", answers=["numapredict.reports.calibration:CalibrationData"])
@DATASETS
@JOBS
@_figure("calibration")
@JSON
def calibration(datasets: tuple[str, ...], jobs: int, output: Path, as_json: bool) -> None:
    """Draw how sure the advice was of held-out programs, and how often it was right (what `evaluate` finds)."""
    with terminal().doing(f"reading {', '.join(datasets)}"):
        from numapredict.predictor.evaluation.evaluation_session import different_datasets, evaluate_datasets
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.calibration import calibration_data, draw_calibration
        from numapredict.reports.figure_file import format_of

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, jobs=jobs, follow=terminal().follow)
    _say_doubts(evaluations)
    with terminal().doing(f"drawing {output}"):
        data = calibration_data(evaluations, [open_dataset(name) for name in different])
        draw_calibration(data, output)
    _tell_drawn(data, output, as_json)


@report.command(answers=["numapredict.predictor.evaluation.explanation_check:RuleScore[]"])
@DATASETS
@JSON
def explanations(datasets: tuple[str, ...], as_json: bool) -> None:
    """Show how often each rule of the advice's explanation is right, of codelets, whose nature is known."""
    with terminal().doing("loading what judges"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.explanation_session import check_datasets
        from numapredict.reports.explanations import explanations_table

    scores = check_datasets(datasets, terminal().follow)
    print_answer(scores, as_json, explanations_table)


@report.command(answers=["numapredict.predictor.evaluation.budget_curve:BudgetCurve[]"])
@DATASETS
@JOBS
@_figure("budget")
@JSON
def budget(datasets: tuple[str, ...], jobs: int, output: Path, as_json: bool) -> None:
    """Draw how much gain is left when a model is learned from a part of all runs (`train --budget`): minutes."""
    with terminal().doing("loading what learns"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.budget_curve import budget_curve
        from numapredict.predictor.learning.datasets import open_datasets
        from numapredict.predictor.learning.learning import options_of
        from numapredict.predictor.learning.train import default_label
        from numapredict.reports.budget_curve import budget_curves_data, curves_in_words, draw_budget_curves
        from numapredict.reports.figure_file import format_of
        from numapredict.reports.source import origin_of

    format_of(output)
    follow = terminal().follow
    opened = open_datasets(tuple(dict.fromkeys(datasets)), follow)
    options = [options_of(None, None, dataset) for dataset in opened]
    curves = [
        budget_curve(dataset, each, jobs=jobs, follow=follow) for dataset, each in zip(opened, options, strict=True)
    ]
    origins = [origin_of(dataset, default_label(dataset, each)) for dataset, each in zip(opened, options, strict=True)]
    with terminal().doing(f"drawing {output}"):
        draw_budget_curves(budget_curves_data(curves, origins), output)
    print_answer(curves, as_json, curves_in_words)
    terminal().say(f"{output}: {', '.join(curve.machine for curve in curves)}")


@report.command(kept="finished folds are kept", answers=["numapredict.reports.related_work:RelatedData"])
@DATASETS
@DEFAULT
@JOBS
@_figure("related")
@JSON
def related(datasets: tuple[str, ...], default: str | None, jobs: int, output: Path, as_json: bool) -> None:
    """Draw what related work, other learners and ours give held-out programs (thesis table 1 and figure 30)."""
    with terminal().doing(f"reading {', '.join(datasets)}"):
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.predictor.evaluation.evaluation_session import different_datasets, evaluate_datasets
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.figure_file import format_of
        from numapredict.reports.related_work import related_data, related_in_words
        from numapredict.reports.related_work_figure import draw_related

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, default, jobs, follow=terminal().follow)
    _say_doubts(evaluations)
    with terminal().doing(f"drawing {output}"):
        opened = [open_dataset(name) for name in different]
        data = related_data(evaluations, [dataset.topology for dataset in opened], opened)
        draw_related(data, output)
    print_answer(data, as_json, related_in_words)
    terminal().say(f"{output}: {', '.join(panel.machine for panel in data.panels)}")


@report.command(kept="finished folds are kept", answers=["numapredict.reports.accuracy:AccuracyData"])
@DATASETS
@DEFAULT
@JOBS
@_figure("accuracy")
@JSON
def accuracy(datasets: tuple[str, ...], default: str | None, jobs: int, output: Path, as_json: bool) -> None:
    """Draw expected against measured speedups of held-out programs, and how regret is spread over them."""
    with terminal().doing(f"reading {', '.join(datasets)}"):
        from numapredict.predictor.evaluation.evaluation_session import different_datasets, evaluate_datasets
        from numapredict.predictor.learning.datasets import open_dataset
        from numapredict.reports.accuracy import accuracy_data, draw_accuracy
        from numapredict.reports.figure_file import format_of

    format_of(output)
    different = different_datasets(datasets)
    evaluations = evaluate_datasets(different, default, jobs, follow=terminal().follow)
    _say_doubts(evaluations)
    with terminal().doing(f"drawing {output}"):
        data = accuracy_data(evaluations, [open_dataset(name) for name in different])
        draw_accuracy(data, output)
    _tell_drawn(data, output, as_json)


@report.command(answers=["numapredict.reports.topology_map:TopologyMapData"])
@MACHINE
@_figure("topology")
@JSON
def topology(machine: str | None, output: Path, as_json: bool) -> None:
    """Draw a machine's nodes and what is between them: latency and bandwidth, of this computer distances."""
    with terminal().doing(f"drawing {output}"):
        from numapredict.collect.host.host import describes_this_computer, host_topology
        from numapredict.collect.host.packages import packages
        from numapredict.collect.modelled.description import load_description
        from numapredict.reports.topology_map import computer_map_data, described_map_data, draw_topology_map

        if machine:
            data = described_map_data(load_description(machine))
        else:
            data = computer_map_data(host_topology(), packages() if describes_this_computer() else ())
        draw_topology_map(data, output)
    _tell_drawn(data, output, as_json)


@report.command(answers=["numapredict.reports.placed_mapping:PlacedMappingData"])
@click.argument("label", metavar="LABEL")
@MACHINE
@click.option("--profile", type=FILE, help="Where pages go by this profile, made by `numapredict run --profile`.")
@_figure("mapping")
@JSON
def mapping(label: str, machine: str | None, profile: Path | None, output: Path, as_json: bool) -> None:
    """Draw the mapping LABEL on a machine: which thread runs on which core, which share of the pages is where."""
    with terminal().doing(f"drawing {output}"):
        from numapredict.collect.host.host import host_topology
        from numapredict.collect.mapping import parse_label
        from numapredict.collect.modelled.description import load_description
        from numapredict.collect.placing.profile_file import read_profile
        from numapredict.reports.placed_mapping import draw_placed_mapping, placed_mapping_data

        wanted = parse_label(label)
        shown = load_description(machine).topology if machine else host_topology()
        data = placed_mapping_data(wanted, shown, read_profile(profile) if profile else None)
        draw_placed_mapping(data, output)
    _tell_drawn(data, output, as_json)


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    kept="finished runs are kept",
    answers=["numapredict.collect.campaign.characterisation.result:Characterisation"],
)
@MACHINE
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of figures, tables and runs; else PROGRAM-on-MACHINE. Resumed if it exists.",
)
@click.option("--threads", multiple=True, type=click.IntRange(1), help="Only this number of threads; repeatable.")
@click.option(
    "--page-policy",
    "page_policies",
    multiple=True,
    type=click.Choice(PAGE_POLICIES),
    help="Of the tables over threads and nodes, first-touch if none is given; repeatable.",
)
@click.option(
    "--budget",
    "budget_s",
    type=click.FloatRange(5, 86400),
    help="CPU seconds that all traces of a modelled machine may take, starts up to the first region not counted; else "
    "20 (native run) and 40 a number of threads.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Timed runs of a mapping on this computer; up to twice as many where they scatter.",
)
@click.option("--fresh", is_flag=True, help="Forget the runs that an earlier characterisation has finished.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@STRICT
@JSON
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=files)
def characterize(
    machine: str | None,
    output: Path | None,
    threads: tuple[int, ...],
    page_policies: tuple[PagePolicy, ...],
    budget_s: float | None,
    repetitions: int,
    fresh: bool,
    retry_failed: bool,
    strict: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Show what threads, nodes and policies do to COMMAND: times, and accesses and bandwidth per node."""
    with terminal().doing("loading what draws"):
        from numapredict.collect.campaign.characterisation.session import (
            RUNS_FOLDER,
            CharacterisationRequest,
            characterise_command,
        )
        from numapredict.collect.data.dataset import read_dataset
        from numapredict.collect.terminal.answer import print_answer
        from numapredict.reports.characterisation.files import write_characterisation
        from numapredict.reports.characterisation.words import NO_COUNTERS, characterisation_in_words
        from numapredict.reports.source import origin_of

    request = CharacterisationRequest(
        command=command,
        machine=machine,
        folder=output,
        threads=threads,
        page_policies=page_policies,
        budget_s=budget_s,
        repetitions=repetitions,
        fresh=fresh,
        retry_failed=retry_failed,
        strict=strict,
    )
    found, folder = characterise_command(request, terminal())
    origin = origin_of(read_dataset(folder / RUNS_FOLDER))
    written = write_characterisation(found, folder, terminal(), origin)
    print_answer(found, as_json, characterisation_in_words)
    if as_json and not found.counted:
        terminal().warn(NO_COUNTERS)
    terminal().say(f"{folder}: {', '.join(written)}")
