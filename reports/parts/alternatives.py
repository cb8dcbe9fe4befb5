"""What other tools can do without the preload library, in words."""

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import baseline_in_words
from numapredict.predictor.advising.alternative import Alternative


class AlternativeData(msgspec.Struct, frozen=True, kw_only=True):
    """One tool's command; ``near`` is what it applies if not the advised mapping, ``speed`` its speedup if known."""

    tool: str
    near: AnyMapping | None
    speed: str
    note: str
    cautions: tuple[str, ...]
    command: str


class AlternativesData(msgspec.Struct, frozen=True):
    """All tools' commands."""

    alternatives: tuple[AlternativeData, ...]


def alternatives_data(answer: Advice) -> AlternativesData:
    """Return the commands of an answer, with the speedups of the runs."""
    return AlternativesData(tuple(_alternative(each, answer) for each in answer.alternatives))


def _alternative(each: Alternative, answer: Advice) -> AlternativeData:
    speed = ""
    if each.mapping == answer.baseline:
        speed = "the baseline itself"
    elif each.speedup is not None:
        how = "modelled" if answer.modelled else "in its run"
        speed = f"{each.speedup:.2f}x over {baseline_in_words(answer)}, {how}"
    return AlternativeData(
        tool=each.tool,
        near=None if each.exact else each.mapping,
        speed=speed,
        note=each.note,
        cautions=each.cautions,
        command=each.command,
    )
