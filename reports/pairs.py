"""The pairs of programs that the model can hardly tell apart, as text."""

from collections.abc import Sequence

from numapredict.collect.terminal.printable import name_cell
from numapredict.predictor.evaluation.similarity import LikePair


def pairs_in_words(pairs: Sequence[LikePair], of: int) -> str:
    """Return a table of the first pairs of ``of``, the most alike first."""
    names = [f"{name_cell(pair.first)}, {name_cell(pair.second)}" for pair in pairs]
    width = max(len("programs"), *map(len, names))
    variant = max(len("variant"), *(len(pair.variant) for pair in pairs))
    count = f"{len(pairs)} pairs" if len(pairs) > 1 else "pair"
    lines = [
        f"The {count} most alike of {of}, in the variant in which each differs most: the factor between",
        "their times over the default's, typically and at most over all mappings, and between their local bandwidths.",
        "",
        f"{'programs':{width}}  {'variant':{variant}}  time  at most  bandwidth  same best",
    ]
    for name, pair in zip(names, pairs, strict=True):
        bandwidth = "" if pair.bandwidth is None else f"{pair.bandwidth:.2f}x"
        lines.append(
            f"{name:{width}}  {pair.variant:{variant}}  {pair.time:.2f}x  "
            f"{pair.time_at_most:6.2f}x  {bandwidth:>9}  {'yes' if pair.best else 'no'}"
        )
    return "\n".join(lines)
