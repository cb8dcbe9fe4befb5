"""The facts about a page's subject, as pairs of a name and a text."""

from collections import Counter

import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.figure import Figure
from numapredict.collect.host.topology_text import shape_of
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import chosen_by
from numapredict.predictor.learning.features import Observations
from numapredict.predictor.learning.model import UNKNOWN, Model

CLOCKS = {
    "regions": "of the parallel regions, the median of each program's runs",
    "process": "of the whole run, the median of each program's runs",
}


class AboutData(msgspec.Struct, frozen=True):
    """Facts: pairs of name and text."""

    facts: tuple[tuple[str, str], ...]


def dataset_about(dataset: Dataset, observations: Observations, default: str) -> AboutData:
    """Return what was measured, where and how."""
    status = Counter(m.status for m in dataset.measurements)
    failed = ", ".join(f"{number} {name}" for name, number in sorted(status.items()) if name != "ok")
    repetitions = sorted({len(m.repetitions) for m in dataset.measurements if m.status == "ok"})
    runs = counted(len(dataset.measurements), "pair") + " of program and mapping"
    each = f"{repetitions[0]} to " if len(repetitions) > 1 else ""
    each += counted(repetitions[-1] if repetitions else 0, "repetition")
    made = "modelled: computed from traces for a described machine, not timed" if dataset.modelled else "timed runs"
    facts = [
        (
            "Machine",
            dataset.machine if dataset.topology is None else f"{dataset.machine}, {shape_of(dataset.topology)}",
        ),
        ("Figures", made),
        ("Programs", str(len(observations.programs))),
        ("Mappings", str(len(observations.mappings))),
        ("Measurements", f"{runs}, {each} each" + (f"; {failed}" if failed else "")),
        ("Times", CLOCKS[observations.clock]),
        ("Default", f"{default}: speedups are over this mapping"),
        ("Made by", dataset.made_by),
        ("Made on", dataset.created),
    ]
    if dataset.environment:
        facts.append(("Environment", ", ".join(f"{name}: {value}" for name, value in dataset.environment)))
    return AboutData(tuple(facts))


def model_about(model: Model, origin: str) -> AboutData:
    """Return what a model was learned from and how."""
    machine = model.machine if model.topology.fingerprint == UNKNOWN else f"{model.machine}, {model.topology.text}"
    return AboutData(
        (
            ("Model", origin),
            ("Machine", machine),
            ("Learned from", f"{'modelled' if model.modelled else 'measured'} dataset of {model.dataset_created}"),
            ("Programs", f"{len(model.programs)} in {counted(len(model.clusters), 'cluster')}"),
            ("Mappings", str(len(model.clusters[0].ranked))),
            ("Times", CLOCKS[model.clock]),
            ("Default", f"{model.default}: speedups are over this mapping"),
        )
    )


def _figure_in_words(figure: Figure) -> str:
    pattern = f", {figure.metric}" if figure.metric else ""
    window = "" if figure.seconds is None else f", in a window of {figure.seconds:g} s"
    return f"{figure.name}{pattern}{window}"


def advice_about(found: Advice) -> AboutData:
    """Return the request, the machine, what speedups are over, and what chose the runs."""
    baseline = f"{found.baseline}, the default mapping" if found.modelled else "the program as it is now"
    facts = [
        ("Program", found.program),
        ("Machine", found.machine),
        ("Figures", "modelled: computed from traces, not timed" if found.modelled else "timed runs on this machine"),
        ("Baseline", f"{baseline}: speedups are over it"),
        ("Default", f"{found.default}: what datasets count speedups from"),
        ("Chosen by", chosen_by(found)),
        ("Times", "of the whole run"),
        *(() if found.figure.is_time else (("Compared by", _figure_in_words(found.figure)),)),
        ("Exit code", f"{found.exit_code}"),
    ]
    if found.expected_runs is not None:
        facts.append(("The program will run", f"{counted(found.expected_runs, 'time')}, by --for"))
    if found.trace_share is not None:
        facts.append(("Trace", f"saw regions with {found.trace_share:.0%} of the native region time"))
    return AboutData(tuple(facts))
