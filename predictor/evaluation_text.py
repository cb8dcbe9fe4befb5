"""An evaluation in words: one line a held-out program, then the summary."""

from numapredict.predictor.evaluate import Evaluation


def evaluation_in_words(evaluation: Evaluation) -> str:
    """Return a table for a person to read."""
    made = "modelled" if evaluation.modelled else "measured"
    width = max(len(entry.program) for entry in evaluation.programs)
    chosen = max(len(entry.mapping) for entry in evaluation.programs)
    lines = [
        f"{evaluation.machine} ({made}), {evaluation.mappings} mappings, speedups over {evaluation.default};",
        "each program was held out with all its variants",
        "",
        f"{'program':{width}}  {'chosen mapping':{chosen}}  speedup  oracle  regret  oracle mapping",
    ]
    lines += [
        f"{entry.program:{width}}  {entry.mapping:{chosen}}  {entry.speedup:7.2f}  {entry.oracle_speedup:6.2f}  "
        f"{entry.regret:6.2f}  {entry.oracle_mapping}"
        for entry in evaluation.programs
    ]
    return "\n".join([*lines, "", *_summary(evaluation)])


def _summary(evaluation: Evaluation) -> list[str]:
    summaries = {
        "two probes": evaluation.summary,
        **{baseline.name: baseline.summary for baseline in evaluation.baselines},
    }
    width = max(map(len, summaries))
    lines = [f"{'speedup over the default':{width}}  geometric  arithmetic  median regret  gain captured"]
    for name, summary in summaries.items():
        captured = "" if summary.gain_captured is None else f"{summary.gain_captured:13.2f}"
        lines.append(
            f"{name:{width}}  {summary.speedup_geometric_mean:8.2f}x  {summary.speedup_arithmetic_mean:9.2f}x  "
            f"{summary.regret_median:13.2f}  {captured}"
        )
    return lines
