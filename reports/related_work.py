"""The figure of related work: the speedups of other ways of choosing (thesis sec. 7, table 1 and figure 30)."""

from collections.abc import Sequence

import msgspec

from numapredict.collect import space
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import THREAD_POLICIES, ThreadPolicy
from numapredict.collect.page_policy import PAGE_POLICIES, PagePolicy
from numapredict.collect.topology import Topology
from numapredict.predictor.evaluation.evaluate import Evaluation, Evaluations
from numapredict.predictor.evaluation.strategy import Strategy, subset_oracle
from numapredict.predictor.learning.scores import Score
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import evaluated_origins, source_line

WORKS = {
    "diener": "Diener et al., 2015",
    "dashti": "Dashti et al., 2013",
    "denoyelle": "Denoyelle et al., 2019",
    "wang": "Wang et al., 2016",
    "thesis": "the thesis's mappings",
    "full": "all mappings (oracle)",
}
"""The named subsets of table 1."""

NEVER_WRONG = "related work, were its choice never wrong"
OURS = "ours, on programs held out"
LEARNERS = "other learners on our probes, held out"
SAME = "one mapping for all programs"
OTHERS = "others"
NAMES: dict[str, dict[str, str]] = {
    NEVER_WRONG: {subset_oracle(name): text for name, text in WORKS.items()},
    OURS: {
        Strategy.OURS: "the best of 4 runs",
        Strategy.QUICK: "the best of 2 runs",
    },
    LEARNERS: {
        Strategy.THESIS: "the thesis's recipe",
        Strategy.NEIGHBOURS: "nearest neighbours",
        Strategy.TREE: "decision tree",
        Strategy.FOREST: "random forest",
    },
    SAME: {
        Strategy.DEFAULT: "default",
        Strategy.INTERLEAVE: "interleaved pages",
        Strategy.SCATTER: "scattered threads",
        Strategy.FIXED: "the best one for the other programs",
        Strategy.RANDOM: "any, at random",
    },
}
"""The rows of the figure by group: the evaluation's names and the reader's."""


class WorkChoices(msgspec.Struct, frozen=True, kw_only=True):
    """A row of table 1 on one machine: the choices of a work; policies are those with threads on all nodes."""

    work: str
    threads: tuple[int, ...]
    thread_nodes: tuple[int, ...]
    thread_policies: tuple[ThreadPolicy, ...]
    page_policies: tuple[PagePolicy, ...]
    mappings: int


class RelatedBar(msgspec.Struct, frozen=True, kw_only=True):
    """One way of choosing: geometric mean speedup over the default, its 95% interval, and the gain captured."""

    name: str
    group: str
    speedup: float
    low: float | None
    high: float | None
    gain_captured: float | None


class RelatedPanel(msgspec.Struct, frozen=True, kw_only=True):
    """One machine: its rows of table 1, none for foreign mappings, and its bars of figure 30."""

    machine: str
    modelled: bool
    default: str
    programs: int
    table: tuple[WorkChoices, ...]
    bars: tuple[RelatedBar, ...]


class RelatedData(msgspec.Struct, frozen=True):
    """What the figure shows, a panel per dataset."""

    panels: tuple[RelatedPanel, ...]
    source: str

    @property
    def forest(self) -> str:
        """Return in words how far a random forest on the same probes comes, empty where it was not evaluated."""
        ours, forests = NAMES[OURS][Strategy.QUICK], NAMES[LEARNERS][Strategy.FOREST]
        parts, overlaps = [], []
        for panel in self.panels:
            bars = {bar.name: bar for bar in panel.bars}
            if ours not in bars or forests not in bars:
                continue
            one, other = bars[forests], bars[ours]
            parts.append(f"{one.speedup:.2f}x and {other.speedup:.2f}x on {drawable(panel.machine)}")
            if one.low and one.high and other.low and other.high:
                overlaps.append(max(one.low, other.low) <= min(one.high, other.high))
        if not parts:
            return ""
        told = f"; their intervals overlap on {sum(overlaps)} of {len(overlaps)}" if overlaps else ""
        return f"A random forest on the same probes, and ours: {', '.join(parts)}{told}."


def related_data(
    evaluations: Evaluations, topologies: Sequence[Topology | None], datasets: Sequence[Dataset] = ()
) -> RelatedData:
    """Return the bars of every dataset; ``topologies`` are theirs, in the same order.

    The evaluated ``datasets``, in the same order, give a more detailed source line.
    """
    return RelatedData(
        tuple(
            RelatedPanel(
                machine=evaluation.machine,
                modelled=evaluation.modelled,
                default=evaluation.default.label,
                programs=evaluation.programs,
                table=() if topology is None else related_choices(topology),
                bars=_bars(evaluation),
            )
            for evaluation, topology in zip(evaluations.datasets, topologies, strict=True)
        ),
        source_line(evaluated_origins(evaluations, datasets)),
    )


def related_choices(topology: Topology) -> tuple[WorkChoices, ...]:
    """Return table 1 for a topology."""
    found = []
    nodes = len(topology.cpu_nodes)
    for name, work in WORKS.items():
        mappings = space.subset(name, topology)
        spread = [mapping for mapping in mappings if mapping.thread_nodes == nodes]
        found.append(
            WorkChoices(
                work=work,
                threads=tuple(sorted({mapping.threads for mapping in mappings})),
                thread_nodes=tuple(sorted({mapping.thread_nodes for mapping in mappings})),
                thread_policies=tuple(p for p in THREAD_POLICIES if any(m.thread_policy == p for m in spread)),
                page_policies=tuple(p for p in PAGE_POLICIES if any(m.page_policy == p for m in spread)),
                mappings=len(mappings),
            )
        )
    return tuple(found)


def related_in_words(data: RelatedData) -> str:
    """Return table 1 and the bars of every machine as text."""
    lines = []
    for panel in data.panels:
        lines += [
            f"{drawable(panel.machine)} ({palette.made_in_words(panel.modelled)}), {panel.programs} programs, speedups "
            f"over {drawable(panel.default)}",
            "",
        ]
        rows = [("work", "threads", "nodes", "thread policy", "page policy", "mappings")]
        rows += [
            (
                each.work,
                _listed(each.threads),
                _listed(each.thread_nodes),
                _listed(each.thread_policies),
                _listed(each.page_policies),
                str(each.mappings),
            )
            for each in panel.table
        ]
        if panel.table:
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += ["  ".join(f"{text:{n}}" for text, n in zip(row, widths, strict=True)).rstrip() for row in rows]
            lines.append("")
        lines.append(f"{'geometric mean speedup':36}  speedup  95% interval   gain captured")
        group = ""
        for bar in panel.bars:
            lines += [bar.group] if bar.group != group else []
            group = bar.group
            interval = "" if bar.low is None else f"{bar.low:.2f} to {bar.high:.2f}"
            captured = "" if bar.gain_captured is None else f"{bar.gain_captured:13.2f}"
            lines.append(f"  {bar.name:34}  {bar.speedup:6.2f}x  {interval:12}   {captured}".rstrip())
        lines.append("")
    return "\n".join(lines).rstrip()


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))


def _bars(evaluation: Evaluation) -> tuple[RelatedBar, ...]:
    """Return the bars of an evaluation in the order of ``NAMES``; ways of choosing not named there come last."""
    scores: dict[str, Score] = {Strategy.OURS: evaluation, **evaluation.baselines}
    named = {name: (group, text) for group, names in NAMES.items() for name, text in names.items()}
    order = [*(name for name in named if name in scores), *(name for name in scores if name not in named)]
    bars = []
    for name in order:
        group, text = named.get(name, (OTHERS, name))
        score = scores[name]
        interval = score.speedup_interval
        bars.append(
            RelatedBar(
                name=text,
                group=group,
                speedup=score.speedup.geometric,
                low=None if interval is None else interval.low,
                high=None if interval is None else interval.high,
                gain_captured=score.gain_captured,
            )
        )
    return tuple(bars)
