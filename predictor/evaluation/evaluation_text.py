"""Evaluations in words: one line a held-out program, then the scores."""

from collections.abc import Mapping

from numapredict.collect.data.outliers import outliers_in_words
from numapredict.collect.data.similar_programs import similar_in_words
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.predictor.evaluation.calibration import Calibration
from numapredict.predictor.evaluation.evaluate import Evaluation, Evaluations
from numapredict.predictor.evaluation.search_curve import AfterRuns
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.scores import Interval, Score


def evaluations_in_words(evaluations: Evaluations) -> str:
    """Return tables for a person to read: each dataset's, then one over all of them where there are several."""
    parts = [_one(evaluation) for evaluation in evaluations.datasets]
    if len(parts) > 1:
        head = f"all {len(parts)} datasets together, {counted(evaluations.programs, 'program')}"
        parts.append(
            "\n".join(
                [
                    *(head, "", *_scores(evaluations, evaluations.baselines), ""),
                    *_curves({"search": evaluations.by_runs, **evaluations.by_runs_of}, "as above"),
                    _sure(evaluations.calibration),
                ]
            )
        )
    if evaluations.across:
        named = {f"{each.trained_on} -> {each.machine}": each for each in evaluations.across}
        parts.append("\n".join(["learned on one machine, asked about another of the same shape", "", *_table(named)]))
    return "\n\n".join(parts)


def doubts_in_words(evaluations: Evaluations) -> list[str]:
    """Return a line for each outlier left out and each set of programs that may be one code base."""
    found = []
    for each in evaluations.datasets:
        found += [outliers_in_words(each.outliers, each.machine, each.default.label)] if each.outliers else []
        found += [similar_in_words(each.similar, each.machine)] if each.similar else []
    return found


def _one(evaluation: Evaluation) -> str:
    made = "modelled" if evaluation.modelled else "measured"
    names = [name_cell(entry.program) for entry in evaluation.held_out]
    width = max(len("program"), *map(len, names))
    chosen = max(len("chosen mapping"), *(len(entry.mapping.label) for entry in evaluation.held_out))
    programs, groups = counted(evaluation.programs, "program"), counted(evaluation.groups, "group")
    mappings = counted(evaluation.mappings, "mapping")
    lines = [
        f"{printable(evaluation.machine)} ({made}), {mappings}, speedups over {evaluation.default};",
        f"{programs} of {groups}, each held out with all its variants",
        "",
        f"{'program':{width}}  {'chosen mapping':{chosen}}  speedup  oracle  regret  oracle mapping",
    ]
    lines += [
        f"{name:{width}}  {entry.mapping.label:{chosen}}  {entry.speedup:7.2f}  {entry.oracle_speedup:6.2f}  "
        f"{entry.regret:6.2f}  {entry.oracle_mapping}"
        for name, entry in zip(names, evaluation.held_out, strict=True)
    ]
    left_out = [
        f"left out, since not everything was measured: {', '.join(printable(str(each)) for each in left)}"
        for left in (evaluation.dropped_programs, evaluation.dropped_mappings)
        if left
    ]
    knowing = "other machines' programs alone" if evaluation.without_machine else "the programs not held out"
    curves = {"search": evaluation.by_runs, **evaluation.by_runs_of}
    scores = _scores(evaluation, evaluation.baselines)
    parts = (lines + left_out, scores, [*_curves(curves, knowing), _sure(evaluation.calibration)])
    return "\n\n".join("\n".join(part) for part in parts)


def _curves(curves: Mapping[str, tuple[AfterRuns, ...]], knowing: str) -> list[str]:
    """Return a table of what the best of the first runs gives, by ways to choose the runs."""
    lines = [
        f"further runs, chosen knowing {knowing}; the best run counts, and each ends once it has taken as long as that",
        f"{'best of':28}  runs  gain captured (95% interval)  geometric  arithmetic  slower  cost in default runs",
    ]
    for name, curve in curves.items():
        for each in curve:
            interval = "" if each.low is None or each.high is None else f" ({each.low:.2f} to {each.high:.2f})"
            captured = "" if each.gain_captured is None else f"{each.gain_captured:13.2f}{interval}"
            lines.append(
                f"{name:28}  {each.runs:4}  {captured:29}  {each.speedup:8.2f}x  {each.arithmetic_speedup:9.2f}x  "
                f"{each.slower_than_default:6.1%}  {each.cost_in_default_runs:20.2f}"
            )
    if Strategy.FIXED in curves:
        lines.append("fixed and the thesis recipe count by the mapping that they advise")
    return lines


def _scores(ours: Score, baselines: Mapping[str, Score]) -> list[str]:
    name = Strategy.OURS if Strategy.QUICK in baselines else "the thesis's method"
    return _table({name: ours, **baselines})


def _table(scores: Mapping[str, Score]) -> list[str]:
    width = max(len("speedup over the default"), *map(len, scores))
    lines = [
        f"{'speedup over the default':{width}}  geometric  arithmetic   worst  slower  regret: median    95%    most  "
        "gain captured (95% interval)"
    ]
    for name, score in scores.items():
        captured = "" if score.gain_captured is None else f"{score.gain_captured:13.2f}"
        lines.append(
            f"{name:{width}}  {score.speedup.geometric:8.2f}x  {score.speedup.arithmetic:9.2f}x  "
            f"{score.worst_speedup:5.2f}x  {score.slower_than_default:6.1%}  {score.regret.median:14.2f}  "
            f"{score.regret.p95:5.2f}  {score.regret.max:6.2f}  {captured}{_ends(score.gain_captured_interval)}"
        )
    return lines


def _sure(found: Calibration) -> str:
    """Return how far the search's further runs came out as expected."""
    return (
        f"of the search's {counted(found.runs, 'further run')}, {found.within} came out within the interval that "
        f"should hold {0.9 * found.runs:.1f}; {found.faster} beat the best so far, where {found.stated:.1f} were "
        "expected to"
    )


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})"
