"""The pairs of programs that the model can hardly tell apart, as text."""

from collections.abc import Sequence

from numapredict.predictor.likeness import LikePair


def pairs_in_words(pairs: Sequence[LikePair], of: int) -> str:
    """Return a table of the first pairs of ``of``, the most alike first."""
    width = max(len(f"{pair.first}, {pair.second}") for pair in pairs)
    variant = max(len("variant"), *(len(pair.variant) for pair in pairs))
    lines = [
        f"The {len(pairs)} pairs most alike of {of}, in the variant in which each differs most: the factor between",
        "their times over the default's, typically and at most over all mappings, and between their local bandwidths.",
        "",
        f"{'programs':{width}}  {'variant':{variant}}  time  at most  bandwidth  same best",
    ]
    for pair in pairs:
        bandwidth = "" if pair.bandwidth is None else f"{pair.bandwidth:.2f}x"
        lines.append(
            f"{f'{pair.first}, {pair.second}':{width}}  {pair.variant:{variant}}  {pair.time:.2f}x  "
            f"{pair.time_at_most:6.2f}x  {bandwidth:>9}  {'yes' if pair.best else 'no'}"
        )
    return "\n".join(lines)
